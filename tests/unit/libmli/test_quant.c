/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests per-axis parameters in moves and permutes: sharing, copying, and the new place of the axis.
 */
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static void assert_shares_src(const struct tile *t, int32_t dim)
{
    const mli_element_params *p = &t->dst.el_params, *q = &t->src.el_params;

    assert_int_equal(p->sa.dim, dim);
    assert_int_equal(p->sa.type, MLI_EL_PARAM_SC16_ZP16);
    assert_ptr_equal(p->sa.zero_point.mem.pi16, t->zero_point);
    assert_ptr_equal(p->sa.scale.mem.pi16, t->scale);
    assert_ptr_equal(p->sa.scale_frac_bits.mem.pi8, t->frac);
    assert_int_equal(p->sa.zero_point.capacity, q->sa.zero_point.capacity);
    assert_int_equal(p->sa.scale.capacity, q->sa.scale.capacity);
    assert_int_equal(p->sa.scale_frac_bits.capacity, q->sa.scale_frac_bits.capacity);
}

/*
 * The expected entries in the caller's arrays: `want` has the source index of each entry, PAD for
 * padding, KEPT for an entry that must not change.
 */
enum { PAD = -1, KEPT = -2 };

static void assert_own_arrays(const struct tile *t, int32_t dim, const int *want, int count)
{
    const mli_element_params *p = &t->dst.el_params;

    assert_int_equal(p->sa.dim, dim);
    assert_ptr_equal(p->sa.zero_point.mem.pi16, t->own_zero_point);
    assert_ptr_equal(p->sa.scale.mem.pi16, t->own_scale);
    assert_ptr_equal(p->sa.scale_frac_bits.mem.pi8, t->own_frac);
    assert_int_equal(p->sa.scale.capacity, 32);
    for (int i = 0; i < 16; i++) {
        int from = i < count ? want[i] : KEPT;

        assert_int_equal(t->own_zero_point[i], from == KEPT ? -7 : from == PAD ? 0 : 100 + from);
        assert_int_equal(t->own_scale[i], from == KEPT ? -7 : from == PAD ? 1 : 200 + from);
        assert_int_equal(t->own_frac[i], from == KEPT ? -7 : from == PAD ? 0 : from + 1);
    }
}

static void test_null_pointers_share(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 1, TILE_NULL);
    tile_for_permute(&t, 2, 0, 1);
    assert_ok(tile_sync(&t));
    assert_shares_src(&t, 2); /* the permutation also moves the dimension of the axis */
}

static void test_same_pointers_share(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_32);
    tile_per_axis(&t, 0, TILE_SAME);
    t.cfg.padding_pre[1] = 1; /* a dimension other than the axis may change */
    assert_ok(tile_sync(&t));
    assert_shares_src(&t, 0);
}

static void test_own_memory_receives_a_copy(void **state)
{
    static const int want[] = {0, 1, 2, 3};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    assert_ok(tile_sync(&t));
    assert_own_arrays(&t, 2, want, 4);
}

/*
 * The axis 0 1 2 3 is padded to P P 0 1 2 3 P, cropped from entry 1 on, subsampled with step 2, and
 * placed at offset 2.
 */
static void test_own_memory_follows_the_axis(void **state)
{
    static const int want[] = {KEPT, KEPT, PAD, 1, 3};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    tile_for_permute(&t, 2, 0, 1);
    t.cfg.padding_pre[2] = 2;
    t.cfg.padding_post[2] = 1;
    t.cfg.offset[2] = 1;
    t.cfg.sub_sample_step[2] = 2;
    t.cfg.dst_offset[0] = 2;
    assert_ok(tile_sync(&t));
    assert_own_arrays(&t, 0, want, 5);
}

/* prepare fills dst and its parameters; start moves the data. */
static void test_prepare_fills_parameters(void **state)
{
    static const int want[] = {1, 2, 3};
    mli_mov_handle_t h;
    struct tile t;

    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &h));
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    t.cfg.offset[2] = 1;
    assert_ok(tile_prepare(&t, &h));
    assert_own_arrays(&t, 2, want, 3);
    assert_int_equal(t.dst.shape[2], 3);
    assert_int_equal(t.out[0], 0xA5);
    assert_ok(mli_mov_release_handle(&h));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

