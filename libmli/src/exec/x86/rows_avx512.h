/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows and rows between zeros with AVX-512, for leaf_avx512.c. */
#ifndef MLI_EXEC_X86_ROWS_AVX512_H
#define MLI_EXEC_X86_ROWS_AVX512_H

#include "libmli/src/exec/leaf.h"

leaf_rows rows_avx512;
leaf_bordered bordered_avx512;

#endif /* MLI_EXEC_X86_ROWS_AVX512_H */
