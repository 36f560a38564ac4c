/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests strides of which some are given and some are 0: a stride of 0 means the next inner stride
 * times the extent of that dimension, on both sides of a move, in a permute and in a sub-tensor.
 * The tile is (2, 3, 4); every index in this test was computed by hand.
 */
#include <string.h>

#include "mli_explain.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static void assert_strides(const int32_t *got, int32_t s0, int32_t s1, int32_t s2)
{
    const int32_t want[3] = {s0, s1, s2};

    assert_memory_equal(got, want, sizeof(want));
}

static void give(int32_t *to, int32_t s0, int32_t s1, int32_t s2)
{
    to[0] = s0;
    to[1] = s1;
    to[2] = s2;
}

/* Element (i, j, k) of the result is at i * s0 + j * s1 + k * s2; no other byte is written. */
static void assert_placed(const struct tile *t, uint32_t s0, uint32_t s1, uint32_t s2)
{
    uint8_t want[sizeof(t->out)];

    memset(want, 0xA5, sizeof(want));
    for (uint32_t i = 0; i < 2; i++)
        for (uint32_t j = 0; j < 3; j++)
            for (uint32_t k = 0; k < 4; k++)
                want[i * s0 + j * s1 + k * s2] = t->in[i * 12 + j * 4 + k];
    assert_memory_equal(t->out, want, sizeof(want));
    assert_strides(t->dst.mem_stride, (int32_t)s0, (int32_t)s1, (int32_t)s2);
}

static void test_outer_strides_of_dst(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    give(t.cfg.dst_mem_stride, 0, 0, 3);
    assert_ok(tile_sync(&t));
    assert_placed(&t, 36, 12, 3);

    tile_init(&t, MLI_EL_FX_8);
    give(t.dst.mem_stride, 0, 9, 0);
    assert_ok(tile_sync(&t));
    assert_placed(&t, 27, 9, 1);
}

/* The inner stride is given in cfg, the middle stride in dst, and the outer stride is computed. */
static void test_strides_from_cfg_and_dst(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    give(t.cfg.dst_mem_stride, 0, 0, 2);
    give(t.dst.mem_stride, 0, 10, 77);
    assert_ok(tile_sync(&t));
    assert_placed(&t, 30, 10, 2);
}

static void test_inner_strides_of_dst(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    give(t.cfg.dst_mem_stride, 50, 0, 0);
    assert_ok(tile_sync(&t));
    assert_placed(&t, 50, 4, 1);
}

/* The destination's extent, for a computed stride, includes dst_offset. */
static void test_extent_counts_dst_offset(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.cfg.dst_offset[1] = 2;
    give(t.cfg.dst_mem_stride, 0, 6, 0);
    assert_ok(tile_sync(&t));
    assert_strides(t.dst.mem_stride, 30, 6, 1);
    assert_memory_equal(t.out + 30 + 12, t.in + 12, 4);
}

static void test_source(void **state)
{
    mli_explanation explained;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.data.capacity = sizeof(t.in);
    give(t.src.mem_stride, 0, 20, 0);
    assert_ok(mli_mov_explain(&t.src, &t.cfg, &t.dst, &explained));
    assert_int_equal(explained.axis[0].src_stride, 60);
    assert_int_equal(explained.read.end, 60 + 40 + 3 + 1);
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.out, t.in, 4);
    assert_memory_equal(t.out + 4, t.in + 20, 4);
    assert_memory_equal(t.out + 12, t.in + 60, 4);
}

/* The source's capacity must cover the strides that apply, given or computed, exactly to the byte.
 */
static void test_source_capacity(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    give(t.src.mem_stride, 0, 0, 2);
    t.src.data.capacity = (24 + 16 + 6 + 1) * 2;
    assert_ok(tile_sync(&t));
    t.src.data.capacity -= 1;
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
}

static void test_permute(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.data.capacity = sizeof(t.in);
    tile_for_permute(&t, 2, 0, 1); /* the result has shape (4, 2, 3) */
    give(t.src.mem_stride, 0, 5, 0);
    give(t.dst.mem_stride, 0, 8, 0);
    assert_ok(mli_krn_permute_fx8(&t.src, &t.permute_cfg, &t.dst));
    for (uint32_t i = 0; i < 4; i++)
        for (uint32_t j = 0; j < 2; j++)
            for (uint32_t k = 0; k < 3; k++)
                assert_int_equal(t.out[i * 16 + j * 8 + k], t.in[j * 15 + k * 5 + i]);
}

static void test_sub_tensor(void **state)
{
    const mli_sub_tensor_cfg cfg = {.offset = {1, 1, 0}, .size = {1, 2, 4}, .sub_tensor_rank = 3};
    struct tile t;
    mli_tensor out;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.data.capacity = sizeof(t.in);
    give(t.src.mem_stride, 0, 0, 3);
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &out));
    assert_strides(out.mem_stride, 36, 12, 3);
    assert_ptr_equal(out.data.mem.pi8, t.in + 36 + 12);
    assert_int_equal(out.data.capacity, sizeof(t.in) - 48);
}

