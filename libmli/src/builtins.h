/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Builtins of the compiler: memcpy and memset, so that even a freestanding build turns copies of a
 * constant size into loads and stores; and 64-bit arithmetic with a check for overflow.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define copy_bytes(to, from, size) __builtin_memcpy((to), (from), (size))
#define zero_bytes(to, size)       __builtin_memset((to), 0, (size))

/* Overflow is rare. Each function returns true if the result is right. */

static inline bool checked_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    return !__builtin_expect(__builtin_add_overflow(a, b, sum), false);
}

static inline bool checked_mul(uint64_t a, uint64_t b, uint64_t *product)
{
    return !__builtin_expect(__builtin_mul_overflow(a, b, product), false);
}

/* *sum += a * b */
static inline bool checked_mul_add(uint64_t a, uint64_t b, uint64_t *sum)
{
    uint64_t product;

    return checked_mul(a, b, &product) && checked_add(*sum, product, sum);
}

/* Returns whether `size` bytes at an address that is not null end inside the address space. */
static inline bool fits_address_space(const void *address, uint64_t size)
{
    return size <= -(uintptr_t)address;
}
