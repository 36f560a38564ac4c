/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tile/tile_estimate.h"

struct tile_estimate tile_estimate_of(const struct target_profile *profile,
                                      const struct profile_memory *outside)
{
    const struct profile_costs *costs = &profile->costs;
    const struct profile_dma *dma = &profile->dma;

    return (struct tile_estimate){.start = costs->start + costs->finish,
                                  .descriptor =
                                      costs->descriptor + (outside ? outside->latency : 0),
                                  .row = costs->row,
                                  .burst = costs->burst,
                                  .beat = costs->beat,
                                  .bus_bytes = dma->bus_bytes,
                                  .burst_bytes = dma->burst_bytes,
                                  .channels = dma->channels,
                                  .loops = dma->loops,
                                  .run_max = dma->run_max,
                                  .count_max = dma->count_max,
                                  .call = costs->core_call};
}

struct tile_loops tile_loops_of(const struct tile_plan *plan, uint32_t at)
{
    const struct tile_operand *operand = &plan->layer->operand[at];
    struct tile_loops loops = {.changes = 1, .reloads = 1};
    uint64_t outer = 1, outer_unused = 1;

    for (uint32_t i = 0; i < plan->layer->axes; i++) {
        const uint32_t axis = plan->order[i];
        const uint64_t count = plan->cut[axis].count;

        if (count == 1)
            continue;
        outer = cost_times(outer, count);
        if (operand->span[axis].used) {
            loops.changes = outer;
            loops.reloads = outer_unused;
        } else {
            outer_unused = cost_times(outer_unused, count);
        }
        loops.held = !operand->span[axis].used;
    }
    return loops;
}

/* Contiguous rows of equal length. */
struct rows {
    uint64_t count, bytes; /* number of rows, and bytes of each */
    double descriptors;    /* number of descriptors that move the rows */
};

/* The extents of the loops around a contiguous row. */
struct outer {
    uint32_t count;
    uint64_t extent[TILE_AXES + 1];
};

/* Returns a / b, rounded up. If b is 0, there is no limit, and the result is 1. */
static double pieces(uint64_t a, uint64_t b)
{
    const uint64_t whole = b == 0 || a <= b ? 1 : (a - 1) / b + 1;

    return (double)whole;
}

/*
 * Returns the number of descriptors for the rows: the loops of a descriptor take the longest
 * dimensions.
 */
static double descriptors_of(const struct tile_estimate *e, struct outer *outer, uint64_t bytes)
{
    double descriptors = pieces(bytes, e->run_max);

    for (uint32_t loop = 0; loop < e->loops; loop++) {
        uint32_t longest = 0;

        if (outer->count == 0)
            break;
        for (uint32_t i = 1; i < outer->count; i++)
            longest = outer->extent[i] > outer->extent[longest] ? i : longest;
        descriptors *= pieces(outer->extent[longest], e->count_max);
        outer->extent[longest] = outer->extent[--outer->count];
    }
    for (uint32_t i = 0; i < outer->count; i++)
        descriptors *= (double)outer->extent[i];
    return descriptors;
}

/*
 * Returns the number and length of the contiguous rows that the largest tile of an operand has in
 * the memory outside.
 */
static struct rows rows_of(const struct tile_estimate *e, const struct tile_plan *plan,
                           const struct tile_operand *operand)
{
    struct rows rows = {operand->repeats, operand->unit, 1};
    uint32_t left = operand->dimensions, merged = 0;
    struct outer outer = {.count = 0};
    bool whole = true;

    for (; left > 0 && merged < operand->merging && whole; left--, merged++) {
        const uint32_t axis = operand->axis[left - 1];
        const struct tile_span *span = &operand->span[axis];
        const uint64_t extent = tile_span_extent(span, plan->cut[axis].size);

        rows.bytes = cost_times(rows.bytes, extent);
        whole = plan->cut[axis].count == 1 && extent == span->extent;
    }
    if (left == 0 && whole) {
        rows = (struct rows){1, cost_times(rows.bytes, operand->repeats), 1};
        rows.descriptors = descriptors_of(e, &outer, rows.bytes);
        return rows;
    }
    if (operand->repeats > 1)
        outer.extent[outer.count++] = operand->repeats;
    for (; left > 0; left--) {
        const uint32_t axis = operand->axis[left - 1];
        const uint64_t extent = tile_span_extent(&operand->span[axis], plan->cut[axis].size);

        rows.count = cost_times(rows.count, extent);
        if (extent > 1)
            outer.extent[outer.count++] = extent;
    }
    rows.descriptors = descriptors_of(e, &outer, rows.bytes);
    return rows;
}

