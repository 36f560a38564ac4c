/* SPDX-License-Identifier: BSD-3-Clause */
/* Small elements in 64-bit words, with the first element in the lowest bits. */
#ifndef MLI_EXEC_C_WORDS_H
#define MLI_EXEC_C_WORDS_H

#include <stdint.h>

#define WORDS_LITTLE (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)

#define LOW_32 UINT64_C(0x00000000ffffffff)
#define LOW_16 UINT64_C(0x0000ffff0000ffff)
#define LOW_8  UINT64_C(0x00ff00ff00ff00ff)

/* Swaps the high half of each 2*bits group of *a with the low half of *b's. */
static inline void swap_halves(uint64_t *a, uint64_t *b, int bits, uint64_t low_halves)
{
    const uint64_t t = ((*a >> bits) ^ *b) & low_halves;

    *b ^= t;
    *a ^= t << bits;
}

/* Swaps the groups in the mask `low` with the groups `bits` higher. */
static inline uint64_t swap_within(uint64_t a, int bits, uint64_t low)
{
    const uint64_t t = ((a >> bits) ^ a) & low;

    return a ^ t ^ t << bits;
}

/* Moves bytes 0, 1, 2, 3 to the even places, and bytes 4, 5, 6, 7 to the odd places. */
static inline uint64_t zip_bytes(uint64_t a)
{
    return swap_within(swap_within(a, 16, UINT64_C(0x00000000ffff0000)), 8,
                       UINT64_C(0x0000ff000000ff00));
}

#endif /* MLI_EXEC_C_WORDS_H */
