/* SPDX-License-Identifier: BSD-3-Clause */
#include <string.h>

#include "target/cost/cost.h"
#include "target/cost/measured_cost.h"
#include "target/cost/side.h"

#define MEASURED_CYCLES_MAX 1e12 /* longer times do not fit into a profile_cost */

const struct cost_part_word cost_part_words[COST_PARTS] = {
#define COST_PART_WORD(name, key, words) {key, words},
    COST_PART_TABLE(COST_PART_WORD)
#undef COST_PART_WORD
};

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

enum { UNIT_MAX = 4096 }; /* the largest burst that a profile can have, in bytes */

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

/* Counts the rows that begin in the same bank of the memory as the row before them. */
static uint64_t count_conflicts(const struct side *side, uint64_t bank_cycle)
{
    if (bank_cycle == 0 || side->loops == 0 || side->run >= bank_cycle ||
        side->loop[side->loops - 1].step % bank_cycle != 0)
        return 0;
    return side_rows(side) / side->loop[side->loops - 1].count *
           (side->loop[side->loops - 1].count - 1);
}

static void add(struct traffic *traffic, const struct side *side, const struct profile_dma *dma,
                const struct profile_memory *memory)
{
    traffic->rows += side_rows(side);
    traffic->bytes += side_rows(side) * side->run;
    traffic->beats += count_units(side, dma->bus_bytes);
    traffic->bursts += count_units(side, dma->burst_bytes);
    if (memory && memory->banks > 1)
        traffic->conflicts += count_conflicts(side, (uint64_t)memory->banks * memory->bank_bytes);
}

/* Measures the traffic of a plan on the bus, exactly, from its addresses. */
static void measure_traffic(struct traffic *read, struct traffic *written,
                            const struct target_profile *profile,
                            const struct cost_memories *memories, const struct mli_plan *plan)
{
    *read = *written = (struct traffic){0};
    if (plan->box.run > 0) {
        const struct side reads = side_of_box(&plan->box, true);
        const struct side writes = side_of_box(&plan->box, false);

        add(read, &reads, &profile->dma, memories->src);
        add(written, &writes, &profile->dma, memories->dst);
    }
    for (size_t i = 0; i < plan->slabs; i++) {
        const struct side zeros = side_of_slab(&plan->slab[i]);

        add(written, &zeros, &profile->dma, memories->dst);
    }
}

static void add_traffic(struct traffic *sum, const struct traffic *traffic)
{
    sum->bytes += traffic->bytes;
    sum->rows += traffic->rows;
    sum->beats += traffic->beats;
    sum->bursts += traffic->bursts;
    sum->conflicts += traffic->conflicts;
}

static profile_cost on_bus(const struct profile_costs *costs, const struct traffic *traffic)
{
    return cost_plus(cost_times(traffic->bursts, costs->burst),
                     cost_times(traffic->beats, costs->beat));
}

/* Returns the time of a channel without start and finish. */
static profile_cost own_time(const profile_cost part[COST_PARTS])
{
    return cost_plus(
        cost_plus(part[COST_DESCRIPTORS], cost_plus(part[COST_ROWS], part[COST_CONFLICTS])),
        cost_plus(larger(part[COST_READ], part[COST_WRITTEN]), part[COST_CORE]));
}

static profile_cost core_time(const struct target_profile *profile,
                              const struct cost_channel *channel, const struct traffic *written)
{
    const uint64_t bus = profile->dma.bus_bytes;
    const uint64_t beats =
        channel->descriptors == 0
            ? written->beats
            : cost_plus(cost_times(2, channel->core_pieces), channel->core_bytes / bus);

    return cost_plus(cost_times(channel->core_pieces, profile->costs.core_call),
                     cost_times(channel->core_pieces > 0 ? beats : 0, profile->costs.core_beat));
}

