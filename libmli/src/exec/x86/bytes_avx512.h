/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Loads and stores of whole and masked registers, at any alignment, and prefetches. Include this
 * header only between TARGET_BEGIN and TARGET_END.
 */
#pragma once

#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>

#define BYTES_INLINE static inline __attribute__((always_inline))

BYTES_INLINE __m512i load_64(const uint8_t *at)
{
    return _mm512_loadu_si512((const void *)at);
}

/* Does not read bytes outside the mask; they are zero in the result. */
BYTES_INLINE __m512i load_64_of(__mmask64 mask, const uint8_t *at)
{
    return _mm512_maskz_loadu_epi8(mask, (const void *)at);
}

BYTES_INLINE void store_64(uint8_t *at, __m512i v)
{
    _mm512_storeu_si512((void *)at, v);
}

BYTES_INLINE void store_64_of(uint8_t *at, __mmask64 mask, __m512i v)
{
    _mm512_mask_storeu_epi8((void *)at, mask, v);
}

BYTES_INLINE __m256i load_32(const uint8_t *at)
{
    return _mm256_loadu_si256((const void *)at);
}

BYTES_INLINE __m256i load_32_of(__mmask32 mask, const uint8_t *at)
{
    return _mm256_maskz_loadu_epi8(mask, (const void *)at);
}

BYTES_INLINE void store_32(uint8_t *at, __m256i v)
{
    _mm256_storeu_si256((void *)at, v);
}

BYTES_INLINE __m128i load_16(const uint8_t *at)
{
    return _mm_loadu_si128((const void *)at);
}

BYTES_INLINE __m128i load_16_of(__mmask16 mask, const uint8_t *at)
{
    return _mm_maskz_loadu_epi8(mask, (const void *)at);
}

BYTES_INLINE void store_16(uint8_t *at, __m128i v)
{
    _mm_storeu_si128((void *)at, v);
}

BYTES_INLINE void fetch_to_read(const uint8_t *at)
{
    __builtin_prefetch(at, 0, 3);
}

/*
 * Fetches into the second-level cache, which can wait for more lines at a time than the first-level
 * cache can.
 */
BYTES_INLINE void fetch_far(const uint8_t *at)
{
    __builtin_prefetch(at, 0, 2);
}

BYTES_INLINE void fetch_to_write(const uint8_t *at)
{
    __builtin_prefetch(at, 1, 3);
}

/* Returns a mask of the lowest `count` bits, up to 64. */
BYTES_INLINE __mmask64 low_bits(size_t count)
{
    return _bzhi_u64(UINT64_MAX, (uint32_t)count);
}
