/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests mli_hlp_subtensor(): views of a part of a tensor. The tile is (2, 3, 4), bytes 1, 2, 3 ...
 */
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static mli_sub_tensor_cfg part(uint32_t rank, uint32_t o0, uint32_t o1, uint32_t o2, uint32_t s0,
                               uint32_t s1, uint32_t s2)
{
    /* Sets entries beyond the rank, which must not have any effect. */
    return (mli_sub_tensor_cfg){{o0, o1, o2, 99}, {s0, s1, s2, 0}, rank};
}

/* Collects the elements of an 8-bit view in order, as a copy shows them. */
static void assert_elements(const mli_tensor *view, const uint8_t *want, uint32_t count)
{
    uint8_t got[64];
    mli_mov_cfg_t copy;
    mli_tensor to = {.data = {.capacity = sizeof(got), .mem.pi8 = (int8_t *)got}};

    assert_ok(mli_mov_cfg_for_copy(&copy));
    assert_ok(mli_mov_tensor_sync(view, &copy, &to));
    assert_int_equal(mli_hlp_count_elem_num(&to, 0), count);
    assert_memory_equal(got, want, count);
}

static void assert_shape(const mli_tensor *t, uint32_t rank, uint32_t s0, uint32_t s1, uint32_t s2)
{
    const uint32_t want[3] = {s0, s1, s2};

    assert_int_equal(t->rank, rank);
    assert_memory_equal(t->shape, want, rank * sizeof(want[0]));
}

static void test_window_of_a_packed_tensor(void **state)
{
    static const uint8_t want[] = {18, 19, 22, 23};
    mli_sub_tensor_cfg cfg = part(3, 1, 1, 1, 1, 2, 2);
    struct tile t, before;
    mli_tensor out;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    memcpy(&before, &t, sizeof(t));
    memset(&out, 0x5A, sizeof(out));
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &out));
    assert_shape(&out, 3, 1, 2, 2);
    assert_ptr_equal(out.data.mem.pi8, t.in + 17);
    assert_int_equal(out.data.capacity, 24 - 17);
    assert_int_equal(out.el_type, MLI_EL_FX_8);
    assert_int_equal(out.el_params.fx.frac_bits, 5);
    assert_elements(&out, want, 4);
    /* the call copies no data, and does not change `in` */
    assert_memory_equal(&t, &before, sizeof(t));
}

static void test_window_of_a_strided_tensor(void **state)
{
    static const int32_t strides[3] = {1, 40, 4};
    mli_sub_tensor_cfg cfg = part(3, 0, 1, 1, 2, 2, 2);
    struct tile t;
    mli_tensor out;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    memcpy(t.src.mem_stride, strides, sizeof(strides));
    t.src.data.capacity = sizeof(t.in);
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &out));
    assert_memory_equal(out.mem_stride, strides, sizeof(strides));
    assert_ptr_equal(out.data.mem.pi8, t.in + 2 * 44);
    assert_int_equal(out.data.capacity, sizeof(t.in) - 2 * 44);
}

static void test_both_names_do_the_same(void **state)
{
    mli_sub_tensor_cfg cfg = part(2, 1, 0, 2, 1, 3, 2);
    mli_tensor a, b;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    memset(&a, 0, sizeof(a));
    memset(&b, 0, sizeof(b));
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &a));
    assert_ok(mli_hlp_create_subtensor(&t.src, &cfg, &b));
    assert_memory_equal(&a, &b, sizeof(a));
    assert_int_equal(a.el_params.sa.scale.mem.i16, 77);
}

static void test_out_may_be_in(void **state)
{
    static const uint8_t want[] = {18, 19, 20, 22, 23, 24};
    mli_sub_tensor_cfg cfg = part(3, 1, 0, 1, 1, 3, 3), again = part(2, 0, 1, 0, 1, 2, 3);
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &t.src));
    assert_ok(mli_hlp_subtensor(&t.src, &again, &t.src));
    assert_shape(&t.src, 2, 2, 3, 0);
    assert_elements(&t.src, want, sizeof(want));
}

/*
 * Beyond the rank of `out`, entries of its shape are 1 and its strides are 0; such entries of `in`
 * are not read.
 */
