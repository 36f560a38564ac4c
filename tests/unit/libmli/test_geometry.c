/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the geometry of moves and the empty plan from inside: nested strides, the order of the
 * dimensions, limits of 32 and 64 bits, and which member a refusal names.
 */
#include "libmli/src/geometry.h"

#include <string.h>

#include "libmli/src/plan.h"
#include "tests/support/unit.h"

static mli_tensor src, dst;
static mli_mov_cfg_t cfg;
static struct geometry geometry;

/* Makes a packed source of fx8 with this shape, and a neutral configuration. */
static void begin(uint32_t rank, const uint32_t *shape)
{
    src = (mli_tensor){.rank = rank, .el_type = MLI_EL_FX_8};
    memcpy(src.shape, shape, rank * sizeof(*shape));
    dst = (mli_tensor){.rank = 0};
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    geometry = (struct geometry){.src_name = "src", .dst_name = "dst"};
}

static void init(void)
{
    assert_ok(geometry_init(&geometry, &src, &cfg, &dst));
}

/* Requires that the last error contains a text; a library of debug_mode=release has no such texts.
 */
static void assert_says(const char *part)
{
#ifndef TEST_MODE_RELEASE
    if (!strstr(mli_last_error(), part))
        fail_msg("last error \"%s\", expected \"%s\" in it", mli_last_error(), part);
#else
    (void)part;
#endif
}

static void refused(mli_status status, const char *part)
{
    assert_status(geometry_init(&geometry, &src, &cfg, &dst), status);
    assert_says(part);
}

static void test_nested_strides(void **state)
{
    static const struct {
        uint32_t shape[3];
        int32_t stride[3];
        bool nested;
    } cases[] = {
        {{2, 3, 4}, {0, 0, 0}, true},
        {{2, 3, 4}, {12, 4, 1}, true},
        {{2, 3, 4}, {14, 5, 1}, true},
        {{2, 3, 4}, {11, 4, 1}, false},
        {{2, 3, 4}, {12, 3, 1}, false},
        {{1, 3, 4}, {1, 4, 1}, true}, /* a count of 1 needs no stride */
        {{2, 1, 4}, {4, 1, 1}, true},
        {{2, 3, 4}, {1, 2, 6}, false}, /* legal strides, but in another order than the dimensions */
        {{4, 1, 2}, {1, 1, 4}, false},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin(3, cases[i].shape);
        memcpy(dst.mem_stride, cases[i].stride, sizeof(cases[i].stride));
        init();
        if (geometry.nested != cases[i].nested)
            fail_msg("case %zu: expected %s", i, cases[i].nested ? "nested" : "not nested");
    }
}

/* All orders of four strides: the dimensions are sorted by falling stride. */
static void test_order_of_dimensions(void **state)
{
    /* strides of a tensor with extents 2, 3, 4 and 5 */
    static const int32_t strides[] = {1, 2, 6, 24};
    static const uint32_t extents[] = {2, 3, 4, 5};

    (void)state;
    for (int n = 0; n < 256; n++) {
        const int place[] = {n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6};
        uint32_t shape[4], seen = 0;

        for (int d = 0; d < 4; d++) {
            shape[d] = extents[place[d]];
            seen |= 1u << place[d];
        }
        if (seen != 0xF)
            continue;
        begin(4, shape);
        for (int d = 0; d < 4; d++)
            dst.mem_stride[d] = strides[place[d]];
        init();
        for (int i = 0; i < 4; i++)
            assert_int_equal(geometry.axis[geometry.order[i]].dst_stride, strides[3 - i]);
        assert_ok(geometry_check_written(&geometry));
    }
}

static void test_padding_is_noted(void **state)
{
    const uint32_t shape[] = {4};

    (void)state;
    begin(1, shape);
    init();
    assert_false(geometry.pads);
    cfg.padding_pre[0] = 2;
    init();
    assert_true(geometry.pads && geometry.reads);
    cfg.offset[0] = 2; /* the window leaves out the padding */
    init();
    assert_false(geometry.pads);
    cfg.offset[0] = 0;
    cfg.size[0] = 2;
    init();
    assert_true(geometry.pads && !geometry.reads);
}

