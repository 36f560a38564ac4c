/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/races.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/grow.h"

enum { SHOWN_MAX = 16, WORD_BITS = 64, JOB_TEXT_MAX = 192 };

/* Maximum number of steps of the search in one file, which take about a second. */
#define BUDGET UINT64_C(50000000)

void races_begin(struct races *races, const struct job_file *file)
{
    *races = (struct races){.file = file};
}

void races_finish(struct races *races)
{
    free(races->list);
    *races = (struct races){0};
}

static void add(struct races *races, struct race_access access)
{
    if (list_grow(&races->list, races->count, &races->capacity, sizeof(access)))
        races->incomplete = true;
    else
        races->list[races->count++] = access;
}

void races_add(struct races *races, const struct resolved *resolved,
               const struct explained *explained)
{
    const struct job_spec *job = resolved->job;
    const size_t index = (size_t)(job - races->file->list.jobs);
    const mli_explanation *move = &explained->move;

    if (job->expect.kind == EXPECT_ERROR)
        return;
    if (resolved->src_buffer)
        add(races, (struct race_access){index, job->src.buffer_index, false,
                                        byte_set_read(move, job->src.offset)});
    if (resolved->dst_buffer)
        add(races, (struct race_access){index, job->dst.buffer_index, true,
                                        byte_set_written(move, job->dst.offset)});
}

/* The predecessors of each job, direct and indirect: a row of bits for each job. */
struct predecessors {
    uint64_t *bits;
    size_t words; /* number of words of a row */
};

static int find_predecessors(struct predecessors *found, const struct job_file *file)
{
    const size_t count = file->list.count;

    found->words = (count + WORD_BITS - 1) / WORD_BITS;
    found->bits = calloc(count * found->words, sizeof(*found->bits));
    if (!found->bits)
        return -1;
    for (size_t i = 0; i < count; i++) {
        const size_t job = file->order[i];
        uint64_t *row = found->bits + job * found->words;

        for (size_t k = 0; k < file->list.jobs[job].after_count; k++) {
            const size_t before = file->after[job][k];
            const uint64_t *its = found->bits + before * found->words;

            for (size_t w = 0; w < found->words; w++)
                row[w] |= its[w];
            row[before / WORD_BITS] |= UINT64_C(1) << before % WORD_BITS;
        }
    }
    return 0;
}

/* Returns whether job `a` waits for job `b`. */
static bool waits(const struct predecessors *found, size_t a, size_t b)
{
    return found->bits[a * found->words + b / WORD_BITS] >> b % WORD_BITS & 1;
}

