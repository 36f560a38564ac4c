/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/c/kernels_c.h"

const struct leaf_table leaf_c = {
    .name = "c",
    .rows = rows_c,
    .bordered = bordered_c,
    .pick = {pick_c_1, pick_c_2, pick_c_4, pick_c_8},
    .transpose = {transpose_c_1, transpose_c_2, transpose_c_4, transpose_c_8},
    .transpose_at = {transpose_at_c_1, transpose_at_c_2, transpose_at_c_4, transpose_at_c_8},
    .fill = fill_c,
    .small_panels = true,
};
