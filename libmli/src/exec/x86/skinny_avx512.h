/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes with one side of a few elements, for leaf_avx512.c. */
#ifndef MLI_EXEC_X86_SKINNY_AVX512_H
#define MLI_EXEC_X86_SKINNY_AVX512_H

#include "libmli/src/exec/leaf.h"

/** What a transpose of elements of 2^size_log bytes is given. */
struct skinny {
    uint32_t size_log;
    uint8_t *dst;
    size_t dst_step;
    const uint8_t *src;
    size_t src_step;
    size_t rows, cols;
};

/** Before the first use. */
void skinny_avx512_init(void);

/** Transposes it and returns true where this is the better way; else does nothing. */
bool skinny_avx512(const struct skinny *skinny);

/** The same past the caches. */
bool skinny_stream_avx512(const struct skinny *skinny);

/** Whether skinny_stream_avx512() would. */
bool skinny_streams_avx512(const struct skinny *skinny);

#endif /* MLI_EXEC_X86_SKINNY_AVX512_H */
