/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/fault_pieces.h"

#include "libmli/src/plan.h"

enum { SHUFFLED_PIECES = 16 };

static struct mli_channel_caps shuffled_caps(const struct mli_plan *plan)
{
    return (struct mli_channel_caps){.loops = MLI_MAX_RANK,
                                     .bytes_max = plan->bytes / SHUFFLED_PIECES + 1};
}

static uint32_t count_shuffled(const struct mli_plan *plan)
{
    const struct mli_channel_caps caps = shuffled_caps(plan);
    struct mli_legaliser legaliser;
    struct mli_descriptor piece;
    uint32_t count = 1; /* no plan is empty */

    mli_legalise_init(&legaliser, plan, &caps);
    (void)mli_legalise_next(&legaliser, &piece);
    while (mli_legalise_next(&legaliser, &piece))
        count++;
    return count;
}

/* Sets *piece to piece `number` of the legaliser. */
static bool find_shuffled(const struct mli_plan *plan, uint32_t number,
                          struct mli_descriptor *piece)
{
    const struct mli_channel_caps caps = shuffled_caps(plan);
    struct mli_legaliser legaliser;
    bool found = true;

    mli_legalise_init(&legaliser, plan, &caps);
    for (uint32_t i = 0; i <= number && found; i++)
        found = mli_legalise_next(&legaliser, piece);
    return found;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    while (b > 0) {
        const uint32_t rest = a % b;

        a = b;
        b = rest;
    }
    return a;
}

void pieces_shuffled(struct pieces *pieces, const struct mli_plan *plan, uint64_t random)
{
    *pieces = (struct pieces){.steps = count_shuffled(plan)};
    pieces->stride = 1 + (uint32_t)(random % pieces->steps);
    while (common_divisor(pieces->stride, pieces->steps) > 1)
        pieces->stride++;
}

void pieces_before(struct pieces *pieces, const struct place *place)
{
    *pieces = (struct pieces){.steps = place->descriptor + MLI_MAX_RANK, .end = *place};
}

/*
 * The rows of a box before `row` form up to as many boxes as the box has loops. The box of loop
 * `level` keeps the loops around `level` at the row's coordinates, and takes the iterations of loop
 * `level` before the row's. Turns *box into that box; returns false if it is empty. Sets *first to
 * the number of its first row.
 */
static bool cut_before(struct mli_copy_box *box, uint64_t row, size_t level, uint64_t *first)
{
    uint64_t rows = 1; /* rows of the box in one iteration of loop i */

    *first = 0;
    for (size_t i = box->loops; i-- > 0;) {
        struct mli_copy_loop *loop = &box->loop[i];
        const size_t at = (size_t)(row % loop->count), count = loop->count;

        row /= count;
        if (i < level) {
            box->dst += at * loop->dst_step;
            if (box->src)
                box->src += at * loop->src_step;
            *first += at * rows;
        }
        if (i <= level)
            loop->count = i < level ? 1 : at;
        rows *= count;
    }
    return level < box->loops && box->loop[level].count > 0;
}

static bool find_before(const struct mli_plan *plan, const struct place *end, uint32_t step,
                        struct mli_descriptor *piece)
{
    piece->index = step < end->descriptor ? step : end->descriptor;
    piece->box = plan_box(plan, piece->index);
    piece->row = 0;
    if (step >= end->descriptor &&
        !cut_before(&piece->box, end->row, step - end->descriptor, &piece->row))
        return false;
    piece->bytes = box_bytes(&piece->box);
    return piece->bytes > 0;
}

bool pieces_next(struct pieces *pieces, const struct mli_plan *plan, struct mli_descriptor *piece)
{
    bool found = false;

    while (!found && pieces->step < pieces->steps) {
        const uint32_t step = pieces->step++;

        if (pieces->stride > 0)
            found = find_shuffled(plan, (uint32_t)((uint64_t)step * pieces->stride % pieces->steps),
                                  piece);
        else
            found = find_before(plan, &pieces->end, step, piece);
    }
    return found;
}
