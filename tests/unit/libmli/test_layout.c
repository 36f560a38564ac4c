/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests mli_mov_layout(), which computes the result of a move without memory, and mli_mov_check(),
 * which checks with memory but does not move. test_status_move.c has the refusals.
 */
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

/* Runs both functions, and compares all fields of the destination that a move sets. */
static void assert_layout_of_move(struct tile *t, uint32_t bytes)
{
    mli_tensor layout;

    memcpy(&layout, &t->dst, sizeof(layout));
    layout.data.mem.pi8 = NULL;
    layout.data.capacity = 0;
    assert_ok(mli_mov_layout(&t->src, &t->cfg, &layout));
    t->dst.data.capacity = layout.data.capacity; /* the capacity is exactly large enough */
    assert_int_equal(layout.data.capacity, bytes);
    assert_null(layout.data.mem.pi8);
    assert_memory_equal(&layout.el_params, &t->dst.el_params, sizeof(layout.el_params));
    assert_ok(tile_sync(t));
    assert_int_equal(layout.rank, t->dst.rank);
    assert_int_equal(layout.el_type, t->dst.el_type);
    assert_memory_equal(layout.shape, t->dst.shape, t->dst.rank * sizeof(uint32_t));
    assert_memory_equal(layout.mem_stride, t->dst.mem_stride, t->dst.rank * sizeof(int32_t));
}

static void test_packed(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FP_32);
    tile_for_permute(&t, 2, 1, 0);
    assert_layout_of_move(&t, 96);
}

static void test_strides_offsets_padding(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    t.cfg.padding_pre[1] = 2;
    t.cfg.sub_sample_step[2] = 3;
    t.cfg.dst_offset[0] = 1;
    t.cfg.dst_mem_stride[0] = 30;
    t.dst.mem_stride[1] = 4;
    /* The shape is (3, 5, 2) and the strides are (30, 4, 1), so the last element is at 60 + 16 + 1.
     */
    assert_layout_of_move(&t, 78 * 2);
}

static void test_per_axis_needs_no_arrays(void **state)
{
    struct tile t;
    mli_tensor layout = {.rank = 0};

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    t.src.el_params.sa.dim = 2;
    t.src.el_params.sa.scale.mem.pi16 = NULL;
    t.src.data.mem.pi8 = NULL;
    t.src.data.capacity = 0;
    t.cfg.padding_post[2] = 3;
    assert_ok(mli_mov_layout(&t.src, &t.cfg, &layout));
    assert_int_equal(layout.data.capacity, 2 * 3 * 7);
    assert_int_equal(layout.shape[2], 7);
}

/* More than 4 GiB does not fit in the type of a capacity. */
static void test_too_large(void **state)
{
    mli_tensor layout = {.rank = 0}, before;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FP_32);
    memset(t.src.mem_stride, 0, sizeof(t.src.mem_stride));
    t.src.rank = 1;
    t.src.shape[0] = 0x3FFFFFFF;
    assert_ok(mli_mov_layout(&t.src, &t.cfg, &layout));
    assert_int_equal(layout.data.capacity, 0xFFFFFFFCu);
    memcpy(&before, &layout, sizeof(layout));
    t.src.shape[0] = 0x40000000;
    assert_status(mli_mov_layout(&t.src, &t.cfg, &layout), MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&layout, &before, sizeof(layout));
}

/*
 * A capacity has only 32 bits. It must cover the last byte that the move reads, but not the whole
 * source.
 */
static void test_source_too_large(void **state)
{
    mli_tensor layout = {.rank = 0}, before = layout;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    memset(t.src.mem_stride, 0, sizeof(t.src.mem_stride));
    t.src.rank = 2;
    t.src.shape[0] = 5;
    t.src.shape[1] = 0x40000000;
    t.cfg.size[1] = 5;
    assert_status(mli_mov_layout(&t.src, &t.cfg, &layout), MLI_STATUS_NOT_ENGH_MEM);
    assert_string_equal(mli_last_error(),
                        "src.data.capacity: 4294967301 B are needed, but a tensor has at most "
                        "4294967295 B (4 GiB): move it in parts");
    assert_memory_equal(&layout, &before, sizeof(layout));
    t.src.data.capacity = UINT32_MAX;
    assert_status(mli_mov_check(&t.src, &t.cfg, &t.dst), MLI_STATUS_NOT_ENGH_MEM);
    assert_non_null(strstr(mli_last_error(), "a tensor has at most 4294967295 B"));
    t.cfg.size[0] = 4;
    assert_ok(mli_mov_layout(&t.src, &t.cfg, &layout));
    assert_int_equal(layout.data.capacity, 20);
}

/*
 * All fields except the data pointer have the values that a move would set, although the pool is
 * empty.
 */
static void test_check_is_a_move_without_data(void **state)
{
    const enum tile_arrays arrays[] = {TILE_NULL, TILE_SAME, TILE_OWN};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(arrays); i++) {
        struct tile t, untouched;

        tile_init(&t, MLI_EL_SA_8);
        tile_per_axis(&t, 2, arrays[i]);
        memcpy(&untouched, &t, sizeof(t));
        t.cfg.perm_dim[0] = 1;
        t.cfg.perm_dim[1] = 0;
        assert_ok(mli_mov_check(&t.src, &t.cfg, &t.dst));
        assert_memory_equal(t.out, untouched.out, sizeof(t.out));
        assert_int_equal(t.dst.shape[0], TILE_W);
        memcpy(&untouched, &t, sizeof(t));
        assert_ok(tile_sync(&t));
        assert_memory_equal(&t.dst, &untouched.dst, sizeof(t.dst));
        assert_memory_equal(t.own_scale, untouched.own_scale, sizeof(t.own_scale));
        assert_memory_equal(t.own_zero_point, untouched.own_zero_point, sizeof(t.own_zero_point));
        assert_memory_equal(t.own_frac, untouched.own_frac, sizeof(t.own_frac));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_packed),
        cmocka_unit_test(test_strides_offsets_padding),
        cmocka_unit_test(test_per_axis_needs_no_arrays),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_source_too_large),
        cmocka_unit_test(test_check_is_a_move_without_data),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
