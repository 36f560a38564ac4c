/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/drivers/pl330/pl330_source.h"

void pl330_source_init(struct pl330_source *source, const struct mli_plan *plan,
                       const struct mli_channel_caps *caps)
{
    *source = (struct pl330_source){.cut = false};
    mli_legalise_init(&source->legaliser, plan, caps);
}

/* Cuts a piece after some of its rows: *rest becomes the part behind the cut. */
static void cut(const struct mli_plan *plan, struct mli_descriptor *piece, uint64_t rows,
                struct mli_descriptor *rest)
{
    struct mli_copy_loop *loop = &piece->box.loop[0];

    *rest = *piece;
    rest->row = mli_piece_row(plan, piece, rows);
    rest->bytes -= (size_t)rows * piece->box.run;
    rest->box.dst += (size_t)rows * loop->dst_step;
    if (rest->box.src)
        rest->box.src += (size_t)rows * loop->src_step;
    rest->box.loop[0].count -= (size_t)rows;
    rest->box.loops = rest->box.loop[0].count > 1;
    piece->bytes -= rest->bytes;
    loop->count = (size_t)rows;
    piece->box.loops = rows > 1;
}

static uint64_t rows_of(const struct mli_descriptor *piece)
{
    return piece->box.loops > 0 ? piece->box.loop[0].count : 1;
}

bool pl330_source_next(struct pl330_source *source, const struct pl330_request *injection,
                       struct mli_descriptor *piece)
{
    const uint64_t before = injection->rows - source->rows;

    if (source->cut)
        *piece = source->rest;
    else if (!mli_legalise_next(&source->legaliser, piece))
        return false;
    source->cut = injection->kind != PL330_INJECT_NONE && injection->rows > source->rows &&
                  before < rows_of(piece);
    if (source->cut)
        cut(source->legaliser.plan, piece, before, &source->rest);
    source->rows += rows_of(piece);
    return true;
}
