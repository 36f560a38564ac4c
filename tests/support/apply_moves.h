/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes the moves that an imported node becomes, element by element. */
#ifndef TEST_APPLY_MOVES_H
#define TEST_APPLY_MOVES_H

#include <string.h>

#include "cli/import/move.h"

/* Moves the element at coordinate `at`. Returns false if the element is outside of its tensor. */
static inline bool apply_at(const struct move *move, uint32_t unit, const uint64_t *at,
                            const uint8_t *source, uint64_t from, uint8_t *out, uint64_t to)
{
    uint64_t src = move->src_base, dst = move->dst_base;
    bool border = false;

    for (uint32_t d = 0; d < move->axis_count; d++) {
        const struct move_axis *axis = &move->axes[d];
        const uint64_t position = axis->offset + at[d] * axis->step;

        if (position >= axis->pre + axis->extent + axis->post || axis->pre > MOVE_BORDER_MAX ||
            axis->post > MOVE_BORDER_MAX || axis->at + axis->count > axis->dst_extent)
            return false;
        border = border || position < axis->pre || position >= axis->pre + axis->extent;
        src += (position - axis->pre) * axis->src_stride;
        dst += (axis->at + at[d]) * axis->dst_stride;
    }
    if ((dst + 1) * unit > to || (!border && (src + 1) * unit > from))
        return false;
    if (border)
        memset(out + dst * unit, 0, unit);
    else
        memcpy(out + dst * unit, source + src * unit, unit);
    return true;
}

static inline bool apply_move(const struct move *move, uint32_t unit, const uint8_t *source,
                              uint64_t from, uint8_t *out, uint64_t to)
{
    uint64_t at[MLI_MAX_RANK] = {0};
    bool more = true;

    if (move->axis_count < 1 || move->axis_count > MLI_MAX_RANK)
        return false;
    while (more) {
        if (!apply_at(move, unit, at, source, from, out, to))
            return false;
        more = false;
        for (uint32_t d = move->axis_count; d-- > 0 && !more;) {
            more = ++at[d] < move->axes[d].count;
            if (!more)
                at[d] = 0;
        }
    }
    return true;
}

/**
 * Computes the result of folded moves, as libmli would with a buffer of zeros. Returns false if a
 * move has a form that libmli refuses, or accesses elements outside of its tensors.
 */
static inline bool apply_moves(const struct movement *movement, const struct moves *moves,
                               const uint8_t *const *sources, uint8_t *out)
{
    static const uint8_t zeros[MOVEMENT_ELEMENT_MAX];
    const uint32_t size = movement->dtype->size;
    const uint64_t to = movement_elements(movement->rank, movement->shape) * size;

    if (moves->unit != 1 && moves->unit != 2 && moves->unit != 4)
        return false;
    for (uint64_t i = 0; i < to; i += size)
        memcpy(out + i, moves->filled ? movement->fill : zeros, size);
    for (size_t i = 0; i < moves->count; i++) {
        const struct move *move = &moves->items[i];
        const uint64_t *shape = movement->sources[move->source].shape;

        if (!apply_move(move, moves->unit, sources[move->source],
                        movement_elements(movement->rank, shape) * size, out, to))
            return false;
    }
    return true;
}

#endif /* TEST_APPLY_MOVES_H */
