/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the helpers with the largest shapes and strides: addresses and products that need more than
 * 32 or 64 bits are refused. No data is read.
 */
#include <string.h>

#include "tests/support/unit.h"

static int8_t byte[64];

/* Makes three dimensions of the largest shape, with a stride that fits in 31 bits. */
static mli_tensor huge(int32_t stride)
{
    mli_tensor tensor = {
        .data = {.capacity = UINT32_MAX, .mem.pi8 = byte}, .rank = 3, .el_type = MLI_EL_FX_8};

    for (int d = 0; d < 3; d++) {
        tensor.shape[d] = UINT32_MAX;
        tensor.mem_stride[d] = stride;
    }
    return tensor;
}

static void test_products_of_shapes(void **state)
{
    mli_tensor tensor = huge(1);

    (void)state;
    assert_int_equal(mli_hlp_count_elem_num(&tensor, 2), UINT32_MAX);
    assert_int_equal(mli_hlp_count_elem_num(&tensor, 1), 0);
    assert_error_names("in.shape", MLI_STATUS_NOT_ENGH_MEM);
    /* with the extent 0 the product is 0, although the product of the other extents is too large */
    tensor.shape[2] = 0;
    assert_int_equal(mli_hlp_count_elem_num(&tensor, 0), 0);
    tensor.shape[0] = 3;
    tensor.shape[1] = 5;
    tensor.shape[2] = 286331153; /* 3 * 5 * 286331153 is 2^32 - 1 */
    assert_int_equal(mli_hlp_count_elem_num(&tensor, 0), UINT32_MAX);
    tensor.shape[1] = 6;
    assert_int_equal(mli_hlp_count_elem_num(&tensor, 0), 0);
}

static void test_subtensor(void **state)
{
    const mli_tensor in = huge(INT32_MAX);
    mli_sub_tensor_cfg cfg = {.size = {1, 1, 1}, .sub_tensor_rank = 3};
    mli_tensor out = {.rank = 9};

    (void)state;
    assert_ok(mli_hlp_subtensor(&in, &cfg, &out));
    for (int d = 0; d < 3; d++)
        cfg.offset[d] = UINT32_MAX - 1; /* the first element is beyond 64 bits */
    memset(&out, 0x5A, sizeof(out));
    assert_status(mli_hlp_subtensor(&in, &cfg, &out), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("in.mem_stride", MLI_STATUS_NOT_ENGH_MEM);
    for (int d = 0; d < 3; d++) {
        cfg.offset[d] = 0;
        cfg.size[d] = UINT32_MAX; /* the last element is beyond 64 bits */
    }
    assert_status(mli_hlp_subtensor(&in, &cfg, &out), MLI_STATUS_NOT_ENGH_MEM);
}

static void test_convert(void **state)
{
    mli_tensor from = huge(INT32_MAX), to = huge(INT32_MAX);

    (void)state;
    to.el_type = MLI_EL_FP_32;
    assert_status(mli_hlp_convert_tensor(&from, &to), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("src.mem_stride", MLI_STATUS_NOT_ENGH_MEM);
    /* the packed strides would need more than 31 bits */
    memset(from.mem_stride, 0, sizeof(from.mem_stride));
    assert_status(mli_hlp_convert_tensor(&from, &to), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("src", MLI_STATUS_NOT_ENGH_MEM);
}

/* The bytes of a tensor must not reach beyond the end of the address space; its last byte is legal.
 */
static void test_end_of_the_address_space(void **state)
{
    mli_tensor in = {.data = {.capacity = 64, .mem.pi8 = (int8_t *)(UINTPTR_MAX - 15)},
                     .shape = {16},
                     .rank = 1,
                     .el_type = MLI_EL_FX_8};
    mli_tensor out = {.data = {.capacity = 64, .mem.pi8 = byte}, .el_type = MLI_EL_FX_16};
    mli_sub_tensor_cfg part = {.size = {16}, .sub_tensor_rank = 1};
    mli_mov_memory memory = {.address = in.data.mem.pi8, .size = 17, .fd = -1};
    mli_mov_cfg_t cfg;

    (void)state;
    assert_ok(mli_mov_cfg_for_copy(&cfg));
    assert_ok(mli_mov_check(&in, &cfg, &out));
    assert_ok(mli_hlp_subtensor(&in, &part, &out));
    in.shape[0] = part.size[0] = 17;
    assert_status(mli_mov_check(&in, &cfg, &out), MLI_STATUS_NOT_ENGH_MEM);
    assert_status(mli_hlp_subtensor(&in, &part, &out), MLI_STATUS_NOT_ENGH_MEM);
    out = (mli_tensor){.data = {.capacity = 64, .mem.pi8 = byte}, .el_type = MLI_EL_FX_16};
    assert_status(mli_hlp_convert_tensor(&in, &out), MLI_STATUS_NOT_ENGH_MEM);
    assert_error_names("src.data.mem.address space", MLI_STATUS_NOT_ENGH_MEM);
    assert_status(mli_mov_attach_memory(&memory), MLI_STATUS_ARGUMENT_ERROR);
    memory.size = 16;
    assert_ok(mli_mov_attach_memory(&memory));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products_of_shapes),
        cmocka_unit_test(test_subtensor),
        cmocka_unit_test(test_convert),
        cmocka_unit_test(test_end_of_the_address_space),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
