/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests moves with results computed by hand, and the limits of legal moves. */
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

/* Compares the bytes of the result, and the unused bytes after it. */
static void assert_out(const struct tile *t, const uint8_t *want, size_t bytes)
{
    assert_memory_equal(t->out, want, bytes);
    for (size_t i = bytes; i < sizeof(t->out); i++)
        assert_int_equal(t->out[i], 0xA5);
}

static void assert_shape(const mli_tensor *t, uint32_t s0, uint32_t s1, uint32_t s2)
{
    const uint32_t want[3] = {s0, s1, s2};

    assert_int_equal(t->rank, 3);
    assert_memory_equal(t->shape, want, sizeof(want));
}

static void assert_strides(const mli_tensor *t, int32_t s0, int32_t s1, int32_t s2)
{
    const int32_t want[3] = {s0, s1, s2};

    assert_memory_equal(t->mem_stride, want, sizeof(want));
}

static void test_copy(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FP_32);
    assert_ok(tile_sync(&t));
    assert_out(&t, t.in, 96);
    assert_shape(&t.dst, 2, 3, 4);
    assert_strides(&t.dst, 12, 4, 1);
    assert_int_equal(t.dst.el_type, MLI_EL_FP_32);
    assert_int_equal(t.dst.data.capacity, sizeof(t.out));
    assert_ptr_equal(t.dst.data.mem.pi8, t.out);
}

static void test_slice(void **state)
{
    static const uint8_t want[] = {18, 19, 22, 23};
    static const int offsets[4] = {1, 1, 1, 0}, sizes[4] = {1, 2, 2, 0}, strides[4] = {0};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    assert_ok(mli_mov_cfg_for_slice(&t.cfg, offsets, sizes, strides));
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
    assert_shape(&t.dst, 1, 2, 2);
    assert_int_equal(t.dst.el_params.fx.frac_bits, 5);
}

/* Moves columns 2 and 3 of a row of 5 columns; all other bytes keep their values. */
static void test_concat(void **state)
{
    static const uint8_t want[] = {0xA5, 0xA5, 1, 2, 0xA5, 0xA5, 0xA5, 3, 4};
    static const int dst_offsets[4] = {0, 2, 0, 0}, strides[4] = {5, 1, 0, 0};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 2;
    t.src.shape[1] = 2;
    assert_ok(mli_mov_cfg_for_concat(&t.cfg, dst_offsets, strides));
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
    assert_int_equal(t.dst.shape[0], 2);
    assert_int_equal(t.dst.shape[1], 4);
    assert_int_equal(t.dst.mem_stride[0], 5);
}

static void test_subsample(void **state)
{
    static const uint8_t want[] = {1, 4, 9, 12};
    static const int steps[4] = {5, 2, 3, 0}, strides[4] = {0};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    assert_ok(mli_mov_cfg_for_subsample(&t.cfg, steps, strides));
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
    assert_shape(&t.dst, 1, 2, 2);
}

/* Moves HWC (2, 3, 4) to CHW (4, 2, 3), 16-bit elements. */
static void test_permute(void **state)
{
    static const uint8_t perm[4] = {2, 0, 1, 99};
    static const uint8_t first[] = {1, 5, 9,  13, 17, 21, 2, 6, 10, 14, 18, 22,
                                    3, 7, 11, 15, 19, 23, 4, 8, 12, 16, 20, 24};
    uint8_t want[48];
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    for (int i = 0; i < 24; i++) { /* element e holds bytes 2e - 1 and 2e */
        want[2 * i] = (uint8_t)(2 * first[i] - 1);
        want[2 * i + 1] = (uint8_t)(2 * first[i]);
    }
    assert_ok(mli_mov_cfg_for_permute(&t.cfg, perm));
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
    assert_shape(&t.dst, 4, 2, 3);
}

/* Moves one HWC pixel row of two channels into a frame of zeros. */
static void test_padding2d_hwc(void **state)
{
    static const uint8_t want[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 0, 0, 0, 0};
    static const int strides[4] = {0};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.shape[0] = 1;
    t.src.shape[1] = t.src.shape[2] = 2;
    assert_ok(mli_mov_cfg_for_padding2d_hwc(&t.cfg, 1, 2, 1, 0, strides));
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
    assert_shape(&t.dst, 2, 5, 2);
}

static void test_padding2d_chw(void **state)
{
    static const uint8_t want[] = {0, 1, 2, 0, 0, 0, 0, 3, 4, 0, 0, 0};
    static const int strides[4] = {0};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.shape[0] = 2;
    t.src.shape[1] = 1;
    t.src.shape[2] = 2;
    assert_ok(mli_mov_cfg_for_padding2d_chw(&t.cfg, 1, 0, 0, 1, strides));
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
    assert_shape(&t.dst, 2, 2, 3);
}