static void test_entries_beyond_the_rank(void **state)
{
    mli_sub_tensor_cfg cfg = part(1, 1, 2, 0, 1, 1, 4);
    mli_tensor out;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.shape[3] = t.src.mem_stride[3] = 7;
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &out));
    assert_memory_equal(out.shape, ((uint32_t[]){4, 1, 1, 1}), sizeof(out.shape));
    assert_memory_equal(out.mem_stride, ((int32_t[]){1, 0, 0, 0}), sizeof(out.mem_stride));
}

static mli_point_to_subtsr_cfg point(uint8_t count, uint32_t c0, uint32_t c1, uint32_t c2,
                                     uint8_t size)
{
    return (mli_point_to_subtsr_cfg){{c0, c1, c2, 99}, count, size};
}

/* All coordinates but the last are indices; the last dimension keeps a range. */
static void test_point_to_subtensor(void **state)
{
    static const struct {
        mli_point_to_subtsr_cfg cfg;
        uint32_t rank, shape[4], first, capacity;
    } table[] = {
        {{{0, 9, 9, 9}, 1, 2}, 3, {2, 3, 4, 1}, 0, 24},
        {{{1, 9, 9, 9}, 1, 1}, 3, {1, 3, 4, 1}, 12, 12},
        {{{1, 1, 9, 9}, 2, 2}, 2, {2, 4, 1, 1}, 16, 8},
        {{{0, 2, 1, 9}, 3, 3}, 1, {3, 1, 1, 1}, 9, 3},
        {{{1, 2, 3, 9}, 3, 1}, 1, {1, 1, 1, 1}, 23, 1},
    };
    uint8_t want[24];
    mli_tensor out;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        assert_ok(mli_hlp_point_to_subtensor(&t.src, &table[i].cfg, &out));
        assert_int_equal(out.rank, table[i].rank);
        assert_memory_equal(out.shape, table[i].shape, sizeof(out.shape));
        assert_ptr_equal(out.data.mem.pi8, t.in + table[i].first);
        assert_int_equal(out.data.capacity, table[i].capacity);
        memcpy(want, t.in + table[i].first, table[i].capacity);
        assert_elements(&out, want, table[i].capacity);
    }
}

/* Strides may be given; the parameters stay with their axis, and `out` may be the same as `in`. */
static void test_point_to_subtensor_of_any_layout(void **state)
{
    const mli_point_to_subtsr_cfg cfg = point(2, 1, 1, 0, 2);
    mli_tensor out;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 1, TILE_NULL);
    t.src.mem_stride[0] = 40;
    t.src.mem_stride[1] = 10;
    t.src.data.capacity = sizeof(t.in);
    assert_ok(mli_hlp_point_to_subtensor(&t.src, &cfg, &out));
    assert_shape(&out, 2, 2, 4, 0);
    assert_ptr_equal(out.data.mem.pi8, t.in + 50);
    assert_int_equal(out.data.capacity, 14);
    assert_int_equal(out.el_params.sa.dim, 0);
    assert_ptr_equal(out.el_params.sa.scale.mem.pi16, t.scale + 1);
    assert_ok(mli_hlp_point_to_subtensor(&t.src, &cfg, &t.src));
    assert_memory_equal(&t.src, &out, sizeof(out));
}

static void test_point_to_subtensor_refuses(void **state)
{
    static const struct {
        mli_point_to_subtsr_cfg cfg;
        const char *names;
    } table[] = {
        {{{0, 0, 0, 0}, 0, 1}, "cfg.coord_num"},
        {{{0, 0, 0, 0}, 4, 1}, "cfg.coord_num"},
        {{{2, 0, 0, 0}, 1, 1}, "cfg.start_coord[0]"},
        {{{0, UINT32_MAX, 0, 0}, 2, 1}, "cfg.start_coord[1]"},
        {{{1, 0, 0, 0}, 1, 2}, "cfg.first_out_dim_size"},
        {{{0, 0, 0, 0}, 1, 0}, "cfg.first_out_dim_size"},
    };
    mli_tensor out, before;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    memset(&out, 0x5A, sizeof(out));
    before = out;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        assert_status(mli_hlp_point_to_subtensor(&t.src, &table[i].cfg, &out),
                      MLI_STATUS_BAD_FUNC_CFG);
        assert_error_names(table[i].names, MLI_STATUS_BAD_FUNC_CFG);
    }
    assert_status(mli_hlp_point_to_subtensor(&t.src, NULL, &out), MLI_STATUS_BAD_FUNC_CFG);
    assert_status(mli_hlp_point_to_subtensor(NULL, &table[0].cfg, &out), MLI_STATUS_BAD_TENSOR);
    assert_status(mli_hlp_point_to_subtensor(&t.src, &table[0].cfg, NULL), MLI_STATUS_BAD_TENSOR);
    t.src.data.capacity = 23;
    assert_status(mli_hlp_point_to_subtensor(&t.src, &(mli_point_to_subtsr_cfg){{1}, 1, 1}, &out),
                  MLI_STATUS_NOT_ENGH_MEM);
    assert_memory_equal(&out, &before, sizeof(out));
}

