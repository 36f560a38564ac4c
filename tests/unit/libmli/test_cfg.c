/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the builders of mli_mov_cfg_t: the fields they set, the neutral fields, the refused
 * arguments.
 */
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static const mli_mov_cfg_t neutral = {.sub_sample_step = {1, 1, 1, 1}, .perm_dim = {0, 1, 2, 3}};

/* Arrays of distinct numbers, so that a swapped index or argument is noticed. */
static const int offsets[4] = {1, 2, 3, 4}, sizes[4] = {5, 6, 7, 8}, steps[4] = {9, 10, 11, 12};
static const int dst_offsets[4] = {13, 14, 15, 16}, strides[4] = {17, 18, 19, 20};
static const uint8_t perm[4] = {3, 1, 0, 2}, pre[4] = {21, 22, 23, 24}, post[4] = {25, 26, 27, 28};

/*
 * Returns a cfg whose bytes all have a wrong value, so that a member that a builder forgets to set
 * is noticed.
 */
static mli_mov_cfg_t dirty(void)
{
    mli_mov_cfg_t cfg;

    memset(&cfg, 0x5A, sizeof(cfg));
    return cfg;
}

static void assert_cfg(const mli_mov_cfg_t *got, const mli_mov_cfg_t *want)
{
    assert_memory_equal(got->offset, want->offset, sizeof(got->offset));
    assert_memory_equal(got->size, want->size, sizeof(got->size));
    assert_memory_equal(got->sub_sample_step, want->sub_sample_step, sizeof(got->sub_sample_step));
    assert_memory_equal(got->dst_offset, want->dst_offset, sizeof(got->dst_offset));
    assert_memory_equal(got->dst_mem_stride, want->dst_mem_stride, sizeof(got->dst_mem_stride));
    assert_memory_equal(got->perm_dim, want->perm_dim, sizeof(got->perm_dim));
    assert_memory_equal(got->padding_pre, want->padding_pre, sizeof(got->padding_pre));
    assert_memory_equal(got->padding_post, want->padding_post, sizeof(got->padding_post));
}

static void test_copy_is_neutral(void **state)
{
    mli_mov_cfg_t cfg = dirty();

    (void)state;
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    assert_cfg(&cfg, &neutral);
}

static void test_slice(void **state)
{
    mli_mov_cfg_t cfg = dirty(), want = neutral;

    (void)state;
    memcpy(want.offset, offsets, sizeof(offsets));
    memcpy(want.size, sizes, sizeof(sizes));
    memcpy(want.dst_mem_stride, strides, sizeof(strides));
    assert_ok(mli_mov_cfg_for_slice(&cfg, offsets, sizes, strides));
    assert_cfg(&cfg, &want);
}

static void test_concat(void **state)
{
    mli_mov_cfg_t cfg = dirty(), want = neutral;

    (void)state;
    memcpy(want.dst_offset, dst_offsets, sizeof(dst_offsets));
    memcpy(want.dst_mem_stride, strides, sizeof(strides));
    assert_ok(mli_mov_cfg_for_concat(&cfg, dst_offsets, strides));
    assert_cfg(&cfg, &want);
}

static void test_subsample(void **state)
{
    mli_mov_cfg_t cfg = dirty(), want = neutral;

    (void)state;
    memcpy(want.sub_sample_step, steps, sizeof(steps));
    memcpy(want.dst_mem_stride, strides, sizeof(strides));
    assert_ok(mli_mov_cfg_for_subsample(&cfg, steps, strides));
    assert_cfg(&cfg, &want);
}

static void test_permute(void **state)
{
    mli_mov_cfg_t cfg = dirty(), want = neutral;

    (void)state;
    memcpy(want.perm_dim, perm, sizeof(perm));
    assert_ok(mli_mov_cfg_for_permute(&cfg, perm));
    assert_cfg(&cfg, &want);
}

static void test_padding2d_chw(void **state)
{
    mli_mov_cfg_t cfg = dirty(), want = neutral;

    (void)state;
    memcpy(want.dst_mem_stride, strides, sizeof(strides));
    want.padding_pre[FMAP_W_DIM_CHW] = 1;
    want.padding_post[FMAP_W_DIM_CHW] = 2;
    want.padding_pre[FMAP_H_DIM_CHW] = 3;
    want.padding_post[FMAP_H_DIM_CHW] = 4;
    assert_ok(mli_mov_cfg_for_padding2d_chw(&cfg, 1, 2, 3, 4, strides));
    assert_cfg(&cfg, &want);
}

static void test_padding2d_hwc(void **state)
{
    mli_mov_cfg_t cfg = dirty(), want = neutral;

    (void)state;
    memcpy(want.dst_mem_stride, strides, sizeof(strides));
    want.padding_pre[FMAP_W_DIM_HWC] = 1;
    want.padding_post[FMAP_W_DIM_HWC] = 2;
    want.padding_pre[FMAP_H_DIM_HWC] = 3;
    want.padding_post[FMAP_H_DIM_HWC] = 4;
    assert_ok(mli_mov_cfg_for_padding2d_hwc(&cfg, 1, 2, 3, 4, strides));
    assert_cfg(&cfg, &want);
}

static void test_all(void **state)
{
    mli_mov_cfg_t cfg = dirty(), want;

    (void)state;
    memcpy(want.offset, offsets, sizeof(offsets));
    memcpy(want.size, sizes, sizeof(sizes));
    memcpy(want.sub_sample_step, steps, sizeof(steps));
    memcpy(want.dst_offset, dst_offsets, sizeof(dst_offsets));
    memcpy(want.dst_mem_stride, strides, sizeof(strides));
    memcpy(want.perm_dim, perm, sizeof(perm));
    memcpy(want.padding_pre, pre, sizeof(pre));
    memcpy(want.padding_post, post, sizeof(post));
    assert_ok(mli_mov_cfg_all(&cfg, offsets, sizes, steps, dst_offsets, strides, perm, pre, post));
    assert_cfg(&cfg, &want);
}

