/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/explain_steps.h"

#include <stddef.h>

#define STEP_WORD(name, word, member)   [STEP_##name] = (word),
#define STEP_MEMBER(name, word, member) [STEP_##name] = (member),

const char *step_word(enum step step)
{
    static const char *const words[] = {STEP_TABLE(STEP_WORD)};
    return words[step];
}

const char *step_member(enum step step)
{
    static const char *const members[] = {STEP_TABLE(STEP_MEMBER)};
    return members[step];
}

/* What a step does to one source dimension: the extent that it leaves. */
static uint64_t extent_after(const mli_explained_axis *axis, enum step step)
{
    switch (step) {
    case STEP_PAD:
        return axis->padded;
    case STEP_CROP:
        return axis->size;
    default:
        return axis->count;
    }
}

static bool changes(const mli_explained_axis *axis, uint32_t d, enum step step)
{
    switch (step) {
    case STEP_PAD:
        return axis->padded != axis->extent;
    case STEP_CROP:
        return axis->size != axis->padded;
    case STEP_SUBSAMPLE:
        return axis->step != 1;
    case STEP_PERMUTE:
        return axis->dst_dim != d;
    default:
        return axis->dst_offset != 0;
    }
}

bool step_shape(const mli_explanation *move, enum step step, uint64_t shape[MLI_MAX_RANK])
{
    bool changed = false;
    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        uint32_t to = step >= STEP_PERMUTE ? axis->dst_dim : d;
        shape[to] = extent_after(axis, step);
        if (step == STEP_PLACE)
            shape[to] += axis->dst_offset;
        changed = changed || changes(axis, d, step);
    }
    return changed;
}

bool step_read(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
               uint64_t last[MLI_MAX_RANK])
{
    if (move->samples_read == 0)
        return false;
    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        first[d] = axis->first;
        last[d] = axis->first + (axis->hi - 1 - axis->lo) * axis->step;
    }
    return true;
}

void step_written(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                  uint64_t last[MLI_MAX_RANK])
{
    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];
        first[axis->dst_dim] = axis->dst_offset;
        last[axis->dst_dim] = axis->dst_offset + axis->count - 1;
    }
}
