/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the move's configuration. The tile is (2, 3, 4) of fx16. */
#ifndef TEST_FAULTS_CFG_H
#define TEST_FAULTS_CFG_H

/* clang-format off */
#define FAULTS_CFG(X)                                                                              \
    X(cfg_null, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg", t->pcfg = NULL)                            \
    X(offset_is_shape, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.offset", t->cfg.offset[1] = 3)        \
    X(offset_max, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.offset",                                   \
      t->cfg.offset[0] = UINT32_MAX)                                                               \
    X(offset_past_padding, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.offset",                          \
      t->cfg.padding_pre[1] = 1; t->cfg.padding_post[1] = 2; t->cfg.offset[1] = 6)                 \
    X(size_over, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.size", t->cfg.size[2] = 5)                  \
    X(size_over_at_offset, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.size",                            \
      t->cfg.offset[2] = 2; t->cfg.size[2] = 3)                                                    \
    X(size_wraps, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.size",                                     \
      t->cfg.offset[2] = 2; t->cfg.size[2] = UINT32_MAX)                                           \
    X(size_past_padding, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.size",                              \
      t->cfg.padding_post[0] = 3; t->cfg.size[0] = 6)                                              \
    X(step_0, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.sub_sample_step",                              \
      t->cfg.sub_sample_step[2] = 0)                                                               \
    X(perm_twice, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.perm_dim", t->cfg.perm_dim[2] = 0)         \
    X(perm_is_rank, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.perm_dim", t->cfg.perm_dim[2] = 3)       \
    X(perm_255, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.perm_dim", t->cfg.perm_dim[0] = 255)         \
    X(dst_mem_stride_minus, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.dst_mem_stride",                 \
      t->cfg.dst_mem_stride[2] = -1)                                                               \
    X(dst_mem_stride_min, FX16, BAD_FUNC_CFG, LAYOUT_SAME, "cfg.dst_mem_stride",                   \
      t->cfg.dst_mem_stride[0] = INT32_MIN)                                                        \
    X(padding_over_capacity, FX16, NOT_ENGH_MEM, LAYOUT_OK, "dst.data.capacity",                   \
      t->cfg.padding_post[0] = 255)                                                                \
    X(dst_offset_over_capacity, FX16, NOT_ENGH_MEM, LAYOUT_OK, "dst.data.capacity",                \
      t->cfg.dst_offset[0] = 50)                                                                   \
    X(dst_offset_max, FX16, NOT_ENGH_MEM, LAYOUT_SAME, "dst",                                      \
      t->cfg.dst_offset[1] = UINT32_MAX)                                                           \
    X(dst_offset_wraps_stride, FX16, NOT_ENGH_MEM, LAYOUT_SAME, "dst",                             \
      t->cfg.dst_offset[2] = 0xFFFFFFF0u)                                                          \
    X(dst_mem_stride_too_far, FX16, NOT_ENGH_MEM, LAYOUT_OK, "dst.data.capacity",                  \
      t->cfg.dst_mem_stride[0] = 501)                                                              \
    X(dst_mem_stride_wraps_32_bits, FX16, NOT_ENGH_MEM, LAYOUT_SAME, "dst",                        \
      t->cfg.dst_mem_stride[1] = 0x40000000)                                                       \
    X(written_elements_overlap, FX16, INCOMPATEBLE_TENSORS, LAYOUT_SAME, "stride",                 \
      t->cfg.dst_mem_stride[1] = 2)                                                                \
    X(written_elements_equal, FX16, INCOMPATEBLE_TENSORS, LAYOUT_SAME, "stride",                   \
      t->cfg.dst_mem_stride[0] = 1)
/* clang-format on */

#endif /* TEST_FAULTS_CFG_H */