/* Moves a convolution tile with a halo: zeros beyond the edge, real neighbours inside. */
static void test_window_over_the_edge(void **state)
{
    static const uint8_t want[] = {0, 0, 0, 0, 1, 2, 0, 3, 4};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 2;
    t.src.shape[0] = t.src.shape[1] = 2;
    for (int d = 0; d < 2; d++) {
        t.cfg.padding_pre[d] = 1;
        t.cfg.padding_post[d] = 1;
        t.cfg.size[d] = 3;
    }
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
}

/* Subsampling also counts padding: takes every second sample of 0 0 1 2 3 4 0. */
static void test_subsampled_padding(void **state)
{
    static const uint8_t want[] = {0, 1, 3, 0};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 1;
    t.src.shape[0] = 4;
    t.cfg.padding_pre[0] = 2;
    t.cfg.padding_post[0] = 1;
    t.cfg.sub_sample_step[0] = 2;
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
}

/* If the move reads nothing of the source, the source's capacity need not cover the window. */
static void test_window_in_the_padding_reads_nothing(void **state)
{
    static const uint8_t want[] = {0, 0, 0};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 1;
    t.src.shape[0] = 1000;
    t.src.data.capacity = 1;
    t.cfg.padding_post[0] = 3;
    t.cfg.offset[0] = 1000;
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
}

/* A capacity must cover the last byte that the move accesses, but no byte after it. */
static void test_exact_capacities_suffice(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    t.cfg.dst_mem_stride[0] = 20;
    t.dst.data.capacity = (20 + 11 + 1) * 2;
    t.src.mem_stride[0] = 15;
    t.src.data.capacity = (15 + 11 + 1) * 2;
    assert_ok(tile_sync(&t));
    t.dst.data.capacity -= 1;
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    t.dst.data.capacity += 1;
    t.src.data.capacity -= 1;
    assert_status(tile_sync(&t), MLI_STATUS_NOT_ENGH_MEM);
    t.cfg.size[1] = 2; /* the move no longer reads the last row */
    assert_ok(tile_sync(&t));
}

/*
 * If a stride is 0 in the cfg, the destination's stride applies; if that is also 0, it is the
 * packed stride.
 */
static void test_where_strides_come_from(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.dst.mem_stride[0] = 50;
    t.dst.mem_stride[1] = 9;
    t.cfg.dst_mem_stride[1] = 6;
    assert_ok(tile_sync(&t));
    assert_strides(&t.dst, 50, 6, 1);
    assert_memory_equal(t.out + 50 + 6, t.in + 12 + 4, 4);
    assert_int_equal(t.out[50 + 4], 0xA5);
}

/* Packed strides come from the destination's shape, which includes dst_offset. */
static void test_packed_counts_dst_offset(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.cfg.dst_offset[2] = 3;
    t.cfg.dst_offset[0] = 1;
    assert_ok(tile_sync(&t));
    assert_shape(&t.dst, 3, 3, 7);
    assert_strides(&t.dst, 21, 7, 1);
    assert_memory_equal(t.out + 21 + 3, t.in, 4);
    assert_int_equal(t.out[21 + 2], 0xA5);
}

/*
 * Interleaved rows have no element in common: each of the two moves is legal, before or after the
 * other.
 */
static void test_interleaved_destination(void **state)
{
    static const uint8_t want[] = {1, 0xA5, 2, 5, 3, 6, 4, 7, 0xA5, 8};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 2;
    t.src.shape[0] = 2;
    t.src.shape[1] = 4;
    t.cfg.dst_mem_stride[0] = 3;
    t.cfg.dst_mem_stride[1] = 2;
    assert_ok(tile_sync(&t));
    assert_out(&t, want, sizeof(want));
    memset(t.out, 0xA5, sizeof(t.out));
    t.cfg.dst_mem_stride[0] = 2; /* the strides now make elements (1, 0) and (0, 1) overlap */
    assert_status(tile_sync(&t), MLI_STATUS_INCOMPATEBLE_TENSORS);
    assert_out(&t, want, 0);
}

/* Tensors that are next to each other in memory do not overlap, whatever their capacities. */
static void test_views_of_one_buffer(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    t.src.data.capacity = sizeof(t.in);
    t.dst.data.mem.pi8 = (int8_t *)t.in + 48;
    t.dst.data.capacity = sizeof(t.in) - 48;
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.in, t.in + 48, 48);
    assert_int_equal(t.in[96], 97);
    tile_init(&t, MLI_EL_FX_16);
    t.src.data.mem.pi8 = (int8_t *)t.in + 48;
    t.dst.data.mem.pi8 = (int8_t *)t.in;
    t.dst.data.capacity = sizeof(t.in);
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.in, t.in + 48, 48);
    assert_int_equal(t.in[48], 49);
}

/*
 * Moves from the even to the odd elements of the same rows: the ranges overlap, but no byte is both
 * read and written.
 */