/* Dimensions of size 1 are removed from the first on, no more than requested. */
static void test_rank_reduction(void **state)
{
    static const struct {
        uint32_t size[3], rank, shape[3];
    } table[] = {
        {{1, 3, 1}, 2, {3, 1}}, {{2, 1, 1}, 2, {2, 1}},    {{2, 1, 4}, 2, {2, 4}},
        {{1, 1, 4}, 2, {1, 4}}, {{1, 1, 4}, 1, {4}},       {{1, 1, 1}, 1, {1}},
        {{1, 3, 1}, 1, {3}},    {{1, 1, 1}, 3, {1, 1, 1}},
    };
    mli_tensor out;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        const uint32_t *s = table[i].size, *w = table[i].shape;
        mli_sub_tensor_cfg cfg = part(table[i].rank, 0, 0, 0, s[0], s[1], s[2]);

        assert_ok(mli_hlp_subtensor(&t.src, &cfg, &out));
        assert_shape(&out, table[i].rank, w[0], w[1], w[2]);
    }
}

/* Strides stay with their dimensions. */
static void test_rank_reduction_keeps_strides(void **state)
{
    static const uint8_t want[] = {3, 7, 11, 15, 19, 23}, row[] = {14, 18, 22};
    mli_sub_tensor_cfg cfg = part(2, 0, 0, 2, 2, 3, 1);
    mli_tensor out;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &out));
    assert_shape(&out, 2, 2, 3, 0);
    assert_elements(&out, want, sizeof(want));
    cfg = part(1, 1, 0, 1, 1, 3, 1);
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &out));
    assert_elements(&out, row, sizeof(row));
}

static void assert_arrays_at(const mli_tensor *out, const struct tile *t, uint32_t first,
                             uint32_t entries, uint32_t axis)
{
    const mli_element_params *p = &out->el_params;
    uint32_t left = t->src.shape[axis] - first;

    assert_ptr_equal(p->sa.zero_point.mem.pi16, t->zero_point + first);
    assert_ptr_equal(p->sa.scale.mem.pi16, t->scale + first);
    assert_ptr_equal(p->sa.scale_frac_bits.mem.pi8, t->frac + first);
    assert_in_range(p->sa.zero_point.capacity, entries * 2, left * 2);
    assert_in_range(p->sa.scale.capacity, entries * 2, left * 2);
    assert_in_range(p->sa.scale_frac_bits.capacity, entries, left);
}

/* Makes a tile with per-axis parameters along `axis`. Returns its subtensor `cfg`. */
static mli_tensor part_of_axis_tile(struct tile *t, int32_t axis, const mli_sub_tensor_cfg *cfg)
{
    mli_tensor out;

    tile_init(t, MLI_EL_SA_8);
    tile_per_axis(t, axis, TILE_NULL);
    assert_ok(mli_hlp_subtensor(&t->src, cfg, &out));
    return out;
}

static void test_axis_arrays_advance(void **state)
{
    mli_sub_tensor_cfg cfg = part(3, 0, 1, 1, 2, 2, 2);
    mli_tensor out;
    struct tile t;

    (void)state;
    out = part_of_axis_tile(&t, 2, &cfg);
    assert_int_equal(out.el_params.sa.dim, 2);
    assert_arrays_at(&out, &t, 1, 2, 2);
    out = part_of_axis_tile(&t, 1, &cfg);
    assert_int_equal(out.el_params.sa.dim, 1);
    assert_arrays_at(&out, &t, 1, 2, 1);
}

