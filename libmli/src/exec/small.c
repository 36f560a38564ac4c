/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/small.h"

#include <stdbool.h>

#include "libmli/src/bytes.h"
#include "libmli/src/exec/copy.h"

static const struct mli_copy_loop once = {1, 0, 0};

#define COPY_ROWS(copy, bytes)                                                                     \
    for (; count > 0; count--, dst += loop->dst_step, src += loop->src_step)                       \
        copy(dst, src, bytes);

/* Copies the rows of the innermost loop. Elements have a size of their own without a call. */
static void copy_rows(uint8_t *dst, const uint8_t *src, const struct mli_copy_loop *loop,
                      size_t run)
{
    size_t count = loop->count;

    if (run == 1)
        COPY_ROWS(copy_bytes, 1)
    else if (run == 2)
        COPY_ROWS(copy_bytes, 2)
    else if (run == 4)
        COPY_ROWS(copy_bytes, 4)
    else
        COPY_ROWS(copy_run, run)
}

static void move_rows(const struct mli_copy_box *box, const struct mli_copy_loop *loop,
                      uint8_t *dst, const uint8_t *src)
{
    if (src) {
        copy_rows(dst, src, loop, box->run);
        return;
    }
    for (size_t i = 0; i < loop->count; i++)
        zero_bytes(dst + i * loop->dst_step, box->run);
}

/* A row of the innermost loop's first iteration, and its coordinates in the loops around. */
struct place {
    uint8_t *dst;
    const uint8_t *src;
    size_t at[MLI_MAX_RANK];
};

/* Advances the first `outer` loops, as the digits of a counter. Returns false at the end. */
static bool advance(const struct mli_copy_box *box, size_t outer, struct place *place)
{
    for (size_t i = outer; i-- > 0;) {
        const struct mli_copy_loop *loop = &box->loop[i];
        const bool ends = ++place->at[i] == loop->count;
        const size_t back = ends ? loop->count : 0;

        place->dst += (1 - back) * loop->dst_step;
        if (place->src)
            place->src += (1 - back) * loop->src_step;
        if (!ends)
            return true;
        place->at[i] = 0;
    }
    return false;
}

void small_box(const struct mli_copy_box *box)
{
    const size_t outer = box->loops > 0 ? box->loops - 1 : 0;
    const struct mli_copy_loop *inner = box->loops > 0 ? &box->loop[outer] : &once;
    struct place place = {box->dst, box->src, {0}};

    do
        move_rows(box, inner, place.dst, place.src);
    while (advance(box, outer, &place));
}

void small_run(const struct mli_plan *plan)
{
    if (plan->box.run > 0)
        small_box(&plan->box);
    for (size_t i = 0; i < plan->slabs; i++) {
        const struct mli_copy_box box = slab_box(&plan->slab[i]);

        small_box(&box);
    }
}