static void test_interleaved_views(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    t.src.mem_stride[2] = t.dst.mem_stride[2] = 2;
    t.src.mem_stride[1] = t.dst.mem_stride[1] = 8;
    t.src.mem_stride[0] = t.dst.mem_stride[0] = 24;
    t.src.data.capacity = sizeof(t.in);
    t.dst.data.mem.pi8 = t.src.data.mem.pi8 + 2;
    t.dst.data.capacity = sizeof(t.in) - 2;
    assert_ok(tile_sync(&t));
    for (int i = 0; i < 96; i++)
        assert_int_equal(t.in[i], i % 4 < 2 ? i + 1 : i - 1);
    assert_int_equal(t.in[96], 97);
    t.dst.data.mem.pi8 -= 1; /* now every element shares a byte with another element */
    assert_status(tile_sync(&t), MLI_STATUS_INCOMPATEBLE_TENSORS);
}

/* The values that output fields have before the call do not matter. */
static void test_output_fields_are_not_read(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    memset(&t.dst.el_params, 0xEE, sizeof(t.dst.el_params));
    memset(t.dst.shape, 0, sizeof(t.dst.shape));
    t.dst.rank = 77;
    t.dst.el_type = MLI_EL_FX_4;
    assert_ok(tile_sync(&t));
    assert_shape(&t.dst, 2, 3, 4);
    assert_true(t.dst.el_params.sa.dim < 0);
    assert_int_equal(t.dst.el_params.sa.scale.mem.i16, 77);
    assert_int_equal(t.dst.el_params.sa.scale.capacity, 0);
    assert_int_equal(t.dst.el_params.sa.zero_point.mem.i16, -3);
    assert_int_equal(t.dst.el_params.sa.scale_frac_bits.mem.i8, 10);
}

/* Entries beyond the rank may have any value. */
static void test_entries_beyond_the_rank_are_not_read(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.shape[3] = 0;
    t.src.mem_stride[3] = t.dst.mem_stride[3] = t.cfg.dst_mem_stride[3] = -1;
    t.cfg.offset[3] = t.cfg.size[3] = t.cfg.dst_offset[3] = UINT32_MAX;
    t.cfg.sub_sample_step[3] = 0;
    t.cfg.perm_dim[3] = 255;
    t.cfg.padding_pre[3] = t.cfg.padding_post[3] = 255;
    assert_ok(tile_sync(&t));
    assert_out(&t, t.in, 24);
}

/*
 * Every function that fills in the destination sets the entries beyond the rank: shapes to 1,
 * strides to 0.
 */
static void test_entries_beyond_the_rank_are_set(void **state)
{
    static const uint32_t shape[] = {6, 1, 1, 1};
    static const int32_t stride[] = {1, 0, 0, 0};
    mli_mov_handle_t h;
    mli_tensor layout;
    struct tile t;

    (void)state;
    for (int how = 0; how < 4; how++) {
        tile_init(&t, MLI_EL_FX_8);
        t.src.rank = 1;
        t.src.shape[0] = 6;
        memset(t.dst.shape, 0x77, sizeof(t.dst.shape));
        memset(t.dst.mem_stride + 1, 0x77, 3 * sizeof(t.dst.mem_stride[0]));
        layout = t.dst;
        if (how == 0)
            assert_ok(tile_sync(&t));
        if (how == 1)
            assert_ok(mli_mov_check(&t.src, &t.cfg, &t.dst));
        if (how == 2)
            assert_ok(mli_mov_layout(&t.src, &t.cfg, &layout));
        if (how == 3) {
            assert_ok(mli_mov_acquire_handle(0, &h));
            assert_ok(tile_prepare(&t, &h));
            assert_ok(mli_mov_release_handle(&h));
        }
        if (how == 2)
            t.dst = layout;
        assert_memory_equal(t.dst.shape, shape, sizeof(shape));
        assert_memory_equal(t.dst.mem_stride, stride, sizeof(stride));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_slice),
        cmocka_unit_test(test_concat),
        cmocka_unit_test(test_subsample),
        cmocka_unit_test(test_permute),
        cmocka_unit_test(test_padding2d_hwc),
        cmocka_unit_test(test_padding2d_chw),
        cmocka_unit_test(test_window_over_the_edge),
        cmocka_unit_test(test_subsampled_padding),
        cmocka_unit_test(test_window_in_the_padding_reads_nothing),
        cmocka_unit_test(test_exact_capacities_suffice),
        cmocka_unit_test(test_where_strides_come_from),
        cmocka_unit_test(test_packed_counts_dst_offset),
        cmocka_unit_test(test_interleaved_destination),
        cmocka_unit_test(test_views_of_one_buffer),
        cmocka_unit_test(test_interleaved_views),
        cmocka_unit_test(test_output_fields_are_not_read),
        cmocka_unit_test(test_entries_beyond_the_rank_are_not_read),
        cmocka_unit_test(test_entries_beyond_the_rank_are_set),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
