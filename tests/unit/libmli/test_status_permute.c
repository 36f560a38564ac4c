/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests every status of a refused permute, without any change. */
#include <string.h>

#include "tests/unit/libmli/faults.h"

/* clang-format off */
#define FAULTS(X)                                                                                  \
    X(in_null, FX16, BAD_TENSOR, LAYOUT_ANY, "", t->psrc = NULL)                                   \
    X(out_null, FX16, BAD_TENSOR, LAYOUT_ANY, "", t->pdst = NULL)                                  \
    X(cfg_null, FX16, BAD_FUNC_CFG, LAYOUT_ANY, "cfg", t->ppermute = NULL)                         \
    X(in_data_null, FX16, BAD_TENSOR, LAYOUT_ANY, "data", t->src.data.mem.pi8 = NULL)              \
    X(out_data_null, FX16, BAD_TENSOR, LAYOUT_ANY, "data", t->dst.data.mem.pi8 = NULL)             \
    X(in_rank_0, FX16, BAD_TENSOR, LAYOUT_ANY, "rank", t->src.rank = 0)                            \
    X(in_rank_5, FX16, BAD_TENSOR, LAYOUT_ANY, "rank", t->src.rank = 5)                            \
    X(out_rank_0, FX16, BAD_TENSOR, LAYOUT_ANY, "rank", t->dst.rank = 0)                           \
    X(out_rank_5, FX16, BAD_TENSOR, LAYOUT_ANY, "rank", t->dst.rank = 5)                           \
    X(in_shape_0, FX16, BAD_TENSOR, LAYOUT_ANY, "shape", t->src.shape[1] = 0)                      \
    X(out_shape_0, FX16, BAD_TENSOR, LAYOUT_ANY, "shape", t->dst.shape[1] = 0)                     \
    X(in_stride, FX16, BAD_TENSOR, LAYOUT_ANY, "mem_stride", t->src.mem_stride[1] = -1)            \
    X(out_stride, FX16, BAD_TENSOR, LAYOUT_ANY, "mem_stride", t->dst.mem_stride[1] = -1)           \
    X(in_type_unknown, FX16, BAD_TENSOR, LAYOUT_ANY, "el_type",                                    \
      t->src.el_type = (mli_element_type)0x30)                                                     \
    X(out_type_unknown, FX16, BAD_TENSOR, LAYOUT_ANY, "el_type",                                   \
      t->dst.el_type = (mli_element_type)0x30)                                                     \
    X(in_fx4, FX16, NOT_SUPPORTED, LAYOUT_ANY, "el_type", t->src.el_type = MLI_EL_FX_4)            \
    X(out_fx4, FX16, NOT_SUPPORTED, LAYOUT_ANY, "el_type", t->dst.el_type = MLI_EL_FX_4)           \
    X(in_other_type, FX16, TYPE_MISMATCH, LAYOUT_ANY, "el_type", t->src.el_type = MLI_EL_FP_16)    \
    X(out_other_type, FX16, TYPE_MISMATCH, LAYOUT_ANY, "el_type", t->dst.el_type = MLI_EL_FP_16)   \
    X(both_other_type, FX16, TYPE_MISMATCH, LAYOUT_ANY, "el_type",                                 \
      t->src.el_type = t->dst.el_type = MLI_EL_FP_16)                                              \
    X(out_rank_less, FX16, SHAPE_MISMATCH, LAYOUT_ANY, "rank", t->dst.rank = 2)                    \
    X(out_rank_more, FX16, SHAPE_MISMATCH, LAYOUT_ANY, "rank", t->dst.rank = 4;                    \
      t->dst.shape[3] = 1)                                                                         \
    X(out_shape, FX16, SHAPE_MISMATCH, LAYOUT_ANY, "shape", t->dst.shape[0] = 3)                   \
    X(out_shape_more, FX16, SHAPE_MISMATCH, LAYOUT_ANY, "shape", t->dst.shape[2] = 5)              \
    X(out_not_permuted, FX16, SHAPE_MISMATCH, LAYOUT_ANY, "shape",                                 \
      memcpy(t->dst.shape, t->src.shape, sizeof(t->dst.shape)))                                    \
    X(perm_twice, FX16, BAD_FUNC_CFG, LAYOUT_ANY, "perm_dim", t->permute_cfg.perm_dim[1] = 2)      \
    X(perm_is_rank, FX16, BAD_FUNC_CFG, LAYOUT_ANY, "perm_dim", t->permute_cfg.perm_dim[1] = 3)    \
    X(perm_255, FX16, BAD_FUNC_CFG, LAYOUT_ANY, "perm_dim", t->permute_cfg.perm_dim[0] = 255)      \
    X(in_capacity, FX16, NOT_ENGH_MEM, LAYOUT_ANY, "capacity", t->src.data.capacity = 47)          \
    X(out_capacity, FX16, NOT_ENGH_MEM, LAYOUT_ANY, "capacity", t->dst.data.capacity = 47)         \
    X(in_stride_huge, FX16, NOT_ENGH_MEM, LAYOUT_ANY, "", t->src.mem_stride[0] = INT32_MAX)        \
    X(out_stride_huge, FX16, NOT_ENGH_MEM, LAYOUT_ANY, "", t->dst.mem_stride[1] = 0x40000000)      \
    X(same_memory, FX16, INCOMPATEBLE_TENSORS, LAYOUT_ANY, "",                                     \
      t->dst.data.mem.pi8 = t->src.data.mem.pi8)                                                   \
    X(last_byte, FX16, INCOMPATEBLE_TENSORS, LAYOUT_ANY, "",                                       \
      t->dst.data.mem.pi8 = t->src.data.mem.pi8 + 47)                                              \
    X(elements_overlap, FX16, INCOMPATEBLE_TENSORS, LAYOUT_ANY, "stride",                          \
      t->dst.mem_stride[0] = 1)                                                                    \
    X(axis_is_rank, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "dim",                              \
      t->src.el_params.sa.dim = 3)                                                                 \
    X(in_array_null, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "scale.!zero_point",                           \
      t->src.el_params.sa.scale.mem.pi16 = NULL)                                                   \
    X(in_array_short, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "zero_point.!scale",                     \
      t->src.el_params.sa.zero_point.capacity = 7)                                                 \
    X(out_array_short, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "scale_frac_bits.!zero_point",               \
      tile_give_arrays(t, TILE_OWN); t->dst.el_params.sa.scale_frac_bits.capacity = 3)             \
    X(in_array_in_out, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "in.scale.!zero_point",          \
      t->src.el_params.sa.scale.mem.pi16 = (int16_t *)(void *)t->out)                              \
    X(in_array_in_out_and_own, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "in.scale.!zero_point",  \
      tile_give_arrays(t, TILE_OWN);                                                               \
      t->src.el_params.sa.scale.mem.pi16 = (int16_t *)(void *)(t->out + 22))                       \
    X(out_array_null, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "",                               \
      tile_give_arrays(t, TILE_OWN); t->dst.el_params.sa.scale.mem.pi16 = NULL)                    \
    X(out_arrays_mixed, SA8_AXIS, SPEC_PARAM_MISMATCH, LAYOUT_ANY, "",                             \
      tile_give_arrays(t, TILE_SAME); t->dst.el_params.sa.scale.mem.pi16 = t->own_scale)