/* Orders accesses by buffer and first byte. */
static int by_place(const void *left, const void *right)
{
    const struct race_access *a = left, *b = right;

    if (a->buffer != b->buffer)
        return a->buffer < b->buffer ? -1 : 1;
    if (a->bytes.begin != b->bytes.begin)
        return a->bytes.begin < b->bytes.begin ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

static const char *name_of(char out[JOB_TEXT_MAX], const struct job_spec *job)
{
    if (job->common.name)
        snprintf(out, JOB_TEXT_MAX, "\"%s\"", job->common.name);
    else
        snprintf(out, JOB_TEXT_MAX, "%s", job->pointer);
    return out;
}

static void print_race(const struct races *races, const struct race_access *a,
                       const struct race_access *b, const struct print_style *style)
{
    const struct job_file *file = races->file;
    const bool swap = a->job > b->job;
    const struct job_spec *first = &file->list.jobs[swap ? b->job : a->job];
    const struct job_spec *second = &file->list.jobs[swap ? a->job : b->job];
    const char *buffer = file->list.buffers[a->buffer].name;
    const uint64_t begin = a->bytes.begin > b->bytes.begin ? a->bytes.begin : b->bytes.begin;
    const uint64_t a_end = byte_set_end(&a->bytes), b_end = byte_set_end(&b->bytes);
    char text[2 * FAULT_TEXT_MAX], one[JOB_TEXT_MAX], two[JOB_TEXT_MAX];
    struct jsonw w;

    snprintf(text, sizeof(text),
             "race: the jobs %s and %s both use bytes of buffer %s within [%" PRIu64 ", %" PRIu64
             "), and %s; order the jobs with \"after\"",
             name_of(one, first), name_of(two, second), buffer, begin,
             a_end < b_end ? a_end : b_end,
             a->write && b->write ? "both write them" : "one writes them");
    print_error("%s: warning: %s", file->path, text);
    if (!style->json)
        return;
    jsonw_init_object(&w);
    jsonw_string(&w, "file", file->path);
    jsonw_object_begin(&w, "warning");
    jsonw_string(&w, "name", "RACE");
    jsonw_array_begin(&w, "jobs");
    jsonw_string(&w, NULL, first->pointer);
    jsonw_string(&w, NULL, second->pointer);
    jsonw_array_end(&w);
    jsonw_string(&w, "buffer", buffer);
    jsonw_string(&w, "message", text);
    jsonw_object_end(&w);
    print_object(&w);
}

/* A search for races over sorted accesses. */
struct search {
    const struct races *races;
    const struct print_style *style;
    struct predecessors before;
    uint64_t budget;
    size_t found;
};

static bool is_race(struct search *search, const struct race_access *a, const struct race_access *b)
{
    if ((!a->write && !b->write) || a->job == b->job || waits(&search->before, a->job, b->job) ||
        waits(&search->before, b->job, a->job))
        return false;
    return byte_sets_meet(&a->bytes, &b->bytes, &search->budget);
}

/* Compares each access with the later accesses that begin inside its span. */
static void search_all(struct search *search)
{
    const struct races *races = search->races;

    for (size_t i = 0; i < races->count; i++) {
        const struct race_access *a = &races->list[i];
        const uint64_t end = byte_set_end(&a->bytes);

        for (size_t k = i + 1; k < races->count; k++) {
            const struct race_access *b = &races->list[k];

            if (b->buffer != a->buffer || b->bytes.begin >= end)
                break;
            if (search->budget == 0)
                return;
            search->budget--;
            if (!is_race(search, a, b) || search->budget == 0)
                continue;
            if (search->found++ < SHOWN_MAX)
                print_race(races, a, b, search->style);
        }
    }
}

/* Warns that the list of races may be incomplete. */
static void warn_unchecked(const char *path, const struct print_style *style, const char *text)
{
    struct jsonw w;

    print_error("%s: warning: %s", path, text);
    if (!style->json)
        return;
    jsonw_init_object(&w);
    jsonw_string(&w, "file", path);
    jsonw_object_begin(&w, "warning");
    jsonw_string(&w, "name", "RACES_UNCHECKED");
    jsonw_string(&w, "message", text);
    jsonw_object_end(&w);
    print_object(&w);
}

void races_report(const struct races *races, const struct print_style *style)
{
    struct search search = {.races = races, .style = style, .budget = BUDGET};
    char text[FAULT_TEXT_MAX];
    const char *path;

    if (races->count < 2)
        return;
    path = races->file->path;
    if (races->file->list.count > RACES_JOBS_MAX) {
        snprintf(text, sizeof(text), "races on buffers are checked in files of up to %d jobs only",
                 RACES_JOBS_MAX);
        warn_unchecked(path, style, text);
        return;
    }
    if (races->incomplete || find_predecessors(&search.before, races->file)) {
        warn_unchecked(path, style, "no memory to check the buffers for races");
        return;
    }
    qsort(races->list, races->count, sizeof(*races->list), by_place);
    search_all(&search);
    free(search.before.bits);
    if (search.found > SHOWN_MAX)
        print_error("%s: warning: %zu more races on buffers", path, search.found - SHOWN_MAX);
    if (search.budget == 0)
        warn_unchecked(path, style,
                       "not all races on buffers are found: there are too many uses of them");
}
