/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mli_plan_kernel(): the kernel's name for moves with a known kernel, and the text about streams
 * and zeros. tests/property/test_explained.c tests explanations of random moves.
 */
#include <string.h>

#include "mli_explain.h"
#include "tests/support/unit.h"

enum { ROOM = 1 << 20 };

static _Alignas(64) uint8_t in[ROOM], out[ROOM];
static mli_explanation explained;

/*
 * Most tests use the kernels in plain C, which never bypass the caches. The tests of streamed
 * stores use the best level of the processor.
 */
static int plain(void **state)
{
    (void)state;
    mli_cpu_set_mask(0);
    return 0;
}

static int best(void **state)
{
    (void)state;
    mli_cpu_set_mask(UINT32_MAX);
    mli_cpu_set_stream_min(UINT64_C(32) << 20);
    return 0;
}

static void explain(mli_element_type type, const uint32_t shape[3], const mli_mov_cfg_t *cfg)
{
    mli_tensor src = {.data = {.capacity = ROOM, .mem.pi8 = (int8_t *)in},
                      .rank = 3,
                      .el_type = type,
                      .shape = {shape[0], shape[1], shape[2]}};
    mli_tensor dst = {.data = {.capacity = ROOM, .mem.pi8 = (int8_t *)out}};

    src.el_params.sa.dim = -1;
    assert_ok(mli_mov_explain(&src, cfg, &dst, &explained));
}

static const char *kernel(size_t descriptor)
{
    static char text[MLI_KERNEL_TEXT_MAX];

    return mli_plan_kernel(&explained.plan, descriptor, text);
}

static void test_copies(void **state)
{
    const uint32_t shape[] = {4, 6, 10};
    mli_mov_cfg_t cfg;

    (void)state;
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    explain(MLI_EL_FX_16, shape, &cfg);
    assert_string_equal(kernel(0), "a row of 480 bytes, c");
    assert_string_equal(kernel(1), "");
    cfg.size[2] = 5;
    explain(MLI_EL_FX_16, shape, &cfg);
    assert_string_equal(kernel(0), "rows of 10 bytes, c");
    cfg.size[2] = 1;
    explain(MLI_EL_FX_8, shape, &cfg);
    assert_string_equal(kernel(0), "gather of 1-byte elements, c");
    cfg.size[1] = cfg.size[0] = 1;
    explain(MLI_EL_FX_8, shape, &cfg);
    assert_string_equal(kernel(0), "a row of 1 byte, c");
}

static void test_elements(void **state)
{
    const uint32_t shape[] = {40, 60, 3}, planes[] = {5, 40, 60};
    const uint8_t chw[] = {2, 0, 1, 3}, turned[] = {0, 2, 1, 3};
    mli_mov_cfg_t cfg;

    (void)state;
    assert_ok(mli_mov_cfg_for_permute(&cfg, chw));
    explain(MLI_EL_FX_8, shape, &cfg);
    assert_string_equal(kernel(0), "transpose of 1-byte elements, c");
    assert_ok(mli_mov_cfg_for_permute(&cfg, turned));
    explain(MLI_EL_SA_32, planes, &cfg);
    assert_string_equal(kernel(0), "transpose of 4-byte elements, c");
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    cfg.sub_sample_step[2] = 2;
    explain(MLI_EL_FX_16, planes, &cfg);
    assert_string_equal(kernel(0), "gather of 2-byte elements, c");
}

static void test_zeros(void **state)
{
    const uint32_t shape[] = {3, 20, 30};
    mli_mov_cfg_t cfg;

    (void)state;
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    cfg.padding_pre[1] = cfg.padding_post[1] = 2;
    cfg.padding_pre[2] = cfg.padding_post[2] = 1;
    explain(MLI_EL_FX_8, shape, &cfg);
    assert_int_equal(explained.plan.slabs, 4);
    assert_string_equal(kernel(0), "rows of 30 bytes with zeros beside, c");
    for (size_t i = 1; i <= 4; i++) /* fills above, below, left and right of the copy */
        assert_string_equal(kernel(i), "zeros, with the copy");
    assert_string_equal(kernel(5), "");
    /* A window in the padding: there is no copy. */
    cfg.size[1] = 1;
    explain(MLI_EL_FX_8, shape, &cfg);
    assert_string_equal(kernel(0), "");
    assert_string_equal(kernel(1), "zeros, c");
    assert_string_equal(kernel(SIZE_MAX), "");
}

/* Levels that can bypass the caches are explained as "streamed", except for small moves. */
static void test_streams(void **state)
{
    const uint32_t shape[] = {1, 512, 600};
    mli_mov_cfg_t cfg;
    bool can;

    (void)state;
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    explain(MLI_EL_FX_8, shape, &cfg);
    mli_cpu_set_mask(UINT32_MAX);
    can = !strcmp(mli_cpu_level(), "avx2") || !strcmp(mli_cpu_level(), "avx512");
    mli_cpu_set_stream_min(512 * 600 + 1);
    assert_null(strstr(kernel(0), "streamed"));
    mli_cpu_set_stream_min(512 * 600);
    assert_int_equal(strstr(kernel(0), ", streamed") != NULL, can);
    cfg.size[2] = 7; /* short rows are first copied to a stage */
    explain(MLI_EL_FX_8, shape, &cfg);
    mli_cpu_set_stream_min(1);
    assert_int_equal(strstr(kernel(0), ", streamed") != NULL, can);
    mli_cpu_set_mask(0);
    assert_null(strstr(kernel(0), "streamed"));
}

