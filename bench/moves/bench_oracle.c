/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/bench_oracle.h"

#include <string.h>

/*
 * Returns the byte offset in the source of destination coordinate c; a negative number in the
 * padding.
 */
static inline int64_t from_at(const struct axis *a, uint32_t c, uint32_t elem)
{
    const int64_t x = a->first + (int64_t)c * a->step;

    return x >= 0 && x < a->extent ? x * a->from * elem : INT64_MIN / 8;
}

static inline int64_t to_at(const struct axis *a, uint32_t c, uint32_t elem)
{
    return (int64_t)(a->at + c) * a->to * elem;
}

/* The function is inlined with a constant elem, so that an element is one load and one store. */
__attribute__((always_inline)) static inline void loop(const struct axis *a, const uint8_t *src,
                                                       uint8_t *dst, uint32_t elem)
{
    for (uint32_t i = 0; i < a[0].count; i++) {
        const int64_t fi = from_at(&a[0], i, elem), ti = to_at(&a[0], i, elem);

        for (uint32_t j = 0; j < a[1].count; j++) {
            const int64_t fj = fi + from_at(&a[1], j, elem), tj = ti + to_at(&a[1], j, elem);

            for (uint32_t k = 0; k < a[2].count; k++) {
                const int64_t fk = fj + from_at(&a[2], k, elem), tk = tj + to_at(&a[2], k, elem);

                for (uint32_t l = 0; l < a[3].count; l++) {
                    const int64_t from = fk + from_at(&a[3], l, elem);
                    uint8_t *to = dst + tk + to_at(&a[3], l, elem);

                    if (from < 0)
                        memset(to, 0, elem);
                    else
                        memcpy(to, src + from, elem);
                }
            }
        }
    }
}

void oracle_write(const struct job *j, uint8_t *dst)
{
    const struct axis one = {.count = 1, .step = 1, .extent = 1, .inside = 1};
    struct axis axes[CASE_RANK] = {one, one, one, one};

    memcpy(axes + CASE_RANK - j->rank, j->axis, j->rank * sizeof(axes[0]));
    if (j->elem == 1)
        loop(axes, j->src, dst, 1);
    else if (j->elem == 2)
        loop(axes, j->src, dst, 2);
    else
        loop(axes, j->src, dst, 4);
}
