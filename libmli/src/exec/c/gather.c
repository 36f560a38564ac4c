/* SPDX-License-Identifier: BSD-3-Clause */
/* Gathers elements that are apart, in plain C; small elements are collected in a 64-bit word. */
#include "libmli/src/bytes.h"
#include "libmli/src/exec/c/element_words.h"
#include "libmli/src/exec/c/kernels_c.h"
#include "libmli/src/exec/nest.h"

#if WORDS_LITTLE

/* Returns 8 bytes of results. */
#define DEFINE_WORD(E, type)                                                                       \
    static inline uint64_t word_##E(const uint8_t *from, size_t step)                              \
    {                                                                                              \
        uint64_t word = 0;                                                                         \
                                                                                                   \
        for (int bits = 0; bits < 64; bits += 8 * (E), from += step) {                             \
            type element;                                                                          \
                                                                                                   \
            copy_bytes(&element, from, E);                                                         \
            word |= (uint64_t)element << bits;                                                     \
        }                                                                                          \
        return word;                                                                               \
    }

DEFINE_WORD(1, uint8_t)
DEFINE_WORD(2, uint16_t)
DEFINE_WORD(4, uint32_t)

#define GATHER_WORDS(E, to, from)                                                                  \
    for (; c + 8 / (E) <= cols; c += 8 / (E)) {                                                    \
        const uint64_t word = word_##E((from) + c * step, step);                                   \
                                                                                                   \
        copy_bytes((to) + c * (E), &word, 8);                                                      \
    }

#else

#define GATHER_WORDS(E, to, from)

#endif

#define GATHER_SINGLY(E, to, from)                                                                 \
    for (; c < cols; c++)                                                                          \
        copy_bytes((to) + c * (E), (from) + c * step, E);

#define DEFINE_GATHER(E)                                                                           \
    void gather_c_##E(const struct leaf_nest *nest, size_t step, size_t cols)                      \
    {                                                                                              \
        NEST_FOR_ROWS(nest, to, from, {                                                            \
            size_t c = 0;                                                                          \
                                                                                                   \
            GATHER_WORDS(E, to, from)                                                              \
            GATHER_SINGLY(E, to, from)                                                             \
        })                                                                                         \
    }

DEFINE_GATHER(1)
DEFINE_GATHER(2)
DEFINE_GATHER(4)

void gather_c_8(const struct leaf_nest *nest, size_t step, size_t cols)
{
    NEST_FOR_ROWS(nest, to, from, {
        size_t c = 0;

        GATHER_SINGLY(8, to, from)
    })
}
