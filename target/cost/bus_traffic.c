/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/cost/bus_traffic.h"

#include <stdbool.h>
#include <string.h>

enum { UNIT_MAX = 4096 }; /* the largest burst of a profile */

/* One side of a box: the loops around a run. */
struct side {
    uint64_t address, run;
    size_t loops;
    struct {
        uint64_t count, step;
    } loop[MLI_MAX_RANK];
};

static uint64_t rows_of(const struct side *side)
{
    uint64_t rows = 1;

    for (size_t i = 0; i < side->loops; i++)
        rows *= side->loop[i].count;
    return rows;
}

/* Returns the position of the lowest bit that is set; the number is not 0. */
static unsigned lowest_bit(uint64_t number)
{
    return (unsigned)__builtin_ctzll(number);
}

/*
 * Returns the number of aligned units that all rows touch. Rows that begin at the same offset in a
 * unit touch the same number of units, so the function only counts the rows that begin at each
 * offset. The unit is a power of two. All steps are multiples of 2^grain, and so are the
 * differences between offsets. Offsets of a loop repeat with a period, so that long loops take no
 * longer than short loops.
 */
static uint64_t count_units(const struct side *side, uint64_t unit)
{
    uint64_t begin[2][UNIT_MAX]; /* rows that begin at each offset */
    uint64_t steps = unit, pattern, units = 0;
    unsigned grain;
    int now = 0;

    for (size_t i = 0; i < side->loops; i++)
        steps |= side->loop[i].step;
    grain = lowest_bit(steps);
    pattern = unit >> grain;
    memset(begin[0], 0, pattern * sizeof begin[0][0]);
    begin[0][0] = 1;
    for (size_t i = 0; i < side->loops; i++, now = !now) {
        const uint64_t step = side->loop[i].step >> grain & (pattern - 1);
        const unsigned repeats = lowest_bit(step | pattern);
        const uint64_t period = pattern >> repeats, count = side->loop[i].count;
        const uint64_t whole = count >> lowest_bit(period), rest = count & (period - 1);

        memset(begin[!now], 0, pattern * sizeof begin[0][0]);
        for (uint64_t at = 0; at < pattern; at++) {
            if (begin[now][at] == 0)
                continue;
            for (uint64_t k = 0, to = at; k < period; k++, to = (to + step) & (pattern - 1))
                begin[!now][to] += begin[now][at] * (whole + (k < rest));
        }
    }
    for (uint64_t at = 0; at < pattern; at++) {
        const uint64_t offset = (side->address + (at << grain)) & (unit - 1);

        if (begin[now][at] > 0)
            units += begin[now][at] * (((offset + side->run - 1) >> lowest_bit(unit)) + 1);
    }
    return units;
}

/* Counts the rows that begin in the bank of the row before them in the innermost loop. */
static uint64_t count_conflicts(const struct side *side, uint64_t bank_cycle)
{
    if (bank_cycle == 0 || side->loops == 0 || side->run >= bank_cycle ||
        side->loop[side->loops - 1].step % bank_cycle != 0)
        return 0;
    return rows_of(side) / side->loop[side->loops - 1].count *
           (side->loop[side->loops - 1].count - 1);
}

static void add(struct traffic *traffic, const struct side *side, const struct traffic_units *units)
{
    traffic->rows += rows_of(side);
    traffic->bytes += rows_of(side) * side->run;
    traffic->beats += count_units(side, units->bus_bytes);
    traffic->bursts += count_units(side, units->burst_bytes);
    traffic->conflicts += count_conflicts(side, units->bank_cycle);
}

static struct side side_of_box(const struct mli_copy_box *box, bool read)
{
    struct side side = {
        .address = (uintptr_t)(read ? box->src : box->dst), .run = box->run, .loops = box->loops};

    for (size_t i = 0; i < box->loops; i++) {
        side.loop[i].count = box->loop[i].count;
        side.loop[i].step = read ? box->loop[i].src_step : box->loop[i].dst_step;
    }
    return side;
}

static struct side side_of_slab(const struct mli_fill_slab *slab)
{
    struct side side = {.address = (uintptr_t)slab->dst, .run = slab->run, .loops = slab->loops};

    for (size_t i = 0; i < slab->loops; i++) {
        side.loop[i].count = slab->loop[i].count;
        side.loop[i].step = slab->loop[i].step;
    }
    return side;
}

void traffic_add_read(struct traffic *traffic, const struct mli_plan *plan,
                      const struct traffic_units *units)
{
    if (plan->box.run > 0) {
        const struct side side = side_of_box(&plan->box, true);

        add(traffic, &side, units);
    }
}

void traffic_add_written(struct traffic *traffic, const struct mli_plan *plan,
                         const struct traffic_units *units)
{
    if (plan->box.run > 0) {
        const struct side side = side_of_box(&plan->box, false);

        add(traffic, &side, units);
    }
    for (size_t i = 0; i < plan->slabs; i++) {
        const struct side side = side_of_slab(&plan->slab[i]);

        add(traffic, &side, units);
    }
}
