/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels with AVX-512 that write zeros, and copy with stores that bypass the caches. */
#include "libmli/src/exec/x86/kernels_avx512.h"

#include "libmli/src/exec/level.h"

#if LEVEL_HAS_AVX512

#include <immintrin.h>

#include "libmli/src/exec/c/kernels_c.h"
#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/x86/target.h"

TARGET_BEGIN("avx512f,avx512bw,avx512vl,avx512vbmi,bmi2,prfchw")

#include "libmli/src/exec/x86/bytes_avx512.h"

enum {
    LINE = 64,
    PAGE = 4096,
    PAGES_MIN = 4 * TUNE_AVX512_STREAM_PAGES * PAGE,
};

void fill_avx512(uint8_t *dst, size_t step, size_t run, size_t count)
{
    const __m512i zero = _mm512_setzero_si512();

    if (count == 1 || step == run) {
        run *= count;
        count = 1;
    }
    if (run <= 2 * LINE || run >= TUNE_AVX512_FILL_CALL_MIN) {
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

/* Streams several pages in turns, line by line: memory is faster with several streams. */
static void stream_pages(uint8_t *dst, const uint8_t *src)
{
    const size_t ahead = TUNED(avx512_stream_ahead);

    for (size_t i = 0; i < PAGE; i += LINE) {
        for (size_t lane = 0; lane < TUNE_AVX512_STREAM_PAGES * PAGE; lane += PAGE) {
            fetch_to_read(src + lane + i + ahead);
            stream_line(dst + lane + i, src + lane + i);
        }
    }
}

void stream_avx512(uint8_t *dst, const uint8_t *src, size_t bytes)
{
    const size_t to_line = -(uintptr_t)dst % LINE, head = to_line < bytes ? to_line : bytes;
    size_t at = head;

    if (head > 0)
        copy_part(dst, src, head);
    if (bytes >= PAGES_MIN) {
        for (; bytes - at >= TUNE_AVX512_STREAM_PAGES * PAGE; at += TUNE_AVX512_STREAM_PAGES * PAGE)
            stream_pages(dst + at, src + at);
    }
    for (; bytes - at >= LINE; at += LINE)
        stream_line(dst + at, src + at);
    if (at < bytes)
        copy_part(dst + at, src + at, bytes - at);
}

void fence_avx512(void)
{
    _mm_sfence();
}

TARGET_END

#endif
