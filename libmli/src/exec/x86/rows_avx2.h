/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, rows between zeros, zeros, and copies past the caches, for leaf_avx2.c and its kernels. */
#ifndef MLI_EXEC_X86_ROWS_AVX2_H
#define MLI_EXEC_X86_ROWS_AVX2_H

#include "libmli/src/exec/leaf.h"

leaf_rows rows_avx2;
leaf_bordered bordered_avx2;
leaf_fill fill_avx2;
leaf_stream stream_avx2;
leaf_fence fence_avx2;

#endif /* MLI_EXEC_X86_ROWS_AVX2_H */
