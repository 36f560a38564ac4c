/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests layouts and enum values on which code written for embARC MLI 2.0 relies. */
#include "tests/support/unit.h"

/* Sizes and offsets for LP64; on other systems only the order of the fields is checked. */
#if UINTPTR_MAX == UINT64_MAX
#define IS(type, field, offset, size)                                                              \
    _Static_assert(offsetof(type, field) == (offset), #type "." #field " moved");                  \
    _Static_assert(sizeof(((type *)0)->field) == (size), #type "." #field " has another size");
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type " has another size");
#else
#define IS(type, field, offset, size)
#define SIZE(type, size)
#endif

SIZE(mli_data_container, 16)
IS(mli_data_container, capacity, 0, 4)
IS(mli_data_container, mem, 8, 8)
IS(mli_data_container, mem.pi32, 8, 8)
IS(mli_data_container, mem.pi16, 8, 8)
IS(mli_data_container, mem.pi8, 8, 8)
IS(mli_data_container, mem.pf32, 8, 8)
IS(mli_data_container, mem.i32, 8, 4)
IS(mli_data_container, mem.i16, 8, 2)
IS(mli_data_container, mem.i8, 8, 1)
IS(mli_data_container, mem.f32, 8, 4)

SIZE(mli_element_params, 64)
IS(mli_element_params, fx.frac_bits, 0, 1)
IS(mli_element_params, sa.type, 0, 4)
IS(mli_element_params, sa.zero_point, 8, 16)
IS(mli_element_params, sa.scale, 24, 16)
IS(mli_element_params, sa.dim, 40, 4)
IS(mli_element_params, sa.scale_frac_bits, 48, 16)

SIZE(mli_tensor, 120)
IS(mli_tensor, data, 0, 16)
IS(mli_tensor, mem_stride, 16, 16)
IS(mli_tensor, shape, 32, 16)
IS(mli_tensor, rank, 48, 4)
IS(mli_tensor, el_type, 52, 4)
IS(mli_tensor, el_params, 56, 64)

SIZE(mli_mov_cfg_t, 92)
IS(mli_mov_cfg_t, offset, 0, 16)
IS(mli_mov_cfg_t, size, 16, 16)
IS(mli_mov_cfg_t, sub_sample_step, 32, 16)
IS(mli_mov_cfg_t, dst_offset, 48, 16)
IS(mli_mov_cfg_t, dst_mem_stride, 64, 16)
IS(mli_mov_cfg_t, perm_dim, 80, 4)
IS(mli_mov_cfg_t, padding_pre, 84, 4)
IS(mli_mov_cfg_t, padding_post, 88, 4)

SIZE(mli_permute_cfg, 4)
IS(mli_permute_cfg, perm_dim, 0, 4)

SIZE(mli_sub_tensor_cfg, 36)
IS(mli_sub_tensor_cfg, offset, 0, 16)
IS(mli_sub_tensor_cfg, size, 16, 16)
IS(mli_sub_tensor_cfg, sub_tensor_rank, 32, 4)

#define STATUS_IS(name, value) _Static_assert(MLI_STATUS_##name == (value), #name);
STATUS_IS(OK, 0)
STATUS_IS(BAD_TENSOR, 1)
STATUS_IS(SHAPE_MISMATCH, 2)
STATUS_IS(INCOMPATEBLE_TENSORS, 3)
STATUS_IS(BAD_FUNC_CFG, 4)
STATUS_IS(NOT_ENGH_MEM, 5)
STATUS_IS(NOT_SUPPORTED, 6)
STATUS_IS(SPEC_PARAM_MISMATCH, 7)
STATUS_IS(ARGUMENT_ERROR, 8)
STATUS_IS(LENGTH_ERROR, 9)
STATUS_IS(SIZE_MISMATCH, 10)
STATUS_IS(RANK_MISMATCH, 11)
STATUS_IS(TYPE_MISMATCH, 12)
STATUS_IS(MEM_BANK_MISMATCH, 13)
STATUS_IS(MISALIGNMENT_ERROR, 14)
STATUS_IS(LARGE_ENUM, 0x02000000)

#define TYPE_IS(name, value) _Static_assert(MLI_EL_##name == (value), #name);
TYPE_IS(FX_4, 0x4)
TYPE_IS(FX_8, 0x8)
TYPE_IS(FX_16, 0x10)
TYPE_IS(SA_8, 0x108)
TYPE_IS(SA_32, 0x120)
TYPE_IS(FP_16, 0x210)
TYPE_IS(FP_32, 0x220)
TYPE_IS(LARGE_ENUM, 0x02000000)
TYPE_IS(PARAM_SC16_ZP16, 0)

_Static_assert(sizeof(mli_status) == 4, "enums are 32 bits wide");
_Static_assert(sizeof(mli_element_type) == 4, "enums are 32 bits wide");
_Static_assert(sizeof(mli_el_param_type) == 4, "enums are 32 bits wide");

_Static_assert(MLI_MAX_RANK == 4, "rank");
_Static_assert(FMAP_H_DIM_HWC == 0 && FMAP_W_DIM_HWC == 1 && FMAP_C_DIM_HWC == 2, "HWC");
_Static_assert(FMAP_C_DIM_CHW == 0 && FMAP_H_DIM_CHW == 1 && FMAP_W_DIM_CHW == 2, "CHW");

/* Aliases are the same types, and the struct tags are embARC's. */
static void test_aliases_and_tags(void **state)
{
    struct _mli_data_container container = {0};
    union _mli_element_params params = {.fx = {.frac_bits = 1}};
    struct _mli_tensor tensor = {0};
    struct _mli_mov_cfg cfg = {0};
    struct _mli_mov_handle_t handle = {0};
    mli_data_container *a = &container;
    mli_element_params *b = &params;
    mli_tensor *c = &tensor;
    mli_mov_cfg_t *d = &cfg;
    mli_mov_cfg *e = d;
    mli_sub_tensor_cfg sub = {.sub_tensor_rank = 1};
    mli_subtensor_cfg *f = &sub;
    mli_mov_handle_t *g = &handle;

    (void)state;
    assert_true(a && b && c && d && e && f && g);
}

static void test_status_names_and_texts(void **state)
{
    (void)state;
    assert_string_equal(mli_status_name(MLI_STATUS_OK), "MLI_STATUS_OK");
    assert_string_equal(mli_status_name(MLI_STATUS_INCOMPATEBLE_TENSORS),
                        "MLI_STATUS_INCOMPATEBLE_TENSORS");
    assert_string_equal(mli_status_name(MLI_STATUS_MISALIGNMENT_ERROR),
                        "MLI_STATUS_MISALIGNMENT_ERROR");
    assert_string_equal(mli_status_name(MLI_STATUS_DMA_ERROR), "MLI_STATUS_DMA_ERROR");
    assert_string_equal(mli_status_name((mli_status)17), "MLI_STATUS_?");
    assert_string_equal(mli_status_name((mli_status)-1), "MLI_STATUS_?");
    assert_string_equal(mli_status_name(MLI_STATUS_LARGE_ENUM), "MLI_STATUS_?");
#define TEXT(name, value, text)                                                                    \
    assert_string_equal(mli_status_name(MLI_STATUS_##name), "MLI_STATUS_" #name);                  \
    assert_string_equal(mli_status_text(MLI_STATUS_##name), text);
    MLI_STATUS_TABLE(TEXT)
#undef TEXT
    assert_non_null(mli_status_text((mli_status)4711));
}

/* Inputs are const, so embARC's calls compile with and without const. */
static void test_prototypes(void **state)
{
    typedef mli_status move_fn(const mli_tensor *, const mli_mov_cfg_t *, mli_tensor *);
    typedef mli_status async_fn(mli_mov_handle_t *, const mli_tensor *, const mli_mov_cfg_t *,
                                mli_tensor *);
    typedef mli_status kernel_fn(const mli_tensor *, const mli_permute_cfg *, mli_tensor *);
    move_fn *sync = mli_mov_tensor_sync;
    async_fn *prepare = mli_mov_prepare, *start = mli_mov_start;
    kernel_fn *kernels[] = {mli_krn_permute_sa8, mli_krn_permute_fx8, mli_krn_permute_fx16,
                            mli_krn_permute_sa32};
    mli_status (*callback)(mli_mov_handle_t *, void (*)(int32_t), int32_t) =
        mli_mov_registercallback;
    bool (*isdone)(mli_mov_handle_t *) = mli_mov_isdone;
    int16_t (*scale)(const mli_tensor *) = mli_hlp_tensor_scale;
    uint8_t (*guard)(void) = mli_hlp_accu_guard_bits_fx16_fx8;

    (void)state;
    assert_true(sync && prepare && start && kernels[0] && callback && isdone && scale && guard);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_aliases_and_tags),
        cmocka_unit_test(test_status_names_and_texts),
        cmocka_unit_test(test_prototypes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
