/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tile/tile_jobs.h"

#include <inttypes.h>
#include <stdlib.h>

#include "proto/grow.h"

#define NO_JOB UINT32_MAX

/* The latest accesses to the bytes between two neighbouring bounds. */
struct segment {
    uint32_t writer; /* the last writer, or NO_JOB */
    uint32_t readers_count;
    size_t readers_capacity;
    uint32_t *reader; /* jobs that read since the last write, without those that others wait for */
};

struct check {
    const struct tile_use *uses;
    uint64_t *bound; /* all bounds (begins and ends) of ranges, ascending */
    size_t bounds;
    struct segment *segment; /* segment i: bytes bound[i] .. bound[i + 1] - 1 */
    /* The search for the jobs that the job `from` waits for: */
    uint32_t from, floor;   /* of the jobs from `floor` on, all that `from` waits for are found */
    uint32_t *stack, *seen; /* seen[job] == mark: the search has reached the job */
    size_t depth;
    uint32_t mark;
};

static int compare_bounds(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;

    return (left > right) - (left < right);
}

/* Begins the search for the jobs that `job` waits for. */
static void begin_search(struct check *c, uint32_t job)
{
    c->mark++;
    c->from = job;
    c->floor = NO_JOB;
    c->depth = 0;
    c->stack[c->depth++] = job;
}

/*
 * Continues the search until it reaches `earlier`, or has reached all jobs after `earlier`. The
 * stack has the jobs that are reached, and whose `after` is not read yet.
 */
static void search(struct check *c, uint32_t earlier)
{
    size_t kept = 0; /* entries at the bottom of the stack whose jobs are before `earlier` */

    while (kept < c->depth && c->seen[earlier] != c->mark) {
        const uint32_t at = c->stack[--c->depth];
        const struct tile_use *use = &c->uses[at];

        if (at <= earlier) {
            c->stack[c->depth++] = c->stack[kept];
            c->stack[kept++] = at;
            continue;
        }
        for (uint32_t i = 0; i < use->after_count; i++) {
            const uint32_t before = use->after[i];

            if (c->seen[before] != c->mark) {
                c->seen[before] = c->mark;
                c->stack[c->depth++] = before;
            }
        }
    }
    if (kept == c->depth)
        c->floor = earlier;
}

/*
 * Returns whether a chain of `after` leads from `job` back to `earlier`. Consecutive calls for one
 * job share a search, because a job that reads many segments needs a call for each segment.
 */
static bool waits_for(struct check *c, uint32_t job, uint32_t earlier)
{
    if (c->from != job)
        begin_search(c, job);
    if (earlier < c->floor)
        search(c, earlier);
    return c->seen[earlier] == c->mark;
}

static int complain(const struct check *c, size_t at, uint32_t earlier, bool earlier_writes,
                    uint32_t job, bool writes, struct fault *fault)
{
    return fault_set(fault, FAULT_REFUSED, NULL,
                     "%s %s bytes %" PRIu64 " to %" PRIu64 " that %s %s, but does not wait for it",
                     c->uses[job].name, writes ? "writes" : "reads", c->bound[at],
                     c->bound[at + 1] - 1, c->uses[earlier].name,
                     earlier_writes ? "writes" : "reads");
}

/* Adds a reader to a segment, and removes the readers for which it waits. */
static int add_reader(struct check *c, struct segment *segment, uint32_t job)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < segment->readers_count; i++) {
        if (segment->reader[i] != job && !waits_for(c, job, segment->reader[i]))
            segment->reader[kept++] = segment->reader[i];
    }
    if (list_grow(&segment->reader, kept, &segment->readers_capacity, sizeof job))
        return -1;
    segment->reader[kept++] = job;
    segment->readers_count = kept;
    return 0;
}

/* Returns whether a job waits for a reader of the segment: then it also waits for the writer. */
static bool follows_a_reader(struct check *c, const struct segment *segment, uint32_t job)
{
    for (uint32_t i = 0; i < segment->readers_count; i++) {
        if (segment->reader[i] == job || waits_for(c, job, segment->reader[i]))
            return true;
    }
    return false;
}

