/* SPDX-License-Identifier: BSD-3-Clause */
#include "border.h"

struct mli_copy_box border_rows(const struct mli_copy_box *box)
{
    struct mli_copy_box rows = *box;

    if (rows.loops > 0 && rows.loop[rows.loops - 1].dst_step == rows.run)
        rows.run *= rows.loop[--rows.loops].count;
    return rows;
}

/* The rows of a box as one step after the other, with loops merged that go on from one another:
   a slab's loops are, a box's only where the source's do too. */
static size_t merge(const struct mli_copy_box *box, struct mli_fill_loop *merged)
{
    size_t count = 0;

    for (size_t i = 0; i < box->loops; i++) {
        const struct mli_fill_loop loop = {box->loop[i].count, box->loop[i].dst_step};
        struct mli_fill_loop *last = &merged[count - (count > 0)];

        if (count > 0 && last->step == loop.count * loop.step)
            *last = (struct mli_fill_loop){last->count * loop.count, loop.step};
        else
            merged[count++] = loop;
    }
    return count;
}

static bool same_rows(const struct mli_fill_slab *slab, const struct mli_copy_box *box)
{
    struct mli_fill_loop merged[MLI_MAX_RANK];
    const size_t count = merge(box, merged);

    for (size_t i = 0; i < count && i < slab->loops; i++) {
        if (merged[i].count != slab->loop[i].count || merged[i].step != slab->loop[i].step)
            return false;
    }
    return count == slab->loops;
}

bool border_is_before(const struct mli_fill_slab *slab, const struct mli_copy_box *box)
{
    return slab->dst + slab->run == box->dst && same_rows(slab, box);
}

bool border_is_after(const struct mli_fill_slab *slab, const struct mli_copy_box *box)
{
    return slab->dst == box->dst + box->run && same_rows(slab, box);
}