/*
 * Returns the number of aligned units that a row touches. Rows that divide a unit, or are a
 * multiple of it, are assumed to be aligned. Other rows begin anywhere in a unit: the result is
 * the mean.
 */
static double units_of(uint64_t bytes, uint32_t unit)
{
    const uint64_t whole = bytes / unit;

    if (bytes % unit == 0)
        return (double)whole;
    if (unit % bytes == 0)
        return 1;
    return (double)(bytes - 1) / unit + 1;
}

/*
 * Returns the times of all transfers of an operand: the times of the largest tile, scaled to the
 * bytes of all tiles.
 */
static struct tile_moving moving_of(const struct tile_estimate *e, const struct tile_plan *plan,
                                    uint32_t operand, const struct tile_loops *loops)
{
    const struct rows rows = rows_of(e, plan, &plan->layer->operand[operand]);
    const double data = units_of(rows.bytes, e->burst_bytes) * (double)e->burst +
                        units_of(rows.bytes, e->bus_bytes) * (double)e->beat;
    const double tiles = (double)plan->traffic[operand] / ((double)rows.count * (double)rows.bytes);
    const double moved = tiles * (double)rows.count;

    return (struct tile_moving){(double)loops->changes * (double)e->start +
                                    tiles * rows.descriptors * (double)e->descriptor +
                                    moved * ((double)e->row + data),
                                moved * data};
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/*
 * Returns the time that kernels and buffers need: all kernels run, and transfers reuse the buffers
 * of their operand.
 */
static double buffers_time(const struct tile_plan *plan, const struct tile_loops *loops,
                           const struct tile_moving *moving, double kernels, uint32_t channels)
{
    const uint32_t output = plan->layer->operands - 1;
    double alone = 0, longest = kernels; /* alone: time of transfers that no kernel overlaps */

    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        const uint32_t buffers = plan->buffers[i].count;
        double time = moving[i].time;

        if (loops[i].changes == 1 || plan->layer->operand[i].in_place)
            continue;
        if (i == 0 && plan->layer->operand[output].in_place)
            time += moving[output].time;
        if (buffers == 1)
            alone = channels == 1 ? alone + time : larger(alone, time);
        else
            longest = larger(longest, (kernels + time) / buffers);
    }
    return larger(longest, kernels + alone);
}

profile_cost tile_estimate_moving(const struct tile_estimate *e, const struct tile_plan *plan,
                                  const struct tile_loops loops[TILE_OPERANDS],
                                  const struct tile_moving moving[TILE_OPERANDS])
{
    const double kernels =
        (double)plan->steps * (double)e->call + (double)plan->layer->results * (double)e->compute;
    double busy = 0, data = 0, ends = 0, period, sum;

    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        busy += moving[i].time;
        data += moving[i].data;
        ends += moving[i].time / (double)loops[i].changes;
    }
    busy = larger(busy / e->channels, data);
    period = buffers_time(plan, loops, moving, kernels, e->channels);
    if (busy > period)
        sum = busy + kernels / (double)plan->steps + (e->channels > 1 ? ends : 0);
    else
        sum = period + ends;
    return sum < (double)(UINT64_MAX / 2) ? (profile_cost)sum : UINT64_MAX / 2;
}

profile_cost tile_estimate_time(const struct tile_estimate *e, const struct tile_plan *plan,
                                const struct tile_loops loops[TILE_OPERANDS])
{
    struct tile_moving moving[TILE_OPERANDS] = {0};

    for (uint32_t i = 0; i < plan->layer->operands; i++)
        moving[i] = moving_of(e, plan, i, &loops[i]);
    return tile_estimate_moving(e, plan, loops, moving);
}
