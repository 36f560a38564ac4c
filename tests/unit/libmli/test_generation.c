/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The generation of a claim has 32 bits and overflows to 0. The test sets the pool's current
 * generation, to reach the overflow quickly.
 */
#include <string.h>

#include "libmli/src/dma/run.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static void use(mli_mov_handle_t *h)
{
    struct tile t;

    tile_init(&t, MLI_EL_FX_16);
    assert_ok(tile_prepare(&t, h));
    assert_ok(mli_mov_start(h, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(h));
    assert_true(mli_mov_isdone(h));
    assert_memory_equal(t.out, t.in, 48);
}

static void assert_stale(mli_mov_handle_t *h)
{
    assert_status(mli_mov_release_handle(h), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_start(h, NULL, NULL, NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_wait(h), MLI_STATUS_ARGUMENT_ERROR);
}

static void test_wrap_around(void **state)
{
    mli_mov_handle_t last, first, second, zeroed;

    (void)state;
    memset(&zeroed, 0, sizeof(zeroed));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    atomic_store(&run_slot(0)->generation, UINT32_MAX - 1);
    assert_ok(mli_mov_acquire_handle(1, &last));
    assert_int_equal(last.generation, UINT32_MAX);
    use(&last);
    assert_ok(mli_mov_release_handle(&last));
    assert_stale(&last);
    assert_stale(&zeroed); /* the free channel now has generation 0, like this handle */
    assert_ok(mli_mov_acquire_handle(1, &first));
    assert_int_equal(first.generation, 1);
    assert_stale(&last);
    assert_stale(&zeroed);
    use(&first);
    assert_ok(mli_mov_release_handle(&first));
    assert_ok(mli_mov_acquire_handle(1, &second));
    assert_stale(&first);
    use(&second);
    assert_ok(mli_mov_release_handle(&second));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_wrap_around)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
