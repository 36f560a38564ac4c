/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/job_parts.h"

#include <stdlib.h>

#include "proto/wire/wire_limits.h"

/* Counts the readers of each step's result; 2 means two or more. */
static void count_readers(struct program *p, uint8_t *readers)
{
    struct reach reach;

    for (size_t i = 0; i < p->count; i++) {
        const struct program_step *step = &p->steps[i];
        const struct store *store = step->src == NONE ? NULL : &p->stores[step->src];

        if (!store || !store->intermediate)
            continue;
        reach_find(p, &step->map, step->src, i, &reach);
        for (size_t k = 0; reach.why == NOT_KEPT && k < reach.count; k++)
            readers[reach.pieces[k].step] += readers[reach.pieces[k].step] < 2;
        for (size_t k = 0; reach.why != NOT_KEPT && k < store->write_count; k++)
            readers[store->writes[k].step] = 2;
    }
}

/* Returns whether the source has per-axis parameters, which a split would have to divide. */
static bool has_axis(const struct program_step *step)
{
    const struct quant *quant = &step->job->src.desc.quant;

    return quant->count > 0 && quant->axis >= 0;
}

/* Returns whether a step may be split. Sets *reach to the pieces that the step reads. */
static bool is_candidate(struct program *p, const struct program_step *step, const uint8_t *readers,
                         struct reach *reach)
{
    if (step->src == NONE || step->frozen || !step->job->dst.buffer || step->src == step->dst ||
        has_axis(step) || !p->stores[step->src].intermediate ||
        step->job->after_count + SPLIT_PARTS_MAX > JOB_AFTER_MAX)
        return false;
    reach_find(p, &step->map, step->src, (size_t)(step - p->steps), reach);
    if (reach->why != NOT_KEPT || !reach->all || reach->count < 2 || reach->count > SPLIT_PARTS_MAX)
        return false;
    for (size_t i = 0; i < reach->count; i++) {
        const size_t writer = reach->pieces[i].step;

        if (p->steps[writer].needed != NOT_KEPT || readers[writer] != 1)
            return false;
    }
    return true;
}

/* Extends a box at the edge of the samples that a step reads by the zeros beyond that edge, so
 * that the parts together write all samples of the step. */
static struct index_box with_border(const struct index_map *map, struct index_box box)
{
    for (uint32_t d = 0; d < map->rank; d++) {
        if (box.lo[d] == map->axis[d].lo)
            box.lo[d] = 0;
        if (box.hi[d] == map->axis[d].hi)
            box.hi[d] = map->axis[d].count;
    }
    return box;
}

static int set_parts(struct program_step *step, const struct reach *reach)
{
    step->parts = malloc(reach->count * sizeof(*step->parts));
    if (!step->parts)
        return -1;
    step->part_count = reach->count;
    for (size_t i = 0; i < reach->count; i++)
        step->parts[i] = with_border(&step->map, reach->pieces[reach->count - 1 - i].given);
    return 0;
}

int split_mark(struct program *p, size_t which, size_t *count)
{
    uint8_t *readers = calloc(p->count, sizeof(*readers));
    struct reach reach;
    size_t candidates = 0;
    int status = readers ? 0 : -1;

    *count = 0;
    p->budget = PROGRAM_BUDGET;
    if (status == 0)
        count_readers(p, readers);
    for (size_t i = 0; i < p->count && status == 0; i++) {
        if (!is_candidate(p, &p->steps[i], readers, &reach))
            continue;
        if (which == SPLIT_ALL || which == candidates) {
            status = set_parts(&p->steps[i], &reach);
            ++*count;
        }
        candidates++;
    }
    free(readers);
    return status;
}

void split_unmark(struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->steps[i].parts);
        p->steps[i].parts = NULL;
        p->steps[i].part_count = 0;
    }
}

struct index_map split_map(const struct program_step *step, size_t part)
{
    const struct index_box *box = &step->parts[part];
    struct index_map map = step->map;

    for (uint32_t d = 0; d < map.rank; d++) {
        struct index_axis *axis = &map.axis[d];
        const uint64_t lo = axis->lo > box->lo[d] ? axis->lo : box->lo[d];
        const uint64_t hi = axis->hi < box->hi[d] ? axis->hi : box->hi[d];

        if (axis->hi - axis->lo > 1)
            map.src += (lo - axis->lo) * axis->src_step;
        map.dst += box->lo[d] * axis->dst_step;
        axis->count = box->hi[d] - box->lo[d];
        axis->lo = lo - box->lo[d];
        axis->hi = hi - box->lo[d];
    }
    return map;
}
