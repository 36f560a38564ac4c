/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/dma/bands.h"

#include "libmli/src/dma/split.h"
#include "libmli/src/exec/border.h"

/* Beside the rows, and walked by the same loops. */
static bool is_beside(const struct mli_fill_slab *slab, const struct mli_copy_box *box)
{
    const struct border_rows rows = border_rows(box);

    if (slab->loops != box->loops ||
        !(border_is_before(slab, &rows) || border_is_after(slab, &rows)))
        return false;
    for (size_t i = 0; i < box->loops; i++) {
        if (slab->loop[i].count != box->loop[i].count ||
            slab->loop[i].step != box->loop[i].dst_step)
            return false;
    }
    return true;
}

void bands_init(struct bands *bands, const struct mli_plan *plan, size_t bytes)
{
    const struct mli_channel_caps caps = {.loops = MLI_MAX_RANK, .bytes_max = bytes};

    mli_legalise_init(&bands->legaliser, plan, &caps);
    bands->legaliser.blocks = true;
    bands->beside = 0;
    for (size_t i = 0; plan->box.run > 0 && plan->box.run <= bytes && i < plan->slabs; i++) {
        if (is_beside(&plan->slab[i], &plan->box))
            bands->beside |= 1u << i;
    }
}

static bool is_done(const struct bands *bands, uint32_t descriptor)
{
    return descriptor > 0 && bands->beside & 1u << (descriptor - 1);
}

/* The part of a slab that lies beside a piece of the box. */
static struct mli_copy_box cut_beside(const struct mli_fill_slab *slab,
                                      const struct mli_copy_box *box,
                                      const struct mli_descriptor *piece)
{
    struct mli_copy_box part = slab_box(slab);
    uint64_t row = piece->row;
    size_t in_piece = piece->box.loops;

    for (size_t i = box->loops; i-- > 0;) {
        const size_t at = (size_t)(row % box->loop[i].count);
        const struct mli_copy_loop *last = &piece->box.loop[in_piece - (in_piece > 0)];

        row /= box->loop[i].count;
        part.dst += at * part.loop[i].dst_step;
        part.loop[i].count = 1;
        if (in_piece > 0 && last->dst_step == part.loop[i].dst_step) {
            part.loop[i].count = last->count;
            in_piece--;
        }
    }
    return part;
}

bool bands_next(struct bands *bands, struct band *band)
{
    const struct mli_plan *plan = bands->legaliser.plan;
    struct mli_descriptor piece;

    do {
        if (!mli_legalise_next(&bands->legaliser, &piece))
            return false;
    } while (is_done(bands, piece.index));
    band->descriptor = piece.index;
    band->row = piece.row;
    plan_clear(&band->plan);
    plan_add_box(&band->plan, &piece.box);
    for (uint32_t i = 0; piece.index == 0 && i < plan->slabs; i++) {
        if (is_done(bands, i + 1)) {
            struct mli_copy_box part = cut_beside(&plan->slab[i], &plan->box, &piece);

            plan_add_box(&band->plan, &part);
        }
    }
    return true;
}
