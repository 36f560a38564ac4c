/* SPDX-License-Identifier: BSD-3-Clause */
/* Zeros, and copies past the caches, with AVX-512, for leaf_avx512.c. */
#ifndef MLI_EXEC_X86_STREAM_AVX512_H
#define MLI_EXEC_X86_STREAM_AVX512_H

#include "libmli/src/exec/leaf.h"

leaf_fill fill_avx512;
leaf_stream stream_avx512;
leaf_fence fence_avx512;

#endif /* MLI_EXEC_X86_STREAM_AVX512_H */
