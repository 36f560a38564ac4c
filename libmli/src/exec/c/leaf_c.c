/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/c/kernels_c.h"

const struct leaf_table leaf_c = {
    .name = "c",
    .rows = rows_c,
    .bordered = bordered_c,
    .gather = {gather_c_1, gather_c_2, gather_c_4, gather_c_8},
    .transpose = {transpose_c_1, transpose_c_2, transpose_c_4, transpose_c_8},
    .transpose_at = {transpose_at_c_1, transpose_at_c_2, transpose_at_c_4, transpose_at_c_8},
    .fill = fill_c,
    .small_panels = true,
};
