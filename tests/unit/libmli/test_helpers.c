/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests properties of tensors: element size, counts, quantisation values, packed strides, error
 * texts.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

static void test_element_size(void **state)
{
    static const struct {
        uint32_t type, size;
    } table[] = {{MLI_EL_FX_8, 1},  {MLI_EL_SA_8, 1},  {MLI_EL_FX_16, 2}, {MLI_EL_FP_16, 2},
                 {MLI_EL_SA_32, 4}, {MLI_EL_FP_32, 4}, {MLI_EL_FX_4, 0},  {0, 0},
                 {0x20, 0},         {0x110, 0},        {0x208, 0},        {0x02000000, 0}};
    mli_tensor t = {.rank = 1, .shape = {1}};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++) {
        t.el_type = (mli_element_type)table[i].type;
        assert_int_equal(mli_hlp_tensor_element_size(&t), table[i].size);
    }
    assert_int_equal(mli_hlp_tensor_element_size(NULL), 0);
}

static void test_count_elem_num(void **state)
{
    mli_tensor t = {.rank = 4, .shape = {2, 3, 5, 7}, .el_type = MLI_EL_FX_8};

    (void)state;
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 210);
    assert_int_equal(mli_hlp_count_elem_num(&t, 1), 105);
    assert_int_equal(mli_hlp_count_elem_num(&t, 2), 35);
    assert_int_equal(mli_hlp_count_elem_num(&t, 3), 7);
    t.rank = 2; /* entries beyond the rank are ignored */
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 6);
}

/* A scalar is one element, for any shape and start dimension. */
static void test_count_elem_num_of_scalars(void **state)
{
    mli_tensor t = {.rank = 0, .shape = {0, 3, 5, 7}, .el_type = MLI_EL_FX_8};

    (void)state;
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 1);
    assert_int_equal(mli_hlp_count_elem_num(&t, 3), 1);
    assert_int_equal(mli_hlp_count_elem_num(&t, UINT32_MAX), 1);
}

static void test_data_ptr_cmp(void **state)
{
    static int16_t data[2];
    mli_tensor a = {.rank = 1, .shape = {1}, .el_type = MLI_EL_FX_16, .data.mem.pi16 = data};
    mli_tensor b = a;

    (void)state;
    b.shape[0] = 2;
    assert_true(mli_hlp_tensor_data_ptr_cmp(&a, &b));
    assert_true(mli_hlp_tensor_data_ptr_cmp(&a, &a));
    b.data.mem.pi16 = data + 1;
    assert_false(mli_hlp_tensor_data_ptr_cmp(&a, &b));
    b = a;
    b.el_type = MLI_EL_FP_16;
    assert_false(mli_hlp_tensor_data_ptr_cmp(&a, &b));
    b = a;
    b.rank = 0;
    assert_false(mli_hlp_tensor_data_ptr_cmp(&a, &b));
    assert_false(mli_hlp_tensor_data_ptr_cmp(&b, &a));
    assert_false(mli_hlp_tensor_data_ptr_cmp(NULL, &a));
    assert_false(mli_hlp_tensor_data_ptr_cmp(&a, NULL));
    a.el_type = MLI_EL_FX_4;
    assert_false(mli_hlp_tensor_data_ptr_cmp(&a, &a));
}

static void test_count_elem_num_refuses(void **state)
{
    mli_tensor t = {.rank = 3, .shape = {2, 3, 5, 7}, .el_type = MLI_EL_FX_8};

    (void)state;
    assert_int_equal(mli_hlp_count_elem_num(NULL, 0), 0);
    assert_int_equal(mli_hlp_count_elem_num(&t, 3), 0);
    assert_int_equal(mli_hlp_count_elem_num(&t, UINT32_MAX), 0);
    t.rank = 5;
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 0);
}

