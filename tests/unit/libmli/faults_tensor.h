/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of tensors and of their memory. The tile is (2, 3, 4) of fx16: 48 bytes. */
#ifndef TEST_FAULTS_TENSOR_H
#define TEST_FAULTS_TENSOR_H

/* clang-format off */
#define FAULTS_TENSOR(X)                                                                           \
    X(src_null, FX16, BAD_TENSOR, LAYOUT_SAME, "src", t->psrc = NULL)                              \
    X(dst_null, FX16, BAD_TENSOR, LAYOUT_SAME, "dst", t->pdst = NULL)                              \
    X(src_data_null, FX16, BAD_TENSOR, LAYOUT_OK, "src.data", t->src.data.mem.pi8 = NULL)          \
    X(dst_data_null, FX16, BAD_TENSOR, LAYOUT_OK, "dst.data", t->dst.data.mem.pi8 = NULL)          \
    X(src_rank_0, FX16, BAD_TENSOR, LAYOUT_SAME, "src.rank", t->src.rank = 0)                      \
    X(src_rank_5, FX16, BAD_TENSOR, LAYOUT_SAME, "src.rank", t->src.rank = 5)                      \
    X(src_rank_max, FX16, BAD_TENSOR, LAYOUT_SAME, "src.rank", t->src.rank = UINT32_MAX)           \
    X(src_shape0_0, FX16, BAD_TENSOR, LAYOUT_SAME, "src.shape", t->src.shape[0] = 0)               \
    X(src_shape2_0, FX16, BAD_TENSOR, LAYOUT_SAME, "src.shape", t->src.shape[2] = 0)               \
    X(src_stride_minus, FX16, BAD_TENSOR, LAYOUT_SAME, "src.mem_stride",                           \
      t->src.mem_stride[1] = -1)                                                                   \
    X(src_stride_min, FX16, BAD_TENSOR, LAYOUT_SAME, "src.mem_stride",                             \
      t->src.mem_stride[2] = INT32_MIN)                                                            \
    X(dst_stride_minus, FX16, BAD_TENSOR, LAYOUT_SAME, "dst.mem_stride",                           \
      t->dst.mem_stride[0] = -1)                                                                   \
    X(dst_stride_minus_overridden, FX16, BAD_TENSOR, LAYOUT_SAME, "dst.mem_stride",                \
      t->dst.mem_stride[0] = -1; t->cfg.dst_mem_stride[0] = 12)                                    \
    X(dst_stride_minus_before_cfg_window, FX16, BAD_TENSOR, LAYOUT_SAME, "dst.mem_stride",         \
      t->dst.mem_stride[2] = -1; t->cfg.offset[0] = 100)                                           \
    X(dst_stride_minus_before_cfg_stride, FX16, BAD_TENSOR, LAYOUT_SAME, "dst.mem_stride",         \
      t->dst.mem_stride[2] = -1; t->cfg.dst_mem_stride[0] = -1; t->cfg.perm_dim[0] = 9)            \
    X(src_type_0, FX16, BAD_TENSOR, LAYOUT_SAME, "src.el_type",                                    \
      t->src.el_type = (mli_element_type)0)                                                        \
    X(src_type_fp8, FX16, BAD_TENSOR, LAYOUT_SAME, "src.el_type",                                  \
      t->src.el_type = (mli_element_type)0x208)                                                    \
    X(src_type_large, FX16, BAD_TENSOR, LAYOUT_SAME, "src.el_type",                                \
      t->src.el_type = MLI_EL_LARGE_ENUM)                                                          \
    X(src_type_fx4, FX16, NOT_SUPPORTED, LAYOUT_SAME, "src.el_type",                               \
      t->src.el_type = MLI_EL_FX_4)                                                                \
    X(src_capacity_1_short, FX16, NOT_ENGH_MEM, LAYOUT_OK, "src.data.capacity",                    \
      t->src.data.capacity = 47)                                                                   \
    X(src_capacity_0, FX16, NOT_ENGH_MEM, LAYOUT_OK, "src.data.capacity",                          \
      t->src.data.capacity = 0)                                                                    \
    X(src_stride_too_far, FX16, NOT_ENGH_MEM, LAYOUT_OK, "src.data.capacity",                      \
      t->src.mem_stride[0] = 13)                                                                   \
    X(src_wraps, FX16, NOT_ENGH_MEM, LAYOUT_OK, "src.data.mem.address space",                       \
      t->src.data.mem.pi8 = (int8_t *)(UINTPTR_MAX - 46))                                           \
    X(dst_wraps, FX16, NOT_ENGH_MEM, LAYOUT_OK, "dst.data.mem.address space",                       \
      t->dst.data.mem.pi8 = (int8_t *)(UINTPTR_MAX - 46))                                           \
    X(src_stride_huge, FX16, NOT_ENGH_MEM, LAYOUT_ANY, "src",                                      \
      t->src.mem_stride[0] = INT32_MAX)                                                            \
    X(src_stride_wraps_32_bits, FX16, NOT_ENGH_MEM, LAYOUT_ANY, "src",                             \
      t->src.mem_stride[1] = 0x40000000)                                                           \
    X(src_too_large, FX16, NOT_ENGH_MEM, LAYOUT_SAME, "",                                          \
      t->src.shape[0] = t->src.shape[1] = t->src.shape[2] = UINT32_MAX)                            \
    X(dst_capacity_1_short, FX16, NOT_ENGH_MEM, LAYOUT_OK, "dst.data.capacity",                    \
      t->dst.data.capacity = 47)                                                                   \
    X(dst_capacity_0, FX16, NOT_ENGH_MEM, LAYOUT_OK, "dst.data.capacity",                          \
      t->dst.data.capacity = 0)                                                                    \
    X(dst_own_stride_too_far, FX16, NOT_ENGH_MEM, LAYOUT_OK, "dst.data.capacity",                  \
      t->dst.mem_stride[0] = 600)                                                                  \
    X(same_memory, FX16, INCOMPATEBLE_TENSORS, LAYOUT_OK, "",                                      \
      t->dst.data.mem.pi8 = t->src.data.mem.pi8)                                                   \
    X(last_byte_of_src, FX16, INCOMPATEBLE_TENSORS, LAYOUT_OK, "",                                 \
      t->dst.data.mem.pi8 = t->src.data.mem.pi8 + 47)                                              \
    X(first_byte_of_src, FX16, INCOMPATEBLE_TENSORS, LAYOUT_OK, "",                                \
      t->src.data.mem.pi8 = t->dst.data.mem.pi8 + 47)                                              \
    X(dst_elements_overlap, FX16, INCOMPATEBLE_TENSORS, LAYOUT_SAME, "stride",                     \
      t->dst.mem_stride[0] = 4)
/* clang-format on */

#endif /* TEST_FAULTS_TENSOR_H */