/* clang-format on */

/* First makes the legal permute, then the same permute with the fault. */
#define PERMUTE_FUNCTION(name, base, status, layout, names, code)                                  \
    static void inject_##name(struct tile *t)                                                      \
    {                                                                                              \
        tile_for_permute(t, 2, 0, 1);                                                              \
        code;                                                                                      \
    }

FAULTS(PERMUTE_FUNCTION)
FAULTS(FAULT_ENTRY)

static void refused_by_permute(void **state)
{
    const struct fault *f = *state;
    struct tile t, before;
    mli_status got;

    fault_make(f, &t);
    memcpy(&before, &t, sizeof(t));
    got = f->base == FX16 ? mli_krn_permute_fx16(t.psrc, t.ppermute, t.pdst)
                          : mli_krn_permute_sa8(t.psrc, t.ppermute, t.pdst);
    assert_status(got, f->status);
    assert_error_names(f->names, f->status);
    assert_memory_equal(&t, &before, sizeof(t));
}

/* The kernel of each type refuses all other types. */
static void test_kernels_and_types(void **state)
{
    typedef mli_status kernel_fn(const mli_tensor *, const mli_permute_cfg *, mli_tensor *);
    static kernel_fn *const kernels[] = {mli_krn_permute_sa8, mli_krn_permute_fx8,
                                         mli_krn_permute_fx16, mli_krn_permute_sa32};
    static const mli_element_type types[] = {MLI_EL_SA_8,  MLI_EL_FX_8,  MLI_EL_FX_16,
                                             MLI_EL_SA_32, MLI_EL_FP_16, MLI_EL_FP_32};
    struct tile t;

    (void)state;
    for (size_t k = 0; k < COUNT_OF(kernels); k++) {
        for (size_t i = 0; i < COUNT_OF(types); i++) {
            tile_init(&t, types[i]);
            tile_for_permute(&t, 1, 0, 2);
            assert_status(kernels[k](&t.src, &t.permute_cfg, &t.dst),
                          i == k ? MLI_STATUS_OK : MLI_STATUS_TYPE_MISMATCH);
        }
    }
}

#define PERMUTE_TEST(name, base, status, layout, names, code)                                      \
    {"permute: " #name, refused_by_permute, NULL, NULL, &fault_##name},

int main(void)
{
    const struct CMUnitTest tests[] = {FAULTS(PERMUTE_TEST)
                                           cmocka_unit_test(test_kernels_and_types)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
