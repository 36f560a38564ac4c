/* SPDX-License-Identifier: BSD-3-Clause */
#include "stream_avx512.h"

#include "../level.h"

#if LEVEL_HAS_X86

#include <immintrin.h>

#include "../../bytes.h"
#include "../c/kernels_c.h"
#include "target.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")

#include "bytes_avx512.h"

enum {
    LINE = 64,
    PAGE = 4096,
    LANES = 1,       /* pages that are written at a time */
    CALL_MIN = 2048, /* zeros that memset is quicker with */
};

void fill_avx512(uint8_t *dst, size_t step, size_t run, size_t count)
{
    const __m512i zero = _mm512_setzero_si512();

    if (count == 1 || step == run) {
        run *= count;
        count = 1;
    }
    if (run <= LINE || run >= CALL_MIN) {
        fill_c(dst, step, run, count);
        return;
    }
    for (size_t i = 0; i < count; i++, dst += step) {
        for (size_t at = 0; at < run - LINE; at += LINE)
            store_64(dst + at, zero);
        store_64(dst + run - LINE, zero);
    }
}

BYTES_INLINE void stream_line(uint8_t *to, const uint8_t *from)
{
    _mm512_stream_si512((void *)to, load_64(from));
}

static void copy_part(uint8_t *to, const uint8_t *from, size_t bytes)
{
    const __mmask64 mask = low_bits(bytes);

    store_64_of(to, mask, load_64_of(mask, from));
}

#ifndef SRC_AHEAD
#define SRC_AHEAD 512
#endif
#ifndef PAGES_MIN
#define PAGES_MIN (4 * LANES * PAGE)
#endif

void stream_avx512(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    const size_t to_line = -(uintptr_t)dst % LINE, head = to_line < bytes ? to_line : bytes;

    if (head > 0) {
        copy_part(dst, src, head);
        dst += head;
        src += head;
        bytes -= head;
    }
    if (bytes >= PAGES_MIN) {
        for (; bytes >= LANES * PAGE; bytes -= LANES * PAGE) {
            for (size_t i = 0; i < PAGE; i += LINE) {
                for (size_t lane = 0; lane < LANES * PAGE; lane += PAGE) {
                    if (SRC_AHEAD)
                        __builtin_prefetch(src + lane + i + SRC_AHEAD, 0, 3);
                    stream_line(dst + lane + i, src + lane + i);
                }
            }
            dst += LANES * PAGE;
            src += LANES * PAGE;
        }
    }
    for (; bytes >= LINE; bytes -= LINE) {
        stream_line(dst, src);
        dst += LINE;
        src += LINE;
    }
    if (bytes > 0)
        copy_part(dst, src, bytes);
}

void fence_avx512(void)
{
    _mm_sfence();
}

TARGET_END

#endif
