/* SPDX-License-Identifier: BSD-3-Clause */
/* Registers of two lanes, and transposes among registers, for kernels with few rows or columns. */
#pragma once

#include "libmli/src/exec/tuning.h"
#include "libmli/src/exec/x86/lanes.h"

/* Sizes of a lane and of a register, in bytes. */
enum { LANE = 16, VEC = 32 };

ALWAYS_INLINE __m256i load_32(const uint8_t *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

ALWAYS_INLINE void store_32(uint8_t *at, __m256i v)
{
    _mm256_storeu_si256((__m256i *)(void *)at, v);
}

/* Stores a part of a row, and fetches the line `ahead` bytes further, which a later store of the
   row writes: otherwise that store would wait for its line. */
ALWAYS_INLINE void store_ahead(uint8_t *at, __m256i v, size_t ahead)
{
    __builtin_prefetch(at + ahead, 1, 3);
    store_32(at, v);
}

ALWAYS_INLINE void store_16(uint8_t *at, __m128i v)
{
    _mm_storeu_si128((__m128i *)(void *)at, v);
}

ALWAYS_INLINE __m256i both_lanes(const uint8_t *lane)
{
    return _mm256_broadcastsi128_si256(load_1(lane));
}

/* Returns the bytes of a lane from `first` on, followed by zeros. */
ALWAYS_INLINE __m128i slide(__m128i v, size_t first)
{
    static const uint8_t order[2 * LANE] = {0,    1,    2,    3,    4,    5,    6,    7,
                                            8,    9,    10,   11,   12,   13,   14,   15,
                                            0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
                                            0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};

    return _mm_shuffle_epi8(v, load_1(order + first));
}

/* Returns, in each lane, alternating elements of the low halves of a and b. */
ALWAYS_INLINE __m256i interleave_low(size_t size, __m256i a, __m256i b)
{
    return size == 1   ? _mm256_unpacklo_epi8(a, b)
           : size == 2 ? _mm256_unpacklo_epi16(a, b)
           : size == 4 ? _mm256_unpacklo_epi32(a, b)
                       : _mm256_unpacklo_epi64(a, b);
}

ALWAYS_INLINE __m256i interleave_high(size_t size, __m256i a, __m256i b)
{
    return size == 1   ? _mm256_unpackhi_epi8(a, b)
           : size == 2 ? _mm256_unpackhi_epi16(a, b)
           : size == 4 ? _mm256_unpackhi_epi32(a, b)
                       : _mm256_unpackhi_epi64(a, b);
}

/*
 * Transposes `count` registers, a power of two, in each lane. The index of an element is (k, i):
 * place i of register k. Every stage rotates the bits of the index by one place; after log2(count)
 * stages all bits of k are the low bits of i.
 */
ALWAYS_INLINE void interleave_registers(size_t size, size_t count, __m256i *x)
{
    _Pragma("GCC unroll 4") for (size_t stage = 1; stage < count; stage *= 2)
    {
        __m256i t[16];

        _Pragma("GCC unroll 8") for (size_t i = 0; i < count / 2; i++)
        {
            t[2 * i] = interleave_low(size, x[i], x[i + count / 2]);
            t[2 * i + 1] = interleave_high(size, x[i], x[i + count / 2]);
        }
        _Pragma("GCC unroll 16") for (size_t i = 0; i < count; i++) x[i] = t[i];
    }
}
