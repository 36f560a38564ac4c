/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions for programs and drivers that were compiled with version 0.2 of the library: structs
 * that have grown since have their former layout here. mli_engine.h and mli_mov_api.h give the
 * functions for the present layout other names for the linker.
 */
#include "libmli/src/builtins.h"
#include "mli_engine.h"

#pragma GCC visibility push(default)

struct caps0 {
    uint32_t flags, loops;
    size_t count_max, run_max, step_max, bytes_max, tiny;
};

struct descriptor0 {
    struct mli_copy_box box;
    size_t bytes;
    uint32_t index;
    uint64_t row;
};

struct legaliser0 {
    const struct mli_plan *plan;
    struct caps0 caps;
    struct mli_copy_box box;
    uint32_t index;
    bool cutting, blocks;
    size_t at[MLI_MAX_RANK + 1], take[MLI_MAX_RANK + 1];
};

struct stats0 {
    uint64_t counters[8]; /* the members from submitted to queue_high_water */
};

_Static_assert(offsetof(mli_mov_channel_stats, cpu_pieces) == sizeof(struct stats0), "prefix");
_Static_assert(offsetof(struct mli_channel_caps, granularity) == sizeof(struct caps0), "prefix");

void legalise_init0(struct legaliser0 *l, const struct mli_plan *plan, const struct caps0 *caps)
    MLI_LINK_NAME(mli_legalise_init);
bool legalise_next0(struct legaliser0 *l, struct descriptor0 *piece)
    MLI_LINK_NAME(mli_legalise_next);
uint64_t legalise_count0(const struct mli_plan *plan, const struct caps0 *caps)
    MLI_LINK_NAME(mli_legalise_count);
void engine_caps0(struct caps0 *caps) MLI_LINK_NAME(mli_mov_engine_caps);
mli_status get_channel_stats0(int channel, struct stats0 *stats)
    MLI_LINK_NAME(mli_mov_get_channel_stats);

#pragma GCC visibility pop

static void extend_caps(struct mli_channel_caps *to, const struct caps0 *from)
{
    zero_bytes(to, sizeof(*to));
    copy_bytes(to, from, sizeof(*from));
}

void legalise_init0(struct legaliser0 *l, const struct mli_plan *plan, const struct caps0 *caps)
{
    zero_bytes(l, sizeof(*l));
    l->plan = plan;
    l->caps = *caps;
}

bool legalise_next0(struct legaliser0 *l, struct descriptor0 *piece)
{
    struct mli_descriptor next;
    struct mli_channel_caps caps;
    struct mli_legaliser now;
    bool found;

    extend_caps(&caps, &l->caps);
    mli_legalise_init(&now, l->plan, &caps);
    now.box = l->box;
    now.index = l->index;
    now.cutting = l->cutting;
    copy_bytes(now.at, l->at, sizeof(l->at));
    copy_bytes(now.take, l->take, sizeof(l->take));
    found = mli_legalise_next(&now, &next);
    l->box = now.box;
    l->index = now.index;
    l->cutting = now.cutting;
    copy_bytes(l->at, now.at, sizeof(l->at));
    copy_bytes(l->take, now.take, sizeof(l->take));
    if (found)
        *piece = (struct descriptor0){next.box, next.bytes, next.index, next.row};
    return found;
}

uint64_t legalise_count0(const struct mli_plan *plan, const struct caps0 *caps)
{
    struct mli_channel_caps now;

    extend_caps(&now, caps);
    return mli_legalise_count(plan, &now);
}

void engine_caps0(struct caps0 *caps)
{
    struct mli_channel_caps now;

    mli_mov_engine_caps(&now);
    copy_bytes(caps, &now, sizeof(*caps));
}

mli_status get_channel_stats0(int channel, struct stats0 *stats)
{
    mli_mov_channel_stats now;
    const mli_status status = mli_mov_get_channel_stats(channel, stats ? &now : NULL);

    if (stats && status == MLI_STATUS_OK)
        copy_bytes(stats, &now, sizeof(*stats));
    return status;
}