static void test_count_elem_num_overflow(void **state)
{
    mli_tensor t = {.rank = 2, .shape = {0x10000, 0x10000}, .el_type = MLI_EL_FX_8};

    (void)state;
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 0);
    assert_true(mli_last_error()[0] != '\0');
    t.shape[1] = 0xFFFF;
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 0xFFFF0000u);
    t.shape[0] = 1;
    t.shape[1] = UINT32_MAX;
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), UINT32_MAX);
    t.shape[0] = 3; /* in 32 bits, 3 * (2^32 - 1) wraps to a number that is still large */
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 0);
    t = (mli_tensor){.rank = 4, .shape = {0x10000, 0x10000, 0x10000, 0x10000}};
    assert_int_equal(mli_hlp_count_elem_num(&t, 0), 0); /* 2^64 */
}

/* Checks scale, shift and zero offset of one tensor. */
static void assert_values(const mli_tensor *t, int scale, int shift, int zero)
{
    assert_int_equal(mli_hlp_tensor_scale(t), scale);
    assert_int_equal(mli_hlp_tensor_scale_shift(t), shift);
    assert_int_equal(mli_hlp_tensor_zero_offset(t), zero);
}

static void test_quantisation_values(void **state)
{
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_SA_8);
    assert_values(&t.src, 77, 10, -3);
    t.src.el_params.sa.scale.mem.i16 = INT16_MIN;
    t.src.el_params.sa.scale_frac_bits.mem.i8 = -5;
    t.src.el_params.sa.zero_point.mem.i16 = INT16_MAX;
    assert_values(&t.src, INT16_MIN, -5, INT16_MAX);
    tile_init(&t, MLI_EL_SA_32);
    tile_per_axis(&t, 2, TILE_NULL);
    assert_values(&t.src, 200, 1, 100);
    tile_init(&t, MLI_EL_FX_8);
    assert_values(&t.src, 1, 5, 0);
    tile_init(&t, MLI_EL_FX_16);
    t.src.el_params.fx.frac_bits = -2;
    assert_values(&t.src, 1, -2, 0);
    tile_init(&t, MLI_EL_FP_16);
    assert_values(&t.src, 1, 0, 0);
    tile_init(&t, MLI_EL_FP_32);
    assert_values(&t.src, 1, 0, 0);
}

static void test_quantisation_values_of_invalid_tensors(void **state)
{
    struct tile t;

    (void)state;
    assert_values(NULL, 0, 0, 0);
    tile_init(&t, MLI_EL_SA_8);
    t.src.el_type = (mli_element_type)0x4711;
    assert_values(&t.src, 0, 0, 0);
    tile_init(&t, MLI_EL_SA_8);
    tile_per_axis(&t, 2, TILE_NULL);
    t.src.el_params.sa.scale.mem.pi16 = NULL;
    t.src.el_params.sa.scale_frac_bits.mem.pi8 = NULL;
    t.src.el_params.sa.zero_point.mem.pi16 = NULL;
    assert_values(&t.src, 0, 0, 0);
}

static void test_set_tensor_mem_strides(void **state)
{
    static const int32_t want4[4] = {105, 35, 7, 1}, want2[4] = {3, 1, 0, 0};
    mli_tensor t = {.rank = 4, .shape = {2, 3, 5, 7}, .mem_stride = {-9, -9, -9, -9}}, before = t;

    (void)state;
    assert_ok(mli_hlp_set_tensor_mem_strides(&t));
    assert_memory_equal(t.mem_stride, want4, sizeof(want4));
    memcpy(before.mem_stride, want4, sizeof(want4));
    assert_memory_equal(&t, &before, sizeof(t));
    t.rank = 2;
    assert_ok(mli_hlp_set_tensor_mem_strides(&t));
    assert_memory_equal(t.mem_stride, want2, sizeof(want2));
}

static void assert_strides_refused(mli_tensor t, mli_status status, const char *names)
{
    mli_tensor before;

    memcpy(&before, &t, sizeof(t));
    assert_status(mli_hlp_set_tensor_mem_strides(&t), status);
    assert_error_names(names, status);
    assert_memory_equal(&t, &before, sizeof(t));
}