static void cost_of_channel(profile_cost part[COST_PARTS], struct traffic *read,
                            struct traffic *written, const struct target_profile *profile,
                            const struct cost_memories *memories,
                            const struct cost_channel *channel)
{
    const struct profile_costs *costs = &profile->costs;
    const profile_cost latency = memories->src ? memories->src->latency : 0;

    measure_traffic(read, written, profile, memories, channel->plan);
    part[COST_CORE] = core_time(profile, channel, written);
    part[COST_START] = channel->descriptors > 0 ? costs->start : 0;
    part[COST_FINISH] = channel->descriptors > 0 ? costs->finish : 0;
    part[COST_ROWS] = part[COST_CONFLICTS] = part[COST_READ] = part[COST_WRITTEN] = 0;
    part[COST_DESCRIPTORS] = cost_times(channel->descriptors, costs->descriptor);
    if (channel->descriptors == 0)
        return;
    part[COST_ROWS] = cost_times(written->rows, costs->row);
    part[COST_CONFLICTS] =
        cost_times(cost_plus(read->conflicts, written->conflicts), costs->conflict);
    part[COST_READ] = on_bus(costs, read);
    if (read->bytes > 0)
        part[COST_READ] =
            cost_plus(part[COST_READ], cost_times(channel->descriptors - channel->fills, latency));
    part[COST_WRITTEN] = on_bus(costs, written);
}

/* Computes the time of a channel that is a processor: the times of all parts add up. */
static enum move_class cost_of_processor(profile_cost part[COST_PARTS], struct traffic *read,
                                         struct traffic *written,
                                         const struct target_profile *profile,
                                         const struct cost_memories *memories,
                                         const struct mli_plan *plan)
{
    struct measured_time time;

    measure_traffic(read, written, profile, memories, plan);
    measured_time(&time, &profile->measured, plan);
    memset(part, 0, COST_PARTS * sizeof *part);
    part[COST_START] = profile_cost_rounded(time.start, MEASURED_CYCLES_MAX);
    part[COST_DESCRIPTORS] = profile_cost_rounded(time.calls, MEASURED_CYCLES_MAX);
    part[COST_ROWS] = profile_cost_rounded(time.rows, MEASURED_CYCLES_MAX);
    part[COST_READ] = profile_cost_rounded(time.read, MEASURED_CYCLES_MAX);
    part[COST_WRITTEN] = profile_cost_rounded(time.written, MEASURED_CYCLES_MAX);
    return time.class;
}

/* Returns the time of a move of `bytes` contiguous bytes by a processor. */
static profile_cost processor_memcpy(const struct target_profile *profile, uint64_t bytes)
{
    const struct mli_plan plan = {.bytes = (size_t)bytes, .box = {.run = (size_t)bytes}};
    struct measured_time time;

    measured_time(&time, &profile->measured, &plan);
    return profile_cost_rounded(time.total, MEASURED_CYCLES_MAX);
}

/* Computes the cost of a move by a processor: that of the slowest channel. */
static void cost_on_processor(struct move_cost *cost, const struct target_profile *profile,
                              const struct cost_memories *memories,
                              const struct cost_channel *channels, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        profile_cost part[COST_PARTS], total = 0;
        struct traffic read, written;

        const enum move_class class =
            cost_of_processor(part, &read, &written, profile, memories, channels[i].plan);
        add_traffic(&cost->read, &read);
        add_traffic(&cost->written, &written);
        cost->descriptors += channels[i].descriptors;
        for (enum cost_part p = 0; p < COST_PARTS; p++)
            total = cost_plus(total, part[p]);
        if (total < cost->total)
            continue;
        cost->total = total;
        cost->class = class;
        memcpy(cost->part, part, sizeof part);
    }
    for (enum cost_part p = 0; p < COST_PARTS; p++)
        if (cost->part[p] > cost->part[cost->dominant])
            cost->dominant = p;
    cost->memcpy_total = processor_memcpy(profile, cost->written.bytes);
}

/* Returns the time of a memcpy of `bytes` by the core. */
static profile_cost memcpy_time(const struct target_profile *profile, uint64_t bytes)
{
    const uint64_t bus = profile->dma.bus_bytes;

    return cost_plus(profile->costs.core_call,
                     cost_times(bytes / bus + (bytes % bus != 0), profile->costs.core_beat));
}

/*
 * Reading and writing overlap: returns whether `which` is the shorter one of them, which adds no
 * time.
 */
static bool is_hidden(const profile_cost part[COST_PARTS], enum cost_part which)
{
    return (which == COST_READ && part[COST_READ] < part[COST_WRITTEN]) ||
           (which == COST_WRITTEN && part[COST_WRITTEN] <= part[COST_READ]);
}