static void test_windows_are_refused_in_order(void **state)
{
    const uint32_t shape[] = {2, 3, 4};

    (void)state;
    begin(3, shape);
    cfg.size[0] = 2; /* legal: the size is the whole extent */
    cfg.size[1] = 4;
    refused(MLI_STATUS_BAD_FUNC_CFG, "cfg.size[1]: 4 given; at most 3 fit after offset 0");
    cfg.padding_pre[1] = 2;
    cfg.offset[1] = 3;
    refused(MLI_STATUS_BAD_FUNC_CFG,
            "cfg.size[1]: 4 given; at most 2 fit after offset 3 in the padded extent 5");
}

static void test_places_are_refused_in_order(void **state)
{
    const uint32_t shape[] = {2, 3};

    (void)state;
    begin(2, shape);
    cfg.dst_offset[0] = UINT32_MAX - 2; /* legal: the extent is UINT32_MAX */
    cfg.dst_offset[1] = UINT32_MAX - 2;
    refused(MLI_STATUS_NOT_ENGH_MEM, "cfg.dst_offset[1]: 4294967293 given");
}

static void test_overlap_names_the_stride(void **state)
{
    const uint32_t shape[] = {2, 3, 4};

    (void)state;
    begin(3, shape);
    dst.mem_stride[0] = 4;
    init();
    assert_status(geometry_check_written(&geometry), MLI_STATUS_INCOMPATEBLE_TENSORS);
    assert_says("dst.mem_stride");
    dst.mem_stride[0] = 0;
    cfg.dst_mem_stride[0] = 4;
    init();
    assert_status(geometry_check_written(&geometry), MLI_STATUS_INCOMPATEBLE_TENSORS);
    assert_says("cfg.dst_mem_stride");
}

/* Three spans of 2^63 elements together are too large for 64 bits. */
static void test_64_bits(void **state)
{
    const uint32_t shape[] = {UINT32_MAX, UINT32_MAX, UINT32_MAX};

    (void)state;
    for (int side = 0; side < 2; side++) {
        begin(3, shape);
        for (int d = 0; d < 3; d++) {
            cfg.size[d] = side == 0 ? 1 : 0;
            cfg.offset[d] = side == 0 ? UINT32_MAX - 1 : 0;
            src.mem_stride[d] = side == 0 ? INT32_MAX : 1;
            dst.mem_stride[d] = INT32_MAX;
        }
        refused(MLI_STATUS_NOT_ENGH_MEM, side == 0 ? "src.mem_stride: the last element's address"
                                                   : "dst.mem_stride: the last element's address");
        for (int d = 0; d < 3; d++)
            src.mem_stride[d] = 1;
        if (side == 0)
            init();
    }
}

/*
 * The largest capacity is 2^32 - 1 bytes: a result that is one byte larger is refused with a
 * message about this limit.
 */
static void test_32_bits(void **state)
{
    const uint32_t all[] = {UINT32_MAX}, rows[] = {3, UINT32_MAX};

    (void)state;
    begin(1, all);
    init();
    assert_ok(geometry_check_spans(&geometry));
    src.data.capacity = 10;
    assert_status(geometry_check_memory(&geometry, &src, &dst), MLI_STATUS_NOT_ENGH_MEM);
    assert_says("src.data.capacity: 10 B given; 4294967295 B are needed");

    cfg.dst_offset[0] = 0;
    cfg.size[0] = 1;
    dst.mem_stride[0] = 1;
    cfg.dst_offset[0] = UINT32_MAX - 1;
    init();
    assert_ok(geometry_check_spans(&geometry));

    begin(2, rows);
    cfg.offset[0] = 2;
    cfg.size[1] = 1;
    init();
    assert_status(geometry_check_spans(&geometry), MLI_STATUS_NOT_ENGH_MEM);
    assert_says("src.data.capacity: 8589934591 B are needed, but a tensor has at most");
    cfg.offset[0] = 0;
    cfg.size[0] = 2;
    src.mem_stride[0] = 1;
    dst.mem_stride[0] = INT32_MAX;
    cfg.dst_offset[0] = 2;
    init();
    assert_status(geometry_check_spans(&geometry), MLI_STATUS_NOT_ENGH_MEM);
    assert_says("dst.data.capacity: 6442450942 B are needed");
}