static void test_set_tensor_mem_strides_refuses(void **state)
{
    mli_tensor fits = {.rank = 2, .shape = {2, INT32_MAX}};

    (void)state;
    assert_status(mli_hlp_set_tensor_mem_strides(NULL), MLI_STATUS_BAD_TENSOR);
    assert_strides_refused((mli_tensor){.rank = 0}, MLI_STATUS_BAD_TENSOR, "rank");
    assert_strides_refused((mli_tensor){.rank = 5, .shape = {1, 1, 1, 1}}, MLI_STATUS_BAD_TENSOR,
                           "rank");
    assert_strides_refused((mli_tensor){.rank = 2, .shape = {2, 0}}, MLI_STATUS_BAD_TENSOR,
                           "shape");
    assert_strides_refused((mli_tensor){.rank = 2, .shape = {2, 0x80000000u}},
                           MLI_STATUS_NOT_ENGH_MEM, "");
    assert_strides_refused((mli_tensor){.rank = 4, .shape = {2, 0x10000, 0x10000, 0x10000}},
                           MLI_STATUS_NOT_ENGH_MEM, "");
    assert_ok(mli_hlp_set_tensor_mem_strides(&fits));
    assert_int_equal(fits.mem_stride[0], INT32_MAX);
}

static void test_version(void **state)
{
    int major = -1, minor = -1, patch = -1;

    (void)state;
    assert_non_null(mli_version());
    assert_int_equal(sscanf(mli_version(), "%d.%d.%d", &major, &minor, &patch), 3);
    assert_true(major >= 0 && minor >= 0 && patch >= 0);
}

static void *last_error_of_a_new_thread(void *unused)
{
    static char copy[2][256];

    (void)unused;
    strncpy(copy[0], mli_last_error(), sizeof(copy[0]) - 1);
    (void)mli_mov_cfg_for_copy(NULL);
    strncpy(copy[1], mli_last_error(), sizeof(copy[1]) - 1);
    return copy;
}

static void test_last_error_is_the_threads_own(void **state)
{
    char mine[256] = "";
    pthread_t thread;
    void *result;
    const char(*other)[256];
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 9;
    assert_status(tile_sync(&t), MLI_STATUS_BAD_TENSOR);
    strncpy(mine, mli_last_error(), sizeof(mine) - 1);
    assert_true(mine[0] != '\0');
    assert_int_equal(pthread_create(&thread, NULL, last_error_of_a_new_thread, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    other = result;
    assert_string_equal(other[0], ""); /* no call was refused on the new thread yet */
    assert_true(other[1][0] != '\0');
    assert_string_equal(mli_last_error(), mine);
}

static void test_last_error_survives_success(void **state)
{
    char mine[256] = "";
    struct tile t;

    (void)state;
    tile_init(&t, MLI_EL_FX_8);
    t.src.rank = 0;
    assert_status(tile_sync(&t), MLI_STATUS_BAD_TENSOR);
    strncpy(mine, mli_last_error(), sizeof(mine) - 1);
    tile_init(&t, MLI_EL_FX_8);
    assert_ok(tile_sync(&t));
    assert_string_equal(mli_last_error(), mine);
    t.cfg.sub_sample_step[1] = 0;
    assert_status(tile_sync(&t), MLI_STATUS_BAD_FUNC_CFG);
    assert_string_not_equal(mli_last_error(), mine);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_element_size),
        cmocka_unit_test(test_count_elem_num),
        cmocka_unit_test(test_count_elem_num_of_scalars),
        cmocka_unit_test(test_data_ptr_cmp),
        cmocka_unit_test(test_count_elem_num_refuses),
        cmocka_unit_test(test_count_elem_num_overflow),
        cmocka_unit_test(test_quantisation_values),
        cmocka_unit_test(test_quantisation_values_of_invalid_tensors),
        cmocka_unit_test(test_set_tensor_mem_strides),
        cmocka_unit_test(test_set_tensor_mem_strides_refuses),
        cmocka_unit_test(test_version),
        cmocka_unit_test(test_last_error_is_the_threads_own),
        cmocka_unit_test(test_last_error_survives_success),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
