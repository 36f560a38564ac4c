/* SPDX-License-Identifier: BSD-3-Clause */
/* Fills memory with random bytes. */
#ifndef TESTS_SUPPORT_DRAW_FILL_H
#define TESTS_SUPPORT_DRAW_FILL_H

#include "cli/selftest/draw.h"

static inline void draw_fill(struct draw *draw, void *at, size_t bytes)
{
    uint8_t *to = at;

    for (size_t i = 0; i < bytes;) {
        uint64_t value = draw_next(draw);
        for (int k = 0; k < 8 && i < bytes; k++, i++, value >>= 8)
            to[i] = (uint8_t)value;
    }
}

#endif /* TESTS_SUPPORT_DRAW_FILL_H */
