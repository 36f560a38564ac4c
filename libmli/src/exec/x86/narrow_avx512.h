/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes with one side of less than 16 bytes, whatever the steps, for skinny_avx512.c. */
#ifndef MLI_EXEC_X86_NARROW_AVX512_H
#define MLI_EXEC_X86_NARROW_AVX512_H

#include "libmli/src/exec/x86/skinny_avx512.h"

/** Where rows, or columns, take less than 16 bytes transposes it and returns true. */
bool narrow_avx512(const struct skinny *skinny);

#endif /* MLI_EXEC_X86_NARROW_AVX512_H */