/* Arrays of the smallest legal size have room for exactly the entries of the result. */
static void test_exact_array_capacities_suffice(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    t.cfg.dst_offset[2] = 1;
    t.dst.el_params.sa.zero_point.capacity = 10;
    t.dst.el_params.sa.scale.capacity = 10;
    t.dst.el_params.sa.scale_frac_bits.capacity = 5;
    assert_ok(tile_sync(&t));
    assert_int_equal(t.own_frac[4], 4);
    assert_int_equal(t.own_frac[5], -7);
}

/* The destination's arrays may be directly next to each other and to all other memory of the call.
 */
static void test_arrays_may_touch_other_memory(void **state)
{
    static const struct {
        bool in; /* true: the scales are inside the source; false: inside the destination */
        int at;  /* offset of the scales, which are four entries */
    } places[] = {{false, 4}, {false, 36}, {true, 4}, {true, 24}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(places); i++) {
        struct tile t;

        tile_init(&t, MLI_EL_SA_8);
        tile_per_axis(&t, 2, TILE_OWN);
        t.cfg.dst_offset[0] = 1;                /* writes bytes 12 to 35, or 12 to 23 */
        t.cfg.offset[0] = places[i].in ? 1 : 0; /* reads bytes 12 to 23 */
        t.dst.el_params.sa.scale.mem.pi16 =
            (int16_t *)(void *)((places[i].in ? t.in : t.out) + places[i].at);
        assert_ok(tile_sync(&t));
        assert_int_equal(t.dst.el_params.sa.scale.mem.pi16[3], 203);
    }
}

/* Arrays may be in the gaps between the rows of the data. */
static void test_arrays_in_gaps(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    t.src.mem_stride[1] = t.dst.mem_stride[1] = 16; /* rows of 4 bytes, and 12 bytes between them */
    t.src.data.capacity = 100;
    memcpy(t.out + 4, t.scale, 8);
    t.src.el_params.sa.scale.mem.pi16 = (int16_t *)(void *)(t.out + 4);
    t.dst.el_params.sa.scale.mem.pi16 = (int16_t *)(void *)(t.in + 8);
    t.dst.el_params.sa.scale_frac_bits.mem.pi8 = (int8_t *)t.out + 12;
    assert_ok(tile_sync(&t));
    assert_memory_equal(t.out + 4, t.scale, 8);
    assert_memory_equal(t.in + 8, t.scale, 8);
    assert_memory_equal(t.out + 12, t.frac, 4);
    assert_memory_equal(t.out + 16, t.in + 16, 4);
}

static void test_arrays_may_touch_each_other(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    t.dst.el_params.sa.scale.mem.pi16 = t.own_zero_point + 4;
    t.dst.el_params.sa.scale_frac_bits.mem.pi8 = (int8_t *)(t.own_zero_point + 8);
    assert_ok(tile_sync(&t));
    assert_int_equal(t.own_zero_point[3], 103);
    assert_int_equal(t.own_zero_point[4], 200);
    assert_int_equal(((int8_t *)(t.own_zero_point + 8))[3], 4);
    t.dst.el_params.sa.zero_point.mem.pi16 = t.own_scale + 4;
    t.dst.el_params.sa.scale.mem.pi16 = t.own_scale;
    assert_ok(tile_sync(&t));
    assert_int_equal(t.own_scale[3], 203);
    assert_int_equal(t.own_scale[4], 100);
}

/*
 * A move that writes only zeros does not read the source, so the arrays may be in the source's
 * memory.
 */
static void test_arrays_in_a_source_that_is_not_read(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_OWN);
    t.cfg.padding_pre[0] = 1;
    t.cfg.size[0] = 1;
    t.dst.el_params.sa.scale.mem.pi16 = (int16_t *)(void *)t.in;
    assert_ok(tile_sync(&t));
    assert_int_equal(((int16_t *)(void *)t.in)[0], 200);
}