static enum cost_part find_dominant(const profile_cost part[COST_PARTS])
{
    enum cost_part dominant = COST_START;

    for (enum cost_part i = 0; i < COST_PARTS; i++)
        if (!is_hidden(part, i) && part[i] > part[dominant])
            dominant = i;
    return dominant;
}

void cost_of_move(struct move_cost *cost, const struct target_profile *profile,
                  const struct cost_memories *memories, const struct cost_channel *channels,
                  uint32_t count)
{
    const struct profile_costs *costs = &profile->costs;
    profile_cost slowest = 0, reading = 0, writing = 0;

    *cost = (struct move_cost){.channels = count};
    if (profile->measured.present) {
        cost_on_processor(cost, profile, memories, channels, count);
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        profile_cost part[COST_PARTS];
        struct traffic read, written;

        cost_of_channel(part, &read, &written, profile, memories, &channels[i]);
        add_traffic(&cost->read, &read);
        add_traffic(&cost->written, &written);
        cost->descriptors += channels[i].descriptors;
        if (channels[i].descriptors > 0) {
            reading = cost_plus(reading, on_bus(costs, &read));
            writing = cost_plus(writing, on_bus(costs, &written));
        }
        if (own_time(part) >= slowest) {
            slowest = own_time(part);
            memcpy(cost->part, part, sizeof part);
        }
    }
    /* The bus carries the data of all channels. */
    cost->bus = larger(reading, writing);
    if (count > 1 && cost->bus > slowest) {
        cost->bus_bound = true;
        slowest = cost->bus;
        cost->part[COST_READ] = reading;
        cost->part[COST_WRITTEN] = writing;
    }
    cost->part[COST_START] = cost->descriptors > 0 ? costs->start : 0;
    cost->part[COST_FINISH] = cost->descriptors > 0 ? costs->finish : 0;
    cost->dominant = find_dominant(cost->part);
    cost->total = cost_plus(cost_plus(cost->part[COST_START], cost->part[COST_FINISH]), slowest);
    cost->memcpy_total = memcpy_time(profile, cost->written.bytes);
}

struct kernel_work kernel_work(const struct target_profile *profile, const struct mli_plan *plan,
                               uint32_t element)
{
    const uint64_t width = profile->vector_bits / 8, vector = width > 0 ? width : 1;
    const uint64_t run = plan->box.run, rows = run > 0 ? (plan->bytes + run - 1) / run : 0;

    if (plan->box.loops == 0 || run >= vector)
        return (struct kernel_work){.vectors = cost_times(rows, (run + vector - 1) / vector)};
    return (struct kernel_work){.vectors = (plan->bytes + vector - 1) / vector,
                                .gathered = plan->bytes / (element > 0 ? element : 1)};
}

void cost_of_kernel(struct move_cost *cost, const struct target_profile *profile,
                    const struct cost_memories *memories, const struct mli_plan *plan,
                    uint32_t element)
{
    const struct profile_costs *costs = &profile->costs;
    const struct kernel_work work = kernel_work(profile, plan, element);
    const bool has_figures = costs->kernel_vector > 0 || costs->kernel_element > 0;

    *cost = (struct move_cost){.channels = 1, .dominant = COST_CORE};
    measure_traffic(&cost->read, &cost->written, profile, memories, plan);
    if (has_figures && profile->vector_bits > 0)
        cost->part[COST_CORE] = cost_plus(
            costs->core_call, cost_plus(cost_times(work.vectors, costs->kernel_vector),
                                        cost_times(work.gathered, costs->kernel_element)));
    else
        cost->part[COST_CORE] =
            cost_plus(costs->core_call, cost_times(cost->written.beats, costs->core_beat));
    cost->total = cost->part[COST_CORE];
    cost->memcpy_total = memcpy_time(profile, cost->written.bytes);
}

uint64_t cost_ns(const struct target_profile *profile, profile_cost cost)
{
    /* cost / 10^6 cycles, each 10^9 / clock_hz ns: cost * 1000 / clock_hz, without overflow. */
    const uint64_t whole = cost / profile->clock_hz, rest = cost % profile->clock_hz;

    return cost_plus(cost_times(whole, 1000),
                     (rest * 1000 + profile->clock_hz - 1) / profile->clock_hz);
}
