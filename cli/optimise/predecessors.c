/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/predecessors.h"

#include <stdlib.h>

#include "cli/optimise/reach.h"

static int add(struct predecessors *to, size_t step)
{
    size_t at = to->count;

    while (at > 0 && to->list[at - 1] > step)
        at--;
    if (at > 0 && to->list[at - 1] == step)
        return 0;
    if (to->count == to->capacity) {
        const size_t capacity = to->capacity ? 2 * to->capacity : 2;
        size_t *list = realloc(to->list, capacity * sizeof(*list));

        if (!list)
            return -1;
        to->list = list;
        to->capacity = capacity;
    }
    for (size_t i = to->count; i > at; i--)
        to->list[i] = to->list[i - 1];
    to->list[at] = step;
    to->count++;
    return 0;
}

/* Adds step `before`, or the predecessors of a removed one. */
static int add_or_inherit(const struct program *p, const struct predecessors *found,
                          struct predecessors *to, size_t before)
{
    if (p->steps[before].alive)
        return add(to, before);
    for (size_t i = 0; i < found[before].count; i++) {
        if (add(to, found[before].list[i]))
            return -1;
    }
    return 0;
}

/* Makes the later steps that overwrite the source of a fused move wait for it. */
static int protect(struct program *p, struct predecessors *found, size_t fused)
{
    const struct route *route = &p->steps[fused].routes[p->steps[fused].chosen];
    const struct store *store = &p->stores[p->steps[route->base].src];
    const struct byte_set read = index_map_read(&route->map);

    for (size_t i = reach_first_write(store, fused + 1); i < store->write_count; i++) {
        const struct write *write = &store->writes[i];

        if (p->steps[write->step].alive && write->bytes.begin < byte_set_end(&read) &&
            read.begin < byte_set_end(&write->bytes) && add(&found[write->step], fused))
            return -1;
        if (found[write->step].count > JOB_AFTER_MAX)
            break;
    }
    return 0;
}

static bool uses_after(const struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        if (p->steps[i].job->after_count > 0)
            return true;
    }
    return false;
}

static int find_all(struct program *p, struct predecessors *found, const size_t *step_of,
                    size_t *full)
{
    for (size_t i = 0; i < p->count && *full == NONE; i++) {
        const struct program_step *step = &p->steps[i];

        for (size_t k = 0; k < step->job->after_count; k++) {
            if (add_or_inherit(p, found, &found[i], step_of[p->file->after[step->index][k]]))
                return -1;
        }
        if (step->alive && step->chosen != 0 && protect(p, found, i))
            return -1;
        if (found[i].count > JOB_AFTER_MAX)
            *full = i;
    }
    return 0;
}

int predecessors_find(struct program *p, struct predecessors **found, size_t *full)
{
    size_t *step_of = malloc(p->count * sizeof(*step_of));
    int status = 0;

    *full = NONE;
    *found = calloc(p->count, sizeof(**found));
    if (!step_of || !*found)
        status = -1;
    for (size_t i = 0; i < p->count && status == 0; i++)
        step_of[p->steps[i].index] = i;
    if (status == 0 && uses_after(p))
        status = find_all(p, *found, step_of, full);
    free(step_of);
    return status;
}

void predecessors_finish(struct predecessors *found, size_t count)
{
    for (size_t i = 0; found && i < count; i++)
        free(found[i].list);
    free(found);
}
