/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads of registers lane by lane, from rows that are apart, and masks of registers. */
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

ALWAYS_INLINE __m128i load_1(const uint8_t *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

ALWAYS_INLINE __m256i load_2(const uint8_t *a, const uint8_t *b)
{
    return _mm256_inserti128_si256(_mm256_castsi128_si256(load_1(a)), load_1(b), 1);
}

/* Returns a mask of the first `bytes` bytes of a register of 64 bytes. */
ALWAYS_INLINE uint64_t first(size_t bytes)
{
    return bytes >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << bytes) - 1;
}