static void test_axis_follows_its_dimension(void **state)
{
    mli_sub_tensor_cfg cfg = part(2, 1, 0, 2, 1, 3, 2);
    mli_tensor out;
    struct tile t;

    (void)state;
    out = part_of_axis_tile(&t, 2, &cfg); /* the call removes dimension 0 */
    assert_int_equal(out.el_params.sa.dim, 1);
    assert_arrays_at(&out, &t, 2, 2, 2);
    cfg = part(2, 0, 1, 2, 2, 1, 2);
    out = part_of_axis_tile(&t, 2, &cfg); /* the call removes dimension 1 */
    assert_int_equal(out.el_params.sa.dim, 1);
    out = part_of_axis_tile(&t, 0, &cfg);
    assert_int_equal(out.el_params.sa.dim, 0);
}

static void test_removed_axis_leaves_per_tensor_values(void **state)
{
    mli_sub_tensor_cfg cfg = part(1, 1, 2, 0, 1, 1, 4);
    mli_tensor out;
    struct tile t;

    (void)state;
    out = part_of_axis_tile(&t, 1, &cfg);
    assert_true(out.el_params.sa.dim < 0);
    assert_int_equal(out.el_params.sa.zero_point.mem.i16, 102);
    assert_int_equal(out.el_params.sa.scale.mem.i16, 202);
    assert_int_equal(out.el_params.sa.scale_frac_bits.mem.i8, 3);
    assert_int_equal(out.el_params.sa.zero_point.capacity, 0);
    assert_int_equal(out.el_params.sa.scale.capacity, 0);
    assert_int_equal(out.el_params.sa.scale_frac_bits.capacity, 0);
    assert_int_equal(mli_hlp_tensor_scale(&out), 202);
    /* `out` may be `in`: the values are read before the pointers are overwritten. */
    assert_ok(mli_hlp_subtensor(&t.src, &cfg, &t.src));
    assert_int_equal(t.src.el_params.sa.scale.mem.i16, 202);
}

/* An axis of size 1 that is not removed keeps its arrays. */
static void test_kept_axis_of_size_one(void **state)
{
    mli_sub_tensor_cfg cfg = part(2, 1, 2, 0, 1, 1, 4);
    mli_tensor out;
    struct tile t;

    (void)state;
    out = part_of_axis_tile(&t, 1, &cfg);
    assert_int_equal(out.el_params.sa.dim, 0);
    assert_arrays_at(&out, &t, 2, 1, 1);
}

static void assert_refused(struct tile *t, const mli_sub_tensor_cfg *cfg, mli_status status,
                           const char *names)
{
    struct tile before;

    memcpy(&before, t, sizeof(before));
    assert_status(mli_hlp_subtensor(t->psrc, cfg, t->pdst), status);
    assert_error_names(names, status);
    assert_memory_equal(t, &before, sizeof(before));
}

static void test_refuses_bad_parts(void **state)
{
    static const struct {
        mli_sub_tensor_cfg cfg;
        const char *names;
    } table[] = {
        {{{2, 0, 0}, {1, 3, 4}, 3}, "offset"},
        {{{0, 0, UINT32_MAX}, {2, 3, 2}, 3}, ""},
        {{{0, 0, 0}, {2, 4, 4}, 3}, "size"},
        {{{0, 1, 0}, {2, 3, 4}, 3}, "size"},
        {{{0, 0, 1}, {2, 3, UINT32_MAX}, 3}, "size"},
        {{{0, 0, 0}, {0, 3, 4}, 3}, "size"},
        {{{0, 0, 0}, {2, 3, 4}, 0}, "sub_tensor_rank: 0 given; must be 3 to 3"},
        {{{0, 0, 0}, {2, 3, 4}, 4}, "sub_tensor_rank: 4 given; must be 3 to 3"},
        {{{0, 0, 0}, {2, 3, 4}, 2}, "sub_tensor_rank: 2 given; must be 3 to 3"},
        {{{0, 0, 0}, {2, 1, 4}, 1}, "sub_tensor_rank: 1 given; must be 2 to 3"},
        {{{0, 0, 0}, {1, 1, 1}, 0}, "sub_tensor_rank: 0 given; must be 1 to 3"},
        {{{0, 0, 0}, {2, 3, 4}, UINT32_MAX}, "rank"},
    };
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_refused(&t, &table[i].cfg, MLI_STATUS_BAD_FUNC_CFG, table[i].names);
    assert_refused(&t, NULL, MLI_STATUS_BAD_FUNC_CFG, "cfg");
}