/* Tests computed strides that fit in mem_stride, and computed strides that do not. */
static void test_more_than_31_bits(void **state)
{
    const mli_sub_tensor_cfg all = {.size = {2, 3, 4}, .sub_tensor_rank = 3};
    struct tile t, before;
    mli_tensor out;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    give(t.cfg.dst_mem_stride, 0, 0x40000000, 0);
    memcpy(&before, &t, sizeof(t));
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("dst.mem_stride", MLI_STATUS_NOT_ENGH_MEM);
    assert_status(mli_mov_layout(&t.src, &t.cfg, &t.dst), MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&t, &before, sizeof(t));

    tile_init(&t, MLI_EL_FX_8);
    give(t.dst.mem_stride, 0, 0x40000000, 0);
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("dst.mem_stride", MLI_STATUS_NOT_ENGH_MEM);

    tile_init(&t, MLI_EL_FX_8);
    give(t.src.mem_stride, 0, 0x40000000, 0);
    assert_status(mli_hlp_subtensor(&t.src, &all, &out), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("in.mem_stride", MLI_STATUS_NOT_ENGH_MEM);
}

/* An extent of 1 needs no stride: it gets 0 if the packed stride exceeds 31 bits. */
static void test_extents_of_1(void **state)
{
    static const uint32_t large[2] = {1, 0x80000000u};
    const mli_sub_tensor_cfg part = {.size = {1, 5}, .sub_tensor_rank = 2};
    struct tile t;
    mli_tensor out;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 2;
    memcpy(t.src.shape, large, sizeof(large));
    t.src.data.capacity = UINT32_MAX;
    assert_ok(mli_hlp_set_tensor_mem_strides(&t.src));
    assert_strides(t.src.mem_stride, 0, 1, 0);
    out = t.dst;
    assert_ok(mli_mov_layout(&t.src, &t.cfg, &out));
    assert_strides(out.mem_stride, 0, 1, 0);
    assert_int_equal(out.data.capacity, large[1]);
    assert_ok(mli_hlp_subtensor(&t.src, &part, &out));
    assert_strides(out.mem_stride, 0, 1, 0);
    t.cfg.size[1] = 5;
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.out, t.in, 5);

    t.cfg.size[1] = 0;
    t.cfg.dst_offset[0] = 1; /* the extent is 2 */
    assert_status(mli_mov_layout(&t.src, &t.cfg, &out), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("dst.mem_stride[0].2147483648", MLI_STATUS_NOT_ENGH_MEM);
}

/* A dimension with an extent of 1 may store the stride 0. The next outer stride is computed from
 * the stride that the dimension would have. */
static void test_extent_of_1_between(void **state)
{
    mli_tensor t = {.rank = 4, .shape = {1, 2, 1, 0x80000000u}, .el_type = MLI_EL_FX_8};

    (void)state;
    assert_status(mli_hlp_set_tensor_mem_strides(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("in.mem_stride[1].2147483648 * 1", MLI_STATUS_NOT_ENGH_MEM);
    t.shape[1] = 1;
    assert_ok(mli_hlp_set_tensor_mem_strides(&t));
    assert_int_equal(t.mem_stride[0], 0);
    assert_strides(t.mem_stride + 1, 0, 0, 1);
}

/* A source's computed stride may have 64 bits if only coordinate 0 is read. */
static void test_more_than_64_bits(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    give(t.src.mem_stride, 0, INT32_MAX, 1);
    t.src.shape[1] = UINT32_MAX;
    t.cfg.size[0] = t.cfg.size[1] = 1;
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.out, t.in, 4);
    t.src.shape[0] = t.src.shape[1] = t.src.shape[2] = UINT32_MAX;
    t.cfg.size[2] = 1;
    give(t.src.mem_stride, 0, 0, INT32_MAX);
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("src.mem_stride", MLI_STATUS_NOT_ENGH_MEM);
    give(t.src.mem_stride, 1, 0, INT32_MAX); /* with this shape no stride exceeds 31 bits */
    assert_ok(tile_sync(&t));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_outer_strides_of_dst),
        cmocka_unit_test(test_strides_from_cfg_and_dst),
        cmocka_unit_test(test_inner_strides_of_dst),
        cmocka_unit_test(test_extent_counts_dst_offset),
        cmocka_unit_test(test_source),
        cmocka_unit_test(test_source_capacity),
        cmocka_unit_test(test_permute),
        cmocka_unit_test(test_sub_tensor),
        cmocka_unit_test(test_more_than_31_bits),
        cmocka_unit_test(test_extents_of_1),
        cmocka_unit_test(test_extent_of_1_between),
        cmocka_unit_test(test_more_than_64_bits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
