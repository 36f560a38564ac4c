/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the channel pool on one thread: dimensions, claims, exhaustion, fragmentation. */
#include <limits.h>
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static mli_mov_handle_t handles[MLI_MOV_MAX_CHANNELS];

/* Returns how many single channels can be claimed at once. */
static int free_channels(void)
{
    mli_mov_handle_t got[MLI_MOV_MAX_CHANNELS + 1];
    int n = 0;

    while (n <= MLI_MOV_MAX_CHANNELS && mli_mov_acquire_handle(1, &got[n]) == MLI_STATUS_OK)
        n++;
    for (int i = 0; i < n; i++)
        assert_ok(mli_mov_release_handle(&got[i]));
    return n;
}

static void assert_not_acquired(int num_ch, mli_status status)
{
    mli_mov_handle_t h, before;

    memset(&h, 0x5A, sizeof(h));
    memcpy(&before, &h, sizeof(h));
    assert_status(mli_mov_acquire_handle(num_ch, &h), status);
    assert_memory_equal(&h, &before, sizeof(h));
}

static int empty_pool(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

/* This test must run first, while the library has no channels yet. */
static void test_pool_is_empty_at_first(void **state)
{
    struct tile t;

    (void)state;
    assert_not_acquired(1, MLI_STATUS_NOT_ENGH_MEM);
    tile_init(&t, MLI_EL_FX_16);
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.out, t.in, 48);
}

static void test_exhaustion_and_return(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 3));
    for (int i = 0; i < 3; i++)
        assert_ok(mli_mov_acquire_handle(1, &handles[i]));
    assert_not_acquired(1, MLI_STATUS_NOT_ENGH_MEM);
    assert_ok(mli_mov_release_handle(&handles[1]));
    assert_ok(mli_mov_acquire_handle(1, &handles[1]));
    assert_not_acquired(1, MLI_STATUS_NOT_ENGH_MEM);
    for (int i = 0; i < 3; i++)
        assert_ok(mli_mov_release_handle(&handles[i]));
    assert_int_equal(free_channels(), 3);
}

static void test_bad_claims(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 4));
    assert_not_acquired(-1, MLI_STATUS_ARGUMENT_ERROR);
    assert_not_acquired(INT_MIN, MLI_STATUS_ARGUMENT_ERROR);
    assert_not_acquired(MLI_MOV_MAX_CHANNELS + 1, MLI_STATUS_ARGUMENT_ERROR);
    assert_not_acquired(INT_MAX, MLI_STATUS_ARGUMENT_ERROR);
    assert_not_acquired(5, MLI_STATUS_NOT_ENGH_MEM);
    assert_not_acquired(16, MLI_STATUS_NOT_ENGH_MEM);
    assert_status(mli_mov_acquire_handle(1, NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_int_equal(free_channels(), 4);
}

/* A claim takes all its channels or none: if too few are free, it takes no channel. */
static void test_claims_of_several_channels(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 4));
    assert_ok(mli_mov_acquire_handle(3, &handles[0]));
    assert_not_acquired(2, MLI_STATUS_NOT_ENGH_MEM);
    assert_int_equal(free_channels(), 1);
    assert_ok(mli_mov_release_handle(&handles[0]));
    assert_ok(mli_mov_acquire_handle(4, &handles[0]));
    assert_int_equal(free_channels(), 0);
    assert_ok(mli_mov_release_handle(&handles[0]));
    assert_int_equal(free_channels(), 4);
}

/*
 * Three single channels are claimed; the allocator decides which handle has the middle one. While
 * only the middle channel is claimed, the two others are not neighbours; while only an outer one is
 * claimed, they are.
 */
static void test_claim_at(void **state)
{
    mli_mov_handle_t middle, h;
    const mli_mov_handle_t untouched = h = (mli_mov_handle_t){.first = 77};

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(2, 4));
    assert_ok(mli_mov_acquire_handle_at(3, 2, &middle));
    assert_status(mli_mov_acquire_handle_at(4, 1, &h), MLI_STATUS_NOT_ENGH_MEM);
    assert_status(mli_mov_acquire_handle_at(2, 4, &h), MLI_STATUS_NOT_ENGH_MEM);
    /* Channel 1 is not in the pool. */
    assert_status(mli_mov_acquire_handle_at(1, 2, &h), MLI_STATUS_NOT_ENGH_MEM);
    assert_status(mli_mov_acquire_handle_at(-1, 1, &h), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_acquire_handle_at(0, 0, &h), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_acquire_handle_at(16, 1, &h), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_acquire_handle_at(15, 2, &h), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_acquire_handle_at(INT_MAX, INT_MAX, &h), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_acquire_handle_at(2, 1, NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_memory_equal(&h, &untouched, sizeof h);
    assert_ok(mli_mov_release_handle(&middle));
    assert_ok(mli_mov_acquire_handle_at(2, 4, &h));
    assert_ok(mli_mov_release_handle(&h));
}

static void test_fragmentation(void **state)
{
    int runs = 0;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(5, 3));
    for (int held = 0; held < 3; held++) {
        mli_mov_handle_t pair;

        for (int i = 0; i < 3; i++)
            assert_ok(mli_mov_acquire_handle(1, &handles[i]));
        for (int i = 0; i < 3; i++) {
            if (i != held)
                assert_ok(mli_mov_release_handle(&handles[i]));
        }
        if (mli_mov_acquire_handle(2, &pair) == MLI_STATUS_OK) {
            runs++;
            assert_ok(mli_mov_release_handle(&pair));
        } else {
            assert_not_acquired(2, MLI_STATUS_NOT_ENGH_MEM);
        }
        assert_int_equal(free_channels(), 2);
        assert_ok(mli_mov_release_handle(&handles[held]));
    }
    assert_int_equal(runs, 2);
}

