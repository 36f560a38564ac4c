/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of per-axis parameters. The tile is (2, 3, 4) of sa8, per axis along dimension 2. */
#ifndef TEST_FAULTS_QUANT_H
#define TEST_FAULTS_QUANT_H

#define SRC_SA t->src.el_params.sa
#define DST_SA t->dst.el_params.sa

/* clang-format off */
#define QUANT(X, name, layout, names, code)                                                        \
    X(name, SA8_AXIS, SPEC_PARAM_MISMATCH, layout, names, code)

#define FAULTS_QUANT(X)                                                                            \
    QUANT(X, axis_is_rank, LAYOUT_SAME, "src.dim", SRC_SA.dim = 3)                                 \
    QUANT(X, axis_max, LAYOUT_SAME, "src.dim", SRC_SA.dim = INT32_MAX)                             \
    QUANT(X, src_zero_point_null, LAYOUT_OK, "src.zero_point.!scale", SRC_SA.zero_point.mem.pi16 = NULL)  \
    QUANT(X, src_scale_null, LAYOUT_OK, "src.scale.!zero_point", SRC_SA.scale.mem.pi16 = NULL)                 \
    QUANT(X, src_frac_null, LAYOUT_OK, "src.scale_frac_bits.!zero_point",                                      \
          SRC_SA.scale_frac_bits.mem.pi8 = NULL)                                                   \
    QUANT(X, src_zero_point_short, LAYOUT_OK, "src.zero_point.!scale", SRC_SA.zero_point.capacity = 7)    \
    QUANT(X, src_scale_short, LAYOUT_OK, "src.scale.!zero_point", SRC_SA.scale.capacity = 7)                   \
    QUANT(X, src_frac_short, LAYOUT_OK, "src.scale_frac_bits.!zero_point",                                     \
          SRC_SA.scale_frac_bits.capacity = 3)                                                     \
    QUANT(X, own_zero_point_null, LAYOUT_OK, "",                                                   \
          tile_give_arrays(t, TILE_OWN); DST_SA.zero_point.mem.pi16 = NULL)                        \
    QUANT(X, own_scale_null, LAYOUT_OK, "",                                                        \
          tile_give_arrays(t, TILE_OWN); DST_SA.scale.mem.pi16 = NULL)                             \
    QUANT(X, own_frac_null, LAYOUT_OK, "",                                                         \
          tile_give_arrays(t, TILE_OWN); DST_SA.scale_frac_bits.mem.pi8 = NULL)                    \
    QUANT(X, only_zero_point_given, LAYOUT_OK, "", DST_SA.zero_point.mem.pi16 = t->own_zero_point; \
          DST_SA.zero_point.capacity = 32)                                                         \
    QUANT(X, same_but_scale_null, LAYOUT_OK, "",                                                   \
          tile_give_arrays(t, TILE_SAME); DST_SA.scale.mem.pi16 = NULL)                            \
    QUANT(X, same_but_frac_own, LAYOUT_OK, "", tile_give_arrays(t, TILE_SAME);                     \
          DST_SA.scale_frac_bits.mem.pi8 = t->own_frac; DST_SA.scale_frac_bits.capacity = 16)      \
    QUANT(X, own_but_scale_same, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);                     \
          DST_SA.scale.mem.pi16 = t->scale)                                                        \
    QUANT(X, own_zero_point_short, LAYOUT_OK, "dst.zero_point.!scale", tile_give_arrays(t, TILE_OWN);     \
          DST_SA.zero_point.capacity = 7)                                                          \
    QUANT(X, own_scale_short, LAYOUT_OK, "dst.scale.!zero_point", tile_give_arrays(t, TILE_OWN);               \
          DST_SA.scale.capacity = 7)                                                               \
    QUANT(X, own_frac_short, LAYOUT_OK, "dst.scale_frac_bits.!zero_point", tile_give_arrays(t, TILE_OWN);      \
          DST_SA.scale_frac_bits.capacity = 3)                                                     \
    QUANT(X, own_capacity_0, LAYOUT_OK, "dst.scale.!zero_point", tile_give_arrays(t, TILE_OWN);                \
          DST_SA.scale.capacity = 0)                                                               \
    QUANT(X, own_short_for_dst_offset, LAYOUT_OK, "dst", tile_give_arrays(t, TILE_OWN);            \
          DST_SA.scale.capacity = 8; t->cfg.dst_offset[2] = 1)                                     \
    QUANT(X, own_short_for_padding, LAYOUT_OK, "dst", tile_give_arrays(t, TILE_OWN);               \
          DST_SA.scale.capacity = 8; t->cfg.padding_post[2] = 1)                                   \
    QUANT(X, own_arrays_are_one, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);                     \
          DST_SA.zero_point.mem.pi16 = t->own_scale)                                               \
    QUANT(X, own_arrays_meet, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);                        \
          DST_SA.zero_point.mem.pi16 = t->own_scale + 3)                                           \
    QUANT(X, own_meets_src_array, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);                    \
          DST_SA.scale.mem.pi16 = t->scale + 1)                                                    \
    QUANT(X, own_is_another_of_src, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);                  \
          DST_SA.scale.mem.pi16 = t->zero_point)                                                   \
    QUANT(X, own_array_ends_in_own_array, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);              \
          DST_SA.zero_point.mem.pi16 = t->own_scale - 3)                                           \
    QUANT(X, own_array_meets_end_of_src_array, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);       \
          DST_SA.scale.mem.pi16 = t->zero_point + 3)                                               \
    QUANT(X, own_array_meets_end_of_dst, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);             \
          t->cfg.dst_offset[0] = 1; DST_SA.scale.mem.pi16 = (int16_t *)(void *)(t->out + 34))      \
    QUANT(X, own_array_meets_end_of_src, LAYOUT_OK, "", tile_give_arrays(t, TILE_OWN);             \
          t->cfg.offset[0] = 1; DST_SA.scale.mem.pi16 = (int16_t *)(void *)(t->in + 22))           \
    QUANT(X, src_array_wraps, LAYOUT_OK, "src.sa: 8 B.address space",                    \
          SRC_SA.scale.mem.pi16 = (int16_t *)(UINTPTR_MAX - 5))                                    \
    QUANT(X, own_array_wraps, LAYOUT_OK, "dst.sa: 4 B.address space",          \
          tile_give_arrays(t, TILE_OWN);                                                           \
          DST_SA.scale_frac_bits.mem.pi8 = (int8_t *)(UINTPTR_MAX - 2))                            \
    QUANT(X, src_array_in_dst, LAYOUT_OK, "src.scale.!zero_point",                                 \
          SRC_SA.scale.mem.pi16 = (int16_t *)(void *)t->out)                                       \
    QUANT(X, src_array_ends_in_dst, LAYOUT_OK, "src.zero_point.!scale", t->cfg.dst_offset[0] = 1;  \
          SRC_SA.zero_point.mem.pi16 = (int16_t *)(void *)(t->out + 6))                            \
    QUANT(X, src_array_meets_end_of_dst, LAYOUT_OK, "src.scale_frac_bits.!zero_point",             \
          SRC_SA.scale_frac_bits.mem.pi8 = (int8_t *)t->out + 23)                                  \
    QUANT(X, src_array_in_dst_and_same, LAYOUT_OK, "src.scale.!zero_point",                        \
          SRC_SA.scale.mem.pi16 = (int16_t *)(void *)t->out; t->dst.el_params = t->src.el_params)  \
    QUANT(X, src_array_in_dst_and_own, LAYOUT_OK, "src.scale.!zero_point",                         \
          tile_give_arrays(t, TILE_OWN); SRC_SA.scale.mem.pi16 = (int16_t *)(void *)(t->out + 8))  \
    QUANT(X, null_and_padded_before, LAYOUT_OK, "", t->cfg.padding_pre[2] = 1)                     \
    QUANT(X, null_and_padded_behind, LAYOUT_OK, "", t->cfg.padding_post[2] = 1)                    \
    QUANT(X, null_and_offset, LAYOUT_OK, "", t->cfg.offset[2] = 1)                                 \
    QUANT(X, null_and_cropped, LAYOUT_OK, "", t->cfg.size[2] = 3)                                  \
    QUANT(X, null_and_subsampled, LAYOUT_OK, "", t->cfg.sub_sample_step[2] = 2)                    \
    QUANT(X, null_and_placed, LAYOUT_OK, "", t->cfg.dst_offset[2] = 1)                             \
    QUANT(X, null_and_shifted, LAYOUT_OK, "", t->cfg.padding_pre[2] = 1; t->cfg.size[2] = 4)       \
    QUANT(X, null_and_padding_cropped, LAYOUT_OK, "", t->cfg.padding_pre[2] = 1;                   \
          t->cfg.offset[2] = 1)                                                                    \
    QUANT(X, null_and_padding_behind_cropped, LAYOUT_OK, "", t->cfg.padding_post[2] = 1;           \
          t->cfg.size[2] = 4)                                                                      \
    QUANT(X, same_and_padded, LAYOUT_OK, "", tile_give_arrays(t, TILE_SAME);                       \
          t->cfg.padding_post[2] = 1)                                                              \
    QUANT(X, same_and_cropped, LAYOUT_OK, "", tile_give_arrays(t, TILE_SAME);                      \
          t->cfg.size[2] = 3)                                                                      \
    QUANT(X, same_and_subsampled, LAYOUT_OK, "", tile_give_arrays(t, TILE_SAME);                   \
          t->cfg.sub_sample_step[2] = 3)                                                           \
    QUANT(X, same_and_placed, LAYOUT_OK, "", tile_give_arrays(t, TILE_SAME);                       \
          t->cfg.dst_offset[2] = 2)                                                                \
    QUANT(X, permuted_axis_placed, LAYOUT_OK, "", t->cfg.perm_dim[0] = 2;                          \
          t->cfg.perm_dim[2] = 0; t->cfg.dst_offset[0] = 1)
/* clang-format on */

#endif /* TEST_FAULTS_QUANT_H */
