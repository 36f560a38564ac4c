/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The kernels in plain C: the table leaf_c has them, and levels without a kernel for a case call
 * them.
 */
#ifndef MLI_EXEC_C_KERNELS_H
#define MLI_EXEC_C_KERNELS_H

#include "libmli/src/exec/leaf.h"

leaf_rows rows_c;
leaf_bordered bordered_c;
leaf_fill fill_c;
leaf_gather gather_c_1, gather_c_2, gather_c_4, gather_c_8;
leaf_transpose transpose_c_1, transpose_c_2, transpose_c_4, transpose_c_8;
leaf_transpose_at transpose_at_c_1, transpose_at_c_2, transpose_at_c_4, transpose_at_c_8;

#endif /* MLI_EXEC_C_KERNELS_H */