static void assert_not_dimensioned(int ch_offset, int num_ch)
{
    assert_status(mli_mov_set_num_dma_ch(ch_offset, num_ch), MLI_STATUS_ARGUMENT_ERROR);
    assert_true(mli_last_error()[0] != '\0');
    assert_int_equal(free_channels(), 2); /* the pool is unchanged */
}

static void test_bad_dimensions(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(1, 2));
    assert_not_dimensioned(-1, 1);
    assert_not_dimensioned(0, -1);
    assert_not_dimensioned(INT_MIN, 1);
    assert_not_dimensioned(0, INT_MIN);
    assert_not_dimensioned(0, 17);
    assert_not_dimensioned(1, 16);
    assert_not_dimensioned(16, 1);
    assert_not_dimensioned(INT_MAX, 1);
    assert_not_dimensioned(1, INT_MAX);
    assert_not_dimensioned(INT_MAX, INT_MAX);
}

static void test_dimensions(void **state)
{
    static const struct {
        int offset, count;
    } table[] = {{0, 16}, {0, 1}, {15, 1}, {0, 0}, {8, 8}, {8, 8}, {8, 3}, {3, 13}, {0, 16}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        assert_ok(mli_mov_set_num_dma_ch(table[i].offset, table[i].count));
        assert_int_equal(free_channels(), table[i].count);
        if (table[i].count > 0) {
            assert_ok(mli_mov_acquire_handle(table[i].count, &handles[0]));
            assert_ok(mli_mov_release_handle(&handles[0]));
        }
    }
}

static void test_no_new_dimensions_while_handles_are_out(void **state)
{
    struct tile t;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 4));
    assert_ok(mli_mov_acquire_handle(2, &handles[0]));
    assert_status(mli_mov_set_num_dma_ch(0, 0), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_num_dma_ch(0, 4), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_num_dma_ch(0, 16), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_num_dma_ch(8, 2), MLI_STATUS_ARGUMENT_ERROR);
    assert_int_equal(free_channels(), 2);
    tile_init(&t, MLI_EL_FX_16); /* the handle can still be used */
    assert_ok(tile_prepare(&t, &handles[0]));
    assert_ok(mli_mov_start(&handles[0], NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&handles[0]));
    assert_memory_equal(t.out, t.in, 48);
    assert_ok(mli_mov_release_handle(&handles[0]));
    assert_ok(mli_mov_set_num_dma_ch(8, 2));
    assert_int_equal(free_channels(), 2);
}

/*
 * After the pool was changed, a handle of the former pool is stale, even if its channel is in both
 * pools.
 */
static void test_new_dimensions_make_handles_stale(void **state)
{
    mli_mov_handle_t old, now;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &handles[0]));
    memcpy(&old, &handles[0], sizeof(old));
    assert_ok(mli_mov_release_handle(&handles[0]));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_status(mli_mov_release_handle(&old), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_acquire_handle(1, &now));
    assert_status(mli_mov_release_handle(&old), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_release_handle(&now));
}

/* Synchronous moves work, however many channels are claimed. */
static void test_sync_without_a_free_channel(void **state)
{
    struct tile t;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &handles[0]));
    tile_init(&t, MLI_EL_SA_8);
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.out, t.in, 24);
    assert_ok(mli_mov_release_handle(&handles[0]));
    assert_int_equal(free_channels(), 1);
}

/* A copy of a handle is still refused after many further claims. */
static void test_a_hundred_thousand_generations(void **state)
{
    mli_mov_handle_t old, h;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &h));
    memcpy(&old, &h, sizeof(old));
    for (int i = 0; i < 100000; i++) {
        assert_ok(mli_mov_release_handle(&h));
        assert_ok(mli_mov_acquire_handle(1, &h));
        assert_status(mli_mov_release_handle(&old), MLI_STATUS_ARGUMENT_ERROR);
    }
    assert_ok(mli_mov_release_handle(&h));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_is_empty_at_first),
        cmocka_unit_test_setup(test_exhaustion_and_return, empty_pool),
        cmocka_unit_test_setup(test_bad_claims, empty_pool),
        cmocka_unit_test_setup(test_claims_of_several_channels, empty_pool),
        cmocka_unit_test_setup(test_claim_at, empty_pool),
        cmocka_unit_test_setup(test_fragmentation, empty_pool),
        cmocka_unit_test_setup(test_bad_dimensions, empty_pool),
        cmocka_unit_test_setup(test_dimensions, empty_pool),
        cmocka_unit_test_setup(test_no_new_dimensions_while_handles_are_out, empty_pool),
        cmocka_unit_test_setup(test_new_dimensions_make_handles_stale, empty_pool),
        cmocka_unit_test_setup(test_sync_without_a_free_channel, empty_pool),
        cmocka_unit_test_setup(test_a_hundred_thousand_generations, empty_pool),
    };

    return cmocka_run_group_tests(tests, NULL, empty_pool);
}
