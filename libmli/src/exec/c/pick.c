/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Picking elements that lie apart, in plain C. They are put together in a 64-bit register: storing
 * is what takes the time.
 */
#include "../../bytes.h"
#include "../nest.h"
#include "kernels_c.h"

/* Where in a register element i of so many bytes is. */
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define SHIFT(i, size) (8 * (i) * (size))
#else
#define SHIFT(i, size) (64 - 8 * ((i) + 1) * (size))
#endif

#define DEFINE_PICK(E, type)                                                                       \
    static inline uint64_t pick_8_bytes_##E(const uint8_t *from, size_t step)                      \
    {                                                                                              \
        uint64_t all = 0;                                                                          \
                                                                                                   \
        for (size_t i = 0; i < 8 / (E); i++, from += step) {                                       \
            type element;                                                                          \
                                                                                                   \
            copy_bytes(&element, from, E);                                                         \
            all |= (uint64_t)element << SHIFT(i, E);                                               \
        }                                                                                          \
        return all;                                                                                \
    }                                                                                              \
                                                                                                   \
    void pick_c_##E(const struct leaf_nest *nest, size_t step, size_t cols)                        \
    {                                                                                              \
        NEST_FOR_ROWS(nest, to, from, {                                                            \
            const uint8_t *at = from;                                                              \
            size_t c = 0;                                                                          \
                                                                                                   \
            for (; c + 8 / (E) <= cols; c += 8 / (E), at += 8 / (E)*step) {                        \
                const uint64_t all = pick_8_bytes_##E(at, step);                                   \
                                                                                                   \
                copy_bytes(to + c * (E), &all, 8);                                                 \
            }                                                                                      \
            for (; c < cols; c++, at += step)                                                      \
                copy_bytes(to + c * (E), at, E);                                                   \
        })                                                                                         \
    }

DEFINE_PICK(1, uint8_t)
DEFINE_PICK(2, uint16_t)
DEFINE_PICK(4, uint32_t)
DEFINE_PICK(8, uint64_t)
