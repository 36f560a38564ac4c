/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * 64-bit arithmetic with a check for overflow, which is rare. Each function returns true if the
 * result is right.
 */
#ifndef MLI_CHECKED_H
#define MLI_CHECKED_H

#include <stdbool.h>
#include <stdint.h>

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

#endif /* MLI_CHECKED_H */
