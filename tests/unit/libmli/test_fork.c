/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the child of a fork, which has the parent's channels without their threads and can create
 * new threads.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static bool moves(void)
{
    struct tile t;
    mli_mov_handle_t h;

    tile_init(&t, MLI_EL_FX_16);
    return mli_mov_acquire_handle(1, &h) == MLI_STATUS_OK &&
           tile_prepare(&t, &h) == MLI_STATUS_OK &&
           mli_mov_start(&h, NULL, NULL, NULL) == MLI_STATUS_OK &&
           mli_mov_wait(&h) == MLI_STATUS_OK && memcmp(t.out, t.in, 48) == 0 &&
           mli_mov_release_handle(&h) == MLI_STATUS_OK;
}

static bool moves_on_a_new_pool(void)
{
    return mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK &&
           mli_mov_set_num_dma_ch(0, 3) == MLI_STATUS_OK && moves() &&
           mli_mov_set_num_dma_ch(0, 0) == MLI_STATUS_OK;
}

static void test_child_creates_a_new_pool(void **state)
{
    int status;
    pid_t child;

    (void)state;
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
    skip(); /* threads cannot start in this child process, or would hang in locks of the sanitizer
             */
#endif
    assert_ok(mli_mov_set_engine("threads:tiny=0"));
    assert_ok(mli_mov_set_num_dma_ch(0, 4));
    assert_true(moves());
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        alarm(20); /* ends the child process if a wait hangs */
        _exit(moves_on_a_new_pool() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_true(moves()); /* the parent's threads still work */
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_child_creates_a_new_pool)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
