/* SPDX-License-Identifier: BSD-3-Clause */
/* Picking elements that lie apart, in plain C. */
#include "../../bytes.h"
#include "../nest.h"
#include "kernels_c.h"

#define DEFINE_PICK(E)                                                                             \
    void pick_c_##E(const struct leaf_nest *nest, size_t step, size_t cols)                        \
    {                                                                                              \
        NEST_FOR_ROWS(nest, to, from, {                                                            \
            const uint8_t *at = from;                                                              \
                                                                                                   \
            for (size_t c = 0; c < cols; c++, at += step)                                          \
                copy_bytes(to + c * (E), at, E);                                                   \
        })                                                                                         \
    }

DEFINE_PICK(1)
DEFINE_PICK(2)
DEFINE_PICK(4)
DEFINE_PICK(8)
