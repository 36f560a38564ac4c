/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tile/tile_plan.h"

void tile_plan_step(const struct tile_plan *plan, uint64_t step, uint64_t index[TILE_AXES])
{
    for (uint32_t i = plan->layer->axes; i-- > 0;) {
        const uint32_t axis = plan->order[i];

        index[axis] = step % plan->cut[axis].count;
        step /= plan->cut[axis].count;
    }
}

bool tile_plan_changes(const struct tile_plan *plan, uint32_t operand, uint64_t step)
{
    const struct tile_layer *layer = plan->layer;
    uint64_t now[TILE_AXES] = {0}, before[TILE_AXES] = {0};

    if (step == 0)
        return true;
    tile_plan_step(plan, step, now);
    tile_plan_step(plan, step - 1, before);
    for (uint32_t a = 0; a < layer->axes; a++) {
        if (layer->operand[operand].span[a].used && now[a] != before[a])
            return true;
    }
    return false;
}

bool tile_plan_completes(const struct tile_plan *plan, uint64_t step)
{
    uint64_t index[TILE_AXES] = {0};

    if (!plan->layer->reduces)
        return true;
    tile_plan_step(plan, step, index);
    return index[TILE_REDUCED] == plan->cut[TILE_REDUCED].count - 1;
}

uint64_t tile_plan_bytes(const struct tile_plan *plan, uint32_t operand,
                         const uint64_t index[TILE_AXES])
{
    const struct tile_layer *layer = plan->layer;
    const struct tile_operand *op = &layer->operand[operand];
    const bool partial = op->partial > 0 && layer->reduces && plan->cut[TILE_REDUCED].count > 1;
    uint64_t bytes = tile_times(partial ? op->partial : op->unit, op->repeats);

    for (uint32_t a = 0; a < layer->axes; a++) {
        uint64_t begin, size;

        tile_cut_range(&plan->cut[a], index[a], &begin, &size);
        bytes = tile_times(bytes, tile_span_extent(&op->span[a], size));
    }
    return bytes;
}
