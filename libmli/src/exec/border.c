/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/src/exec/border.h"

/*
 * Merges contiguous loops of a box or slab. Loops of a slab are merged already; those of a box may
 * not be, because the source is not contiguous.
 */
static size_t merge(const struct border_rows *rows, struct mli_copy_loop *merged)
{
    size_t count = 0;

    for (size_t i = 0; i < rows->loops; i++) {
        const struct mli_copy_loop *loop = &rows->loop[i];
        struct mli_copy_loop *last = &merged[count - (count > 0)];

        if (count > 0 && last->dst_step == loop->count * loop->dst_step)
            *last = (struct mli_copy_loop){last->count * loop->count, 0, loop->dst_step};
        else
            merged[count++] = *loop;
    }
    return count;
}

static bool same_places(const struct mli_fill_slab *slab, const struct border_rows *rows)
{
    struct mli_copy_loop merged[MLI_MAX_RANK];
    const struct mli_copy_loop *loop = rows->loop;

    if (slab->loops != rows->loops) {
        if (merge(rows, merged) != slab->loops)
            return false;
        loop = merged;
    }
    for (size_t i = 0; i < slab->loops; i++) {
        if (loop[i].count != slab->loop[i].count || loop[i].dst_step != slab->loop[i].step)
            return false;
    }
    return true;
}

bool border_is_before(const struct mli_fill_slab *slab, const struct border_rows *rows)
{
    return slab->dst + slab->run == rows->dst && same_places(slab, rows);
}

bool border_is_after(const struct mli_fill_slab *slab, const struct border_rows *rows)
{
    return slab->dst == rows->dst + rows->run && same_places(slab, rows);
}