static void test_split_of_an_empty_plan(void **state)
{
    const struct mli_plan nothing = {0};
    struct mli_plan parts[2];

    (void)state;
    assert_int_equal(mli_plan_split(&nothing, 2, 0, parts), 0);
}

/* A plan that is too small for several channels is not split. */
static void test_split_is_worth_it(void **state)
{
    const uint32_t shape[] = {1, 100, 100};
    struct mli_plan parts[4];
    mli_mov_cfg_t cfg;

    (void)state;
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    explain(MLI_EL_FX_8, shape, &cfg);
    assert_int_equal(mli_plan_split(&explained.plan, 4, 0, parts), 4);
    assert_int_equal(mli_plan_split(&explained.plan, 4, 2499, parts), 4);
    assert_int_equal(mli_plan_split(&explained.plan, 4, 2500, parts), 3);
    assert_int_equal(mli_plan_split(&explained.plan, 4, 9999, parts), 1);
    assert_int_equal(mli_plan_split(&explained.plan, 4, SIZE_MAX, parts), 1);
    assert_int_equal(parts[0].bytes, 10000);
}

/* mli_mov_explain_unplaced() ignores the pointers of tensors, so nothing overlaps. On a 32-bit
 * host, this is the only way to explain a move from 3 GiB to 3 GiB. */
static void test_unplaced(void **state)
{
    const uint64_t bytes = UINT64_C(3) << 30;
    mli_tensor src = {.data = {.capacity = (uint32_t)bytes, .mem.pi8 = (int8_t *)in},
                      .rank = 2,
                      .el_type = MLI_EL_FX_8,
                      .shape = {3 << 10, 1 << 20}};
    mli_tensor dst = {.data = {.capacity = (uint32_t)bytes, .mem.pi8 = (int8_t *)in}};
    mli_mov_cfg_t cfg;

    (void)state;
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    assert_int_equal(mli_mov_explain(&src, &cfg, &dst, &explained),
                     MLI_STATUS_INCOMPATEBLE_TENSORS);
    assert_ok(mli_mov_explain_unplaced(&src, &cfg, &dst, &explained));
    assert_true(explained.read.end == bytes && explained.written.end == bytes);
    assert_ptr_equal(explained.plan.box.src, in);
    assert_ptr_equal(explained.plan.box.dst, in);
    dst.data.capacity--;
    assert_int_equal(mli_mov_explain_unplaced(&src, &cfg, &dst, &explained),
                     MLI_STATUS_NOT_ENGH_MEM);
    dst.data.mem.pi8 = NULL;
    assert_int_equal(mli_mov_explain_unplaced(&src, &cfg, &dst, &explained), MLI_STATUS_BAD_TENSOR);
}

/* mli_mov_explain_unplaced() ignores the pointers of data, but parameter arrays must not
 * overlap. */
static void test_unplaced_parameters(void **state)
{
    int16_t scale[2] = {1, 2}, zero[2] = {0, 0}, own_scale[2], own_zero[2];
    int8_t bits[2] = {3, 4}, own_bits[2];
    mli_tensor src = {.data = {.capacity = ROOM, .mem.pi16 = own_scale},
                      .rank = 1,
                      .el_type = MLI_EL_SA_8,
                      .shape = {2}};
    mli_tensor dst = {.data = {.capacity = ROOM, .mem.pi16 = own_scale}};
    mli_mov_cfg_t cfg;

    (void)state;
    src.el_params.sa.scale = (mli_data_container){sizeof scale, .mem.pi16 = scale};
    src.el_params.sa.zero_point = (mli_data_container){sizeof zero, .mem.pi16 = zero};
    src.el_params.sa.scale_frac_bits = (mli_data_container){sizeof bits, .mem.pi8 = bits};
    dst.el_params.sa.scale = (mli_data_container){sizeof own_scale, .mem.pi16 = own_scale};
    dst.el_params.sa.zero_point = (mli_data_container){sizeof own_zero, .mem.pi16 = own_zero};
    dst.el_params.sa.scale_frac_bits = (mli_data_container){sizeof own_bits, .mem.pi8 = own_bits};
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    assert_ok(mli_mov_explain_unplaced(&src, &cfg, &dst, &explained));
    src.data.mem.pi8 = (int8_t *)in;
    dst.data.mem.pi8 = (int8_t *)out;
    assert_ok(mli_mov_explain(&src, &cfg, &dst, &explained));
    dst.data.mem.pi16 = own_scale;
    assert_int_equal(mli_mov_explain(&src, &cfg, &dst, &explained), MLI_STATUS_SPEC_PARAM_MISMATCH);
    dst.el_params.sa.zero_point.mem.pi16 = own_scale;
    assert_int_equal(mli_mov_explain_unplaced(&src, &cfg, &dst, &explained),
                     MLI_STATUS_SPEC_PARAM_MISMATCH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_copies, plain, best),
        cmocka_unit_test_setup_teardown(test_elements, plain, best),
        cmocka_unit_test_setup_teardown(test_zeros, plain, best),
        cmocka_unit_test_setup_teardown(test_streams, plain, best),
        cmocka_unit_test_setup_teardown(test_split_of_an_empty_plan, plain, best),
        cmocka_unit_test_setup_teardown(test_split_is_worth_it, plain, best),
        cmocka_unit_test_setup_teardown(test_unplaced, plain, best),
        cmocka_unit_test_setup_teardown(test_unplaced_parameters, plain, best),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
