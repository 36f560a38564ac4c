/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/byte_set.h"

/* Inserts a loop; the loops stay ordered from the largest step to the smallest. */
static void add_loop(struct byte_set *set, uint64_t count, uint64_t step)
{
    uint32_t at = set->loops;

    if (count == 0)
        set->run = 0;
    if (count < 2 || step == 0)
        return;
    for (; at > 0 && set->loop[at - 1].step < step; at--)
        set->loop[at] = set->loop[at - 1];
    set->loop[at] = (struct byte_set_loop){count, step};
    set->loops++;
}

/* Joins runs that follow one another without a gap. */
static struct byte_set join(struct byte_set set)
{
    while (set.loops > 0 && set.loop[set.loops - 1].step == set.run)
        set.run *= set.loop[--set.loops].count;
    return set;
}

struct byte_set byte_set_of(uint64_t begin, uint64_t run, const struct byte_set_loop *loops,
                            uint32_t count)
{
    struct byte_set set = {.begin = begin, .run = run};

    for (uint32_t i = 0; i < count; i++)
        add_loop(&set, loops[i].count, loops[i].step);
    return join(set);
}

struct byte_set byte_set_read(const mli_explanation *move, uint64_t base)
{
    struct byte_set set = {.begin = base, .run = move->elem};

    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];

        set.begin += axis->first * axis->src_stride * move->elem;
        add_loop(&set, axis->hi - axis->lo, axis->step * axis->src_stride * move->elem);
    }
    return join(set);
}

struct byte_set byte_set_written(const mli_explanation *move, uint64_t base)
{
    struct byte_set set = {.begin = base, .run = move->elem};

    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *axis = &move->axis[d];

        set.begin += axis->dst_offset * axis->dst_stride * move->elem;
        add_loop(&set, axis->count, axis->dst_stride * move->elem);
    }
    return join(set);
}

/* The part of a set at one iteration of its first `level` loops. */
struct part {
    const struct byte_set *set;
    uint32_t level;
    uint64_t begin;
};

/* Returns the number of bytes from the first to the last byte of a part. */
static uint64_t span_of(const struct byte_set *set, uint32_t level)
{
    uint64_t span = set->run;

    for (uint32_t i = level; i < set->loops; i++)
        span += (set->loop[i].count - 1) * set->loop[i].step;
    return span;
}

static uint64_t end_of(const struct part *part)
{
    return part->begin + span_of(part->set, part->level);
}

static bool is_run(const struct part *part)
{
    return part->level == part->set->loops;
}

/* Finds the first and last iteration of the outermost loop of `part` whose span meets the span of
 * `other`. The spans of both parts must meet. */
static void narrow(const struct part *part, const struct part *other, uint64_t *first,
                   uint64_t *last)
{
    const struct byte_set_loop *loop = &part->set->loop[part->level];
    const uint64_t inner_end = part->begin + span_of(part->set, part->level + 1);

    *first = other->begin < inner_end ? 0 : (other->begin - inner_end) / loop->step + 1;
    *last = (end_of(other) - 1 - part->begin) / loop->step;
    if (*last > loop->count - 1)
        *last = loop->count - 1;
}

static bool meet(struct part a, struct part b, uint64_t *budget)
{
    if (a.begin >= end_of(&b) || b.begin >= end_of(&a))
        return false;
    if (is_run(&a) && is_run(&b))
        return true;
    if (is_run(&a) || (!is_run(&b) && span_of(b.set, b.level) > span_of(a.set, a.level))) {
        const struct part wide = b;

        b = a;
        a = wide;
    }
    uint64_t first, last;
    const struct byte_set_loop *loop = &a.set->loop[a.level];
    narrow(&a, &b, &first, &last);
    /* `b` is one run, which reaches into two successive iterations of `a`. So the run contains the
     * last byte of the first of these, which is a byte of both sets. */
    if (is_run(&b) && first < last && span_of(a.set, a.level + 1) <= loop->step)
        return true;
    for (uint64_t i = first; i <= last && i < loop->count; i++) {
        const struct part inner = {a.set, a.level + 1, a.begin + i * loop->step};

        if (*budget == 0)
            return true;
        --*budget;
        if (meet(inner, b, budget))
            return true;
    }
    return false;
}

uint64_t byte_set_end(const struct byte_set *set)
{
    return set->begin + (set->run > 0 ? span_of(set, 0) : 0);
}

bool byte_sets_meet(const struct byte_set *a, const struct byte_set *b, uint64_t *budget)
{
    if (a->run == 0 || b->run == 0)
        return false;
    return meet((struct part){a, 0, a->begin}, (struct part){b, 0, b->begin}, budget);
}