/* A plan without a copy still has the addresses of the tensors, but no bytes to copy. */
static void test_plan_of_padding_alone(void **state)
{
    const uint32_t shape[] = {2, 3, 4};
    uint8_t from[24], to[64];
    struct mli_plan plan;

    (void)state;
    begin(3, shape);
    cfg.padding_pre[0] = 1;
    cfg.size[0] = 1;
    init();
    plan_build(&plan, &geometry, from, to);
    assert_int_equal(plan.bytes, 12);
    assert_int_equal(plan.slabs, 1);
    assert_int_equal(plan.slab[0].run, 12);
    assert_ptr_equal(plan.slab[0].dst, to);
    assert_ptr_equal(plan.box.src, from);
    assert_ptr_equal(plan.box.dst, to);
    assert_int_equal(plan.box.run, 0);
    assert_int_equal(plan.box.loops, 0);
}

/*
 * Four dimensions have equal padding on both sides and gaps: the plan has eight fills, each with
 * four loops.
 */
static void test_slabs_with_four_loops(void **state)
{
    static const uint32_t shape[] = {3, 3, 3, 3};
    static const int32_t strides[] = {2000, 200, 20, 2};
    static uint8_t from[81], to[7 * 2000];
    struct mli_plan plan;

    (void)state;
    begin(4, shape);
    memcpy(dst.mem_stride, strides, sizeof(strides));
    for (int d = 0; d < 4; d++)
        cfg.padding_pre[d] = cfg.padding_post[d] = 2;
    init();
    plan_build(&plan, &geometry, from, to);
    assert_int_equal(plan.slabs, 8);
    for (int s = 0; s < 8; s++) {
        const int d = s / 2; /* the dimension in whose padding the fill is */
        const uint8_t *first = to + (s % 2) * 5 * strides[d];

        for (int i = 0; i < d; i++)
            first += 2 * strides[i];
        assert_ptr_equal(plan.slab[s].dst, first);
        assert_int_equal(plan.slab[s].run, 1);
        assert_int_equal(plan.slab[s].loops, 4);
        for (int i = 0; i < 4; i++) {
            assert_int_equal(plan.slab[s].loop[i].count, i < d ? 3 : i == d ? 2 : 7);
            assert_int_equal(plan.slab[s].loop[i].step, strides[i]);
        }
    }
}

static void test_cleared_plan_is_empty(void **state)
{
    struct mli_plan plan;

    (void)state;
    memset(&plan, 0xFF, sizeof(plan));
    plan_clear(&plan);
    assert_int_equal(plan.bytes, 0);
    assert_int_equal(plan.slabs, 0);
    assert_int_equal(plan.box.run, 0);
    assert_int_equal(plan.box.loops, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested_strides),
        cmocka_unit_test(test_order_of_dimensions),
        cmocka_unit_test(test_padding_is_noted),
        cmocka_unit_test(test_windows_are_refused_in_order),
        cmocka_unit_test(test_places_are_refused_in_order),
        cmocka_unit_test(test_overlap_names_the_stride),
        cmocka_unit_test(test_64_bits),
        cmocka_unit_test(test_32_bits),
        cmocka_unit_test(test_plan_of_padding_alone),
        cmocka_unit_test(test_slabs_with_four_loops),
        cmocka_unit_test(test_cleared_plan_is_empty),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