static void test_refuses_bad_tensors(void **state)
{
    const mli_sub_tensor_cfg all = part(3, 0, 0, 0, 2, 3, 4);
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    t.psrc = NULL;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "");
    t.psrc = &t.src;
    t.pdst = NULL;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "");
    t.pdst = &t.dst;
    t.src.data.mem.pi8 = NULL;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "data");
    tile_init(&t, MLI_EL_FX_16);
    t.src.rank = 5;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "rank");
    t.src.rank = 0;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "rank");
    t.src.rank = 3;
    t.src.shape[1] = 0;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "shape");
    t.src.shape[1] = 3;
    t.src.mem_stride[0] = -1;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "mem_stride");
    t.src.mem_stride[0] = 0;
    t.src.el_type = (mli_element_type)0x30;
    assert_refused(&t, &all, MLI_STATUS_BAD_TENSOR, "el_type");
    t.src.el_type = MLI_EL_FX_4;
    assert_refused(&t, &all, MLI_STATUS_NOT_SUPPORTED, "el_type");
}

static void test_refuses_parts_beyond_the_capacity(void **state)
{
    mli_sub_tensor_cfg cfg = part(3, 1, 2, 0, 1, 1, 4), first = part(3, 0, 0, 0, 1, 1, 4);
    mli_tensor out;
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_16);
    t.src.data.capacity -= 1;
    assert_refused(&t, &cfg, MLI_STATUS_NOT_ENGH_MEM, "capacity");
    t.src.mem_stride[0] = INT32_MAX;
    t.src.mem_stride[1] = INT32_MAX;
    assert_refused(&t, &cfg, MLI_STATUS_NOT_ENGH_MEM, "capacity");
    t.src.data.capacity = 8; /* the capacity is enough for the requested part */
    assert_ok(mli_hlp_subtensor(&t.src, &first, &out));
    assert_int_equal(out.data.capacity, 8);
}

static void test_refuses_inconsistent_axis(void **state)
{
    const mli_sub_tensor_cfg all = part(3, 0, 0, 0, 2, 3, 4);
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_NULL);
    t.src.el_params.sa.dim = 3;
    assert_refused(&t, &all, MLI_STATUS_SPEC_PARAM_MISMATCH, "dim");
    tile_per_axis(&t, 2, TILE_NULL);
    t.src.el_params.sa.scale.mem.pi16 = NULL;
    assert_refused(&t, &all, MLI_STATUS_SPEC_PARAM_MISMATCH, "scale.!zero_point");
    tile_per_axis(&t, 2, TILE_NULL);
    t.src.el_params.sa.zero_point.capacity = 7;
    assert_refused(&t, &all, MLI_STATUS_SPEC_PARAM_MISMATCH, "zero_point.!scale");
    tile_per_axis(&t, 2, TILE_NULL);
    t.src.el_params.sa.scale_frac_bits.capacity = 3;
    assert_refused(&t, &all, MLI_STATUS_SPEC_PARAM_MISMATCH, "scale_frac_bits.!zero_point");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_window_of_a_packed_tensor),
        cmocka_unit_test(test_window_of_a_strided_tensor),
        cmocka_unit_test(test_both_names_do_the_same),
        cmocka_unit_test(test_out_may_be_in),
        cmocka_unit_test(test_entries_beyond_the_rank),
        cmocka_unit_test(test_point_to_subtensor),
        cmocka_unit_test(test_point_to_subtensor_of_any_layout),
        cmocka_unit_test(test_point_to_subtensor_refuses),
        cmocka_unit_test(test_rank_reduction),
        cmocka_unit_test(test_rank_reduction_keeps_strides),
        cmocka_unit_test(test_axis_arrays_advance),
        cmocka_unit_test(test_axis_follows_its_dimension),
        cmocka_unit_test(test_removed_axis_leaves_per_tensor_values),
        cmocka_unit_test(test_kept_axis_of_size_one),
        cmocka_unit_test(test_refuses_bad_parts),
        cmocka_unit_test(test_refuses_bad_tensors),
        cmocka_unit_test(test_refuses_parts_beyond_the_capacity),
        cmocka_unit_test(test_refuses_inconsistent_axis),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
