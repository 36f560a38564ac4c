/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/evict.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

enum { LINE = 64, SWEEP = 256 << 20 };

static void (*how)(const uint8_t *from, const uint8_t *end);

#if defined(__x86_64__)
__attribute__((target("clflushopt"))) static void flush_opt(const uint8_t *from, const uint8_t *end)
{
    for (uintptr_t p = (uintptr_t)from & ~(uintptr_t)(LINE - 1); p < (uintptr_t)end; p += LINE)
        _mm_clflushopt((void *)p);
    _mm_mfence();
}

static void flush(const uint8_t *from, const uint8_t *end)
{
    for (uintptr_t p = (uintptr_t)from & ~(uintptr_t)(LINE - 1); p < (uintptr_t)end; p += LINE)
        _mm_clflush((void *)p);
    _mm_mfence();
}

const char *evict_init(void)
{
    unsigned int a, b = 0, c, d = 0;

    if (__get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_CLFLUSHOPT)) {
        how = flush_opt;
        return "clflushopt";
    }
    how = flush;
    return "clflush";
}
#else
/*
 * Displaces the memory from the caches with other data. Works for last-level caches of up to SWEEP
 * bytes only.
 */
static void sweep(const uint8_t *from, const uint8_t *end)
{
    static uint8_t *other;
    static uint8_t value;

    if (!other && !(other = malloc(SWEEP)))
        abort();
    memset(other, ++value, SWEEP);
    __asm__ volatile("" ::"r"(other), "r"(from), "r"(end) : "memory");
}

const char *evict_init(void)
{
    how = sweep;
    return "sweep";
}
#endif

void evict(const void *from, size_t bytes)
{
    how(from, (const uint8_t *)from + bytes);
}