static int read_segment(struct check *c, size_t at, uint32_t job, struct fault *fault)
{
    struct segment *segment = &c->segment[at];

    if (segment->writer != NO_JOB && segment->writer != job && !follows_a_reader(c, segment, job) &&
        !waits_for(c, job, segment->writer))
        /* The segment still holds its array. NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
        return complain(c, at, segment->writer, true, job, false, fault);
    return add_reader(c, segment, job) < 0 ? fault_no_memory(fault) : 0;
}

static int write_segment(struct check *c, size_t at, uint32_t job, struct fault *fault)
{
    struct segment *segment = &c->segment[at];

    for (uint32_t i = 0; i < segment->readers_count; i++) {
        if (segment->reader[i] != job && !waits_for(c, job, segment->reader[i]))
            return complain(c, at, segment->reader[i], false, job, true, fault);
    }
    if (segment->readers_count == 0 && segment->writer != NO_JOB && segment->writer != job &&
        !waits_for(c, job, segment->writer))
        return complain(c, at, segment->writer, true, job, true, fault);
    segment->writer = job;
    segment->readers_count = 0;
    return 0;
}

static int check_access(struct check *c, uint32_t job, const struct tile_access *access,
                        struct fault *fault)
{
    const uint64_t *found =
        bsearch(&access->begin, c->bound, c->bounds, sizeof *c->bound, compare_bounds);
    int status = 0;

    for (size_t at = (size_t)(found - c->bound); c->bound[at] < access->end && status == 0; at++)
        status =
            access->writes ? write_segment(c, at, job, fault) : read_segment(c, at, job, fault);
    return status;
}

static int check_use(const struct tile_use *uses, uint32_t job, uint64_t budget,
                     struct fault *fault)
{
    const struct tile_use *use = &uses[job];

    for (uint32_t i = 0; i < use->after_count; i++) {
        if (use->after[i] >= job)
            return fault_set(fault, FAULT_REFUSED, NULL, "%s waits for a job that is not before it",
                             use->name);
    }
    for (uint32_t i = 0; i < use->access_count; i++) {
        const struct tile_access *access = &use->access[i];

        if (access->begin >= access->end || access->end > budget)
            return fault_set(fault, FAULT_REFUSED, NULL,
                             "%s uses bytes %" PRIu64 " to %" PRIu64 ", but the budget has %" PRIu64
                             " B",
                             use->name, access->begin, access->end - 1, budget);
    }
    return 0;
}

/* Collects the bounds of all ranges, without duplicates. Returns 0, or -1 if out of memory. */
static int init(struct check *c, const struct tile_use *uses, size_t count)
{
    size_t bounds = 0;

    *c = (struct check){.uses = uses, .from = NO_JOB};
    c->bound = calloc(count * TILE_ACCESSES_MAX * 2 + 1, sizeof *c->bound);
    c->segment = NULL;
    c->stack = calloc(count + 1, sizeof *c->stack);
    c->seen = calloc(count + 1, sizeof *c->seen);
    if (!c->bound || !c->stack || !c->seen)
        return -1;
    for (size_t i = 0; i < count; i++) {
        for (uint32_t r = 0; r < uses[i].access_count; r++) {
            c->bound[bounds++] = uses[i].access[r].begin;
            c->bound[bounds++] = uses[i].access[r].end;
        }
    }
    qsort(c->bound, bounds, sizeof *c->bound, compare_bounds);
    for (size_t i = 0; i < bounds; i++) {
        if (c->bounds == 0 || c->bound[i] != c->bound[c->bounds - 1])
            c->bound[c->bounds++] = c->bound[i];
    }
    c->segment = calloc(c->bounds + 1, sizeof *c->segment);
    if (!c->segment)
        return -1;
    for (size_t i = 0; i < c->bounds; i++)
        c->segment[i].writer = NO_JOB;
    return 0;
}

static void finish(struct check *c)
{
    for (size_t i = 0; c->segment && i < c->bounds; i++)
        free(c->segment[i].reader);
    free(c->segment);
    free(c->bound);
    free(c->stack);
    free(c->seen);
}

int tile_check(const struct tile_use *uses, size_t count, uint64_t budget, struct fault *fault)
{
    struct check c;
    int status = 0;

    for (size_t i = 0; i < count; i++) {
        if (check_use(uses, (uint32_t)i, budget, fault) < 0)
            return -1;
    }
    if (init(&c, uses, count) < 0)
        status = fault_no_memory(fault);
    /* The reads of a job come first, because they see the bytes before its own writes. */
    for (size_t i = 0; i < count && status == 0; i++) {
        for (uint32_t writes = 0; writes < 2; writes++) {
            for (uint32_t r = 0; r < uses[i].access_count && status == 0; r++) {
                if (uses[i].access[r].writes == (writes == 1))
                    status = check_access(&c, (uint32_t)i, &uses[i].access[r], fault);
            }
        }
    }
    finish(&c);
    return status;
}