/* The builders do not check values: the move refuses them. */
static void test_the_move_checks_values(void **state)
{
    static const int minus[4] = {-1, 0, 0, 0}, zero[4] = {0};
    static const uint8_t twice[4] = {1, 1, 2, 3};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    assert_ok(mli_mov_cfg_for_slice(&t.cfg, minus, zero, zero));
    assert_status(tile_sync(&t), MLI_STATUS_BAD_FUNC_CFG);
    assert_ok(mli_mov_cfg_for_slice(&t.cfg, zero, minus, zero));
    assert_status(tile_sync(&t), MLI_STATUS_BAD_FUNC_CFG);
    assert_ok(mli_mov_cfg_for_slice(&t.cfg, zero, zero, minus));
    assert_status(tile_sync(&t), MLI_STATUS_BAD_FUNC_CFG);
    assert_ok(mli_mov_cfg_for_subsample(&t.cfg, zero, zero));
    assert_status(tile_sync(&t), MLI_STATUS_BAD_FUNC_CFG);
    assert_ok(mli_mov_cfg_for_concat(&t.cfg, minus, zero));
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_ok(mli_mov_cfg_for_permute(&t.cfg, twice));
    assert_status(tile_sync(&t), MLI_STATUS_BAD_FUNC_CFG);
}

static void test_null_cfg_is_refused(void **state)
{
    (void)state;
    assert_status(mli_mov_cfg_for_copy(NULL), MLI_STATUS_BAD_FUNC_CFG);
    assert_error_names("cfg", MLI_STATUS_BAD_FUNC_CFG);
    assert_status(mli_mov_cfg_for_slice(NULL, offsets, sizes, strides), MLI_STATUS_BAD_FUNC_CFG);
    assert_status(mli_mov_cfg_for_concat(NULL, dst_offsets, strides), MLI_STATUS_BAD_FUNC_CFG);
    assert_status(mli_mov_cfg_for_subsample(NULL, steps, strides), MLI_STATUS_BAD_FUNC_CFG);
    assert_status(mli_mov_cfg_for_permute(NULL, perm), MLI_STATUS_BAD_FUNC_CFG);
    assert_status(mli_mov_cfg_for_padding2d_chw(NULL, 1, 2, 3, 4, strides),
                  MLI_STATUS_BAD_FUNC_CFG);
    assert_status(mli_mov_cfg_for_padding2d_hwc(NULL, 1, 2, 3, 4, strides),
                  MLI_STATUS_BAD_FUNC_CFG);
    assert_status(
        mli_mov_cfg_all(NULL, offsets, sizes, steps, dst_offsets, strides, perm, pre, post),
        MLI_STATUS_BAD_FUNC_CFG);
}

/* Makes one call with a null array: it is refused, and the cfg is unchanged. */
#define assert_null_refused(name, call)                                                            \
    do {                                                                                           \
        const mli_mov_cfg_t before = cfg;                                                          \
        assert_status((call), MLI_STATUS_ARGUMENT_ERROR);                                          \
        assert_error_names((name), MLI_STATUS_ARGUMENT_ERROR);                                     \
        assert_memory_equal(&cfg, &before, sizeof(cfg));                                           \
    } while (0)

static void test_null_arrays_are_refused(void **state)
{
    mli_mov_cfg_t cfg = dirty();

    (void)state;
    assert_null_refused("offset", mli_mov_cfg_for_slice(&cfg, NULL, sizes, strides));
    assert_null_refused("size", mli_mov_cfg_for_slice(&cfg, offsets, NULL, strides));
    assert_null_refused("stride", mli_mov_cfg_for_slice(&cfg, offsets, sizes, NULL));
    assert_null_refused("offset", mli_mov_cfg_for_concat(&cfg, NULL, strides));
    assert_null_refused("stride", mli_mov_cfg_for_concat(&cfg, dst_offsets, NULL));
    assert_null_refused("step", mli_mov_cfg_for_subsample(&cfg, NULL, strides));
    assert_null_refused("stride", mli_mov_cfg_for_subsample(&cfg, steps, NULL));
    assert_null_refused("perm", mli_mov_cfg_for_permute(&cfg, NULL));
    assert_null_refused("stride", mli_mov_cfg_for_padding2d_chw(&cfg, 1, 2, 3, 4, NULL));
    assert_null_refused("stride", mli_mov_cfg_for_padding2d_hwc(&cfg, 1, 2, 3, 4, NULL));
}

static void test_all_refuses_each_null_array(void **state)
{
    mli_mov_cfg_t cfg = dirty();

    (void)state;
    for (int k = 0; k < 8; k++) {
        assert_null_refused("",
                            mli_mov_cfg_all(&cfg, k == 0 ? NULL : offsets, k == 1 ? NULL : sizes,
                                            k == 2 ? NULL : steps, k == 3 ? NULL : dst_offsets,
                                            k == 4 ? NULL : strides, k == 5 ? NULL : perm,
                                            k == 6 ? NULL : pre, k == 7 ? NULL : post));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy_is_neutral),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_concat),
        cmocka_unit_test(test_subsample),
        cmocka_unit_test(test_permute),
        cmocka_unit_test(test_padding2d_chw),
        cmocka_unit_test(test_padding2d_hwc),
        cmocka_unit_test(test_all),
        cmocka_unit_test(test_the_move_checks_values),
        cmocka_unit_test(test_null_cfg_is_refused),
        cmocka_unit_test(test_null_arrays_are_refused),
        cmocka_unit_test(test_all_refuses_each_null_array),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