#ifndef TEST_MODE_RELEASE
static void test_refused_sharing_says_the_needed_entries(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_NULL);
    t.cfg.size[2] = 3;
    t.cfg.dst_offset[2] = 4;
    assert_status(tile_sync(&t), MLI_STATUS_SPEC_PARAM_MISMATCH);
    assert_non_null(strstr(mli_last_error(), "changes axis 2; give memory for 7 entries"));

    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_NULL);
    t.src.shape[2] = 1;
    t.cfg.sub_sample_step[2] = 2; /* keeps the only entry, but counts as a change of the axis */
    assert_status(tile_sync(&t), MLI_STATUS_SPEC_PARAM_MISMATCH);
    assert_non_null(strstr(mli_last_error(), "changes axis 2; give memory for 1 entries"));
}
#endif

static void test_permute_kernel_shares(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_NULL);
    tile_for_permute(&t, 2, 0, 1);
    assert_ok(mli_krn_permute_sa8(&t.src, &t.permute_cfg, &t.dst));
    assert_shares_src(&t, 0);
    tile_give_arrays(&t, TILE_SAME);
    assert_ok(mli_krn_permute_sa8(&t.src, &t.permute_cfg, &t.dst));
    assert_shares_src(&t, 0);
}

static void test_permute_kernel_copies(void **state)
{
    static const int want[] = {0, 1, 2};
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_32);
    tile_per_axis(&t, 1, TILE_OWN);
    tile_for_permute(&t, 1, 0, 2);
    assert_ok(mli_krn_permute_sa32(&t.src, &t.permute_cfg, &t.dst));
    assert_own_arrays(&t, 0, want, 3);
}

/* A permute changes the elements and el_params, and no other field of `out`. */
static void test_permute_kernel_leaves_the_rest(void **state)
{
    static const uint32_t shape[3] = {3, 2, 4};
    struct tile t;
    mli_tensor before;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    tile_for_permute(&t, 1, 0, 2);
    t.dst.mem_stride[0] = 20;
    memcpy(&before, &t.dst, sizeof(before));
    assert_ok(mli_krn_permute_fx8(&t.src, &t.permute_cfg, &t.dst));
    assert_int_equal(t.dst.el_params.fx.frac_bits, 5);
    memcpy(&t.dst.el_params, &before.el_params, sizeof(before.el_params));
    assert_memory_equal(&t.dst, &before, sizeof(before));
    assert_memory_equal(t.dst.shape, shape, sizeof(shape));
    assert_memory_equal(t.out + 20 + 4, t.in + 12 + 4, 4); /* elements (1, 1, 0..3) */
    assert_int_equal(t.out[8], 0xA5);
}

/* fx and fp tensors have no axis: the members of `sa` are not read. */
static void test_other_types_have_no_axis(void **state)
{
    static const mli_element_type types[] = {MLI_EL_FX_8, MLI_EL_FX_16, MLI_EL_FP_16, MLI_EL_FP_32};
    struct tile t;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        tile_init(&t, types[i]);
        t.src.el_params.sa.dim = 99;
        t.cfg.padding_pre[0] = 1;
        assert_ok(tile_sync(&t));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_null_pointers_share),
        cmocka_unit_test(test_same_pointers_share),
        cmocka_unit_test(test_own_memory_receives_a_copy),
        cmocka_unit_test(test_own_memory_follows_the_axis),
        cmocka_unit_test(test_prepare_fills_parameters),
        cmocka_unit_test(test_exact_array_capacities_suffice),
        cmocka_unit_test(test_arrays_may_touch_other_memory),
        cmocka_unit_test(test_arrays_in_gaps),
        cmocka_unit_test(test_arrays_may_touch_each_other),
        cmocka_unit_test(test_arrays_in_a_source_that_is_not_read),
#ifndef TEST_MODE_RELEASE
        cmocka_unit_test(test_refused_sharing_says_the_needed_entries),
#endif
        cmocka_unit_test(test_permute_kernel_shares),
        cmocka_unit_test(test_permute_kernel_copies),
        cmocka_unit_test(test_permute_kernel_leaves_the_rest),
        cmocka_unit_test(test_other_types_have_no_axis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
