/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/races.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/compare.h"
#include "proto/grow.h"

enum { SHOWN_MAX = 16, WORD_BITS = 64 };

/* Maximum number of steps of the search in one file, which take about a second. */
#define BUDGET UINT64_C(50000000)

void races_begin(struct races *races, const struct job_file *file)
{
    *races = (struct races){.file = file};
}

void races_finish(struct races *races)
{
    for (size_t i = 0; i < races->count; i++)
        tensor_desc_finish(&races->list[i].tensor);
    free(races->list);
    *races = (struct races){0};
}

static void add(struct races *races, struct race_access access, const struct tensor_desc *tensor)
{
    if (list_grow(&races->list, races->count, &races->capacity, sizeof(access)) ||
        tensor_desc_copy(&access.tensor, tensor)) {
        races->incomplete = true;
        return;
    }
    access.tensor.has_type = false; /* an element may be read as one of another type */
    races->list[races->count++] = access;
}

/* Returns whether a job writes a part of a new tensor. */
static bool is_part(const struct tensor_spec *dst)
{
    return dst->part || tensor_spec_makes(dst);
}

static void copy_entry(struct quant *to, uint32_t i, const struct quant *from, uint32_t at)
{
    to->scale[i] = from->scale[at];
    to->zero_point[i] = from->zero_point[at];
    to->scale_frac_bits[i] = from->scale_frac_bits[at];
}

/* Gives a part of a new tensor the shape of the tensor, and the parameters of its dst. */
static int widen(struct tensor_desc *tensor, const struct tensor_desc *dst)
{
    struct quant *own = &tensor->quant;

    tensor->rank = dst->rank;
    memcpy(tensor->shape, dst->shape, sizeof(tensor->shape));
    if (own->axis < 0 || own->count == 0)
        return 0;
    if (quant_alloc(own, dst->shape[own->axis]))
        return -1;
    for (uint32_t i = 0; i < own->count && dst->quant.count == own->count; i++)
        copy_entry(own, i, &dst->quant, i);
    return 0;
}

/* Sets the parameters of a result: those of the source's indices that the move takes. Returns 0 or
 * -1: out of memory. */
static int find_result(const struct resolved *r, struct race_access *access,
                       struct tensor_desc *tensor)
{
    const struct tensor_desc *src = &r->wire.src.desc;
    const mli_mov_cfg_t *cfg = &r->wire.common.cfg;
    const uint32_t from = src->quant.axis < 0 ? 0 : (uint32_t)src->quant.axis;
    struct fault ignored;

    if (tensor_desc_copy(tensor, src))
        return -1;
    tensor->rank = r->result.rank;
    memcpy(tensor->shape, r->result.shape, sizeof(tensor->shape));
    if (src->quant.count > 0 && src->quant.axis >= 0) {
        quant_alloc(&tensor->quant, 0);
        if (explained_own_parameters(r, &tensor->quant, &ignored))
            return -1;
        access->begin = cfg->dst_offset[tensor->quant.axis];
        access->end = tensor->quant.count;
    }
    if (is_part(&r->job->dst) && widen(tensor, &r->job->dst.desc))
        return -1;
    const uint32_t step = cfg->sub_sample_step[from] ? cfg->sub_sample_step[from] : 1;
    for (uint32_t i = access->begin; i < access->end; i++) {
        const int64_t at = (int64_t)cfg->offset[from] + (int64_t)(i - access->begin) * step -
                           cfg->padding_pre[from];

        if (at >= 0 && at < src->quant.count)
            copy_entry(&tensor->quant, i, &src->quant, (uint32_t)at);
    }
    return 0;
}

/* Returns the place of a tensor; SIZE_MAX: jobs cannot race for it. `writers`: file->output or
 * file->input. */
static size_t place_of_tensor(const struct job_file *file, const struct tensor_spec *spec,
                              const size_t *writers, size_t index)
{
    if (spec->buffer)
        return spec->buffer_index;
    if (!writers || writers[index] == SIZE_MAX)
        return SIZE_MAX;
    return file->list.buffer_count + writers[index];
}

void races_add(struct races *races, const struct resolved *resolved,
               const struct explained *explained)
{
    const struct job_spec *job = resolved->job;
    const struct job_file *file = races->file;
    const size_t index = (size_t)(job - file->list.jobs);
    const mli_explanation *move = &explained->move;
    const size_t src = place_of_tensor(file, &job->src, file->input, index);
    const size_t dst = place_of_tensor(file, &job->dst, file->output, index);

    if (job->expect.kind == EXPECT_ERROR)
        return;
    if (src != SIZE_MAX)
        add(races,
            (struct race_access){index, src, false, byte_set_read(move, explained->src.offset),
                                 job->src.offset},
            &resolved->wire.src.desc);
    if (dst == SIZE_MAX)
        return;
    struct race_access written = {index, dst, true, byte_set_written(move, explained->dst.offset),
                                  job->dst.offset};
    struct tensor_desc result = {0};
    if ((job->dst.buffer || is_part(&job->dst)) && find_result(resolved, &written, &result))
        races->incomplete = true;
    else
        add(races, written, &result);
    tensor_desc_finish(&result);
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
        const size_t job = file->list.order[i];
        uint64_t *row = found->bits + job * found->words;

        for (size_t k = 0; k < file->list.jobs[job].after_count; k++) {
            const size_t before = file->list.jobs[job].before[k];
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

/* Orders accesses by place and first byte. */
static int by_place(const void *left, const void *right)
{
    const struct race_access *a = left, *b = right;

    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (a->bytes.begin != b->bytes.begin)
        return a->bytes.begin < b->bytes.begin ? -1 : 1;
    return (a->job > b->job) - (a->job < b->job);
}

/* Two jobs that use the same place. */
struct pair {
    const struct job_spec *first, *second;
    bool in_buffer;
    const char *place;          /* name of the buffer, or of the file */
    char shown[PRINT_PATH_MAX]; /* the place for a message */
    char one[JOB_SHOWN_MAX], two[JOB_SHOWN_MAX];
};

static struct pair pair_of(const struct races *races, const struct race_access *a,
                           const struct race_access *b)
{
    const struct job_list *list = &races->file->list;
    const bool in_buffer = a->place < list->buffer_count;
    struct pair pair = {&list->jobs[a->job], &list->jobs[b->job], in_buffer,
                        in_buffer ? list->buffers[a->place].name
                                  : list->jobs[a->place - list->buffer_count].dst.file};

    if (in_buffer)
        snprintf(pair.shown, sizeof(pair.shown), "buffer %s", pair.place);
    else
        job_file_shown(pair.shown, races->file, pair.place);
    job_shown(pair.one, pair.first);
    job_shown(pair.two, pair.second);
    return pair;
}

/* Prints a warning; with --json also as an object. `pair`: null if the warning is about all jobs.
 */
static void warn(const struct races *races, const char *name, const struct pair *pair,
                 const char *text, const struct print_style *style)
{
    struct jsonw w;

    print_error("%s: warning: %s", races->file->path, text);
    if (!style->json)
        return;
    jsonw_init_object(&w);
    jsonw_string(&w, "file", races->file->path);
    jsonw_object_begin(&w, "warning");
    jsonw_string(&w, "name", name);
    if (pair) {
        jsonw_array_begin(&w, "jobs");
        jsonw_string(&w, NULL, pair->first->pointer);
        jsonw_string(&w, NULL, pair->second->pointer);
        jsonw_array_end(&w);
        jsonw_string(&w, pair->in_buffer ? "buffer" : "file", pair->place);
    }
    jsonw_string(&w, "message", text);
    jsonw_object_end(&w);
    print_object(&w);
}

/* Warns that the list of races may be incomplete. */
static void warn_unchecked(const struct races *races, const struct print_style *style,
                           const char *text)
{
    warn(races, "RACES_UNCHECKED", NULL, text, style);
}

static void warn_of_race(const struct races *races, const struct race_access *a,
                         const struct race_access *b, const struct print_style *style)
{
    const struct pair pair = a->job > b->job ? pair_of(races, b, a) : pair_of(races, a, b);
    const uint64_t begin = a->bytes.begin > b->bytes.begin ? a->bytes.begin : b->bytes.begin;
    const uint64_t a_end = byte_set_end(&a->bytes), b_end = byte_set_end(&b->bytes);
    char text[2 * FAULT_TEXT_MAX];

    snprintf(text, sizeof(text),
             "race: the jobs %s and %s both use bytes of %s within [%" PRIu64 ", %" PRIu64
             "), and %s; order the jobs with \"after\"",
             pair.one, pair.two, pair.shown, begin, a_end < b_end ? a_end : b_end,
             a->write && b->write ? "both write them" : "one writes them");
    warn(races, "RACE", &pair, text, style);
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

            if (b->place != a->place || b->bytes.begin >= end)
                break;
            if (search->budget == 0)
                return;
            search->budget--;
            if (!is_race(search, a, b) || search->budget == 0)
                continue;
            if (search->found++ < SHOWN_MAX)
                warn_of_race(races, a, b, search->style);
        }
    }
}

void races_report(const struct races *races, const struct print_style *style)
{
    struct search search = {.races = races, .style = style, .budget = BUDGET};
    char text[FAULT_TEXT_MAX];

    if (races->count < 2)
        return;
    if (races->file->list.count > RACES_JOBS_MAX) {
        snprintf(text, sizeof(text), "races are checked in files of up to %d jobs only",
                 RACES_JOBS_MAX);
        warn_unchecked(races, style, text);
        return;
    }
    if (races->incomplete || find_predecessors(&search.before, races->file)) {
        warn_unchecked(races, style, "no memory to check the jobs for races");
        return;
    }
    qsort(races->list, races->count, sizeof(*races->list), by_place);
    search_all(&search);
    free(search.before.bits);
    if (search.found > SHOWN_MAX)
        print_error("%s: warning: %zu more races", races->file->path, search.found - SHOWN_MAX);
    if (search.budget == 0)
        warn_unchecked(races, style,
                       "not all races are found: the jobs use too many parts of buffers and files");
}

/* Returns the number of bytes of a set. */
static uint64_t bytes_of(const struct byte_set *set)
{
    uint64_t bytes = set->run;

    for (uint32_t i = 0; i < set->loops; i++)
        bytes *= set->loop[i].count;
    return bytes;
}

/* Returns whether the entries of both tensors belong to the same indices: always without axes. */
static bool is_comparable(const struct race_access *a, const struct race_access *b)
{
    const bool per_axis = (a->tensor.quant.count > 0 && a->tensor.quant.axis >= 0) ||
                          (b->tensor.quant.count > 0 && b->tensor.quant.axis >= 0);
    const size_t size = a->tensor.rank * sizeof(a->tensor.shape[0]);

    return !per_axis || (a->offset == b->offset && a->tensor.rank == b->tensor.rank &&
                         memcmp(a->tensor.shape, b->tensor.shape, size) == 0);
}

/* Compares the parameters of a tensor that a job reads, or writes the last part of, with those of
 * the tensor that an earlier job has written there. Returns whether they differ. */
static bool check_params(const struct races *races, const struct race_access *written,
                         const struct race_access *later, const struct print_style *style)
{
    const struct pair pair = pair_of(races, written, later);
    char text[COMPARE_TEXT_MAX], message[3 * FAULT_TEXT_MAX];
    struct difference difference;

    compare_params(&written->tensor, &later->tensor, &difference);
    if (!is_comparable(written, later) || difference.kind == DIFFERENCE_NONE)
        return false;
    difference_text(&difference, pair.one, pair.two, text);
    snprintf(message, sizeof(message), "%s: %s%s", pair.shown, text,
             later->write ? "; the last part gives the parameters of the tensor" : "");
    warn(races, "PARAMS", &pair, message, style);
    return true;
}

/* Compares the parameters that each part of a new tensor gives with those of the last part, which
 * has the parameters of the tensor. Returns the number of warnings. */
static size_t report_parts(const struct races *races, const struct print_style *style)
{
    const struct job_file *file = races->file;
    struct race_access **last = calloc(file->list.buffer_count + file->list.count, sizeof(*last));
    size_t found = 0;

    for (size_t i = races->count; i-- > 0 && last && found < SHOWN_MAX;) {
        struct race_access *part = &races->list[i], *given = last[part->place];
        struct quant *own = &part->tensor.quant;

        if (!part->write || part->place < file->list.buffer_count || part->tensor.rank == 0)
            continue;
        if (!given) {
            last[part->place] = part;
            continue;
        }
        for (uint32_t k = 0;
             given->end > 0 && part->end > 0 && k < own->count && k < given->tensor.quant.count;
             k++)
            if (k < part->begin || k >= part->end)
                copy_entry(own, k, &given->tensor.quant, k);
        found += check_params(races, part, given, style);
    }
    free(last);
    return found;
}

void races_report_params(const struct races *races, const struct print_style *style)
{
    uint64_t budget = BUDGET / 10;
    size_t found = report_parts(races, style);

    for (size_t i = 0; i < races->count && found < SHOWN_MAX; i++) {
        const struct race_access *read = &races->list[i];
        const bool in_buffer = read->place < races->file->list.buffer_count;
        uint64_t left = read->write || !in_buffer ? 0 : bytes_of(&read->bytes);

        /* From the latest job to earlier ones, until all bytes have a writer. */
        for (size_t k = i; k-- > 0 && left > 0 && budget > 0; budget -= budget > 0) {
            const struct race_access *written = &races->list[k];

            if (!written->write || written->place != read->place ||
                !byte_sets_meet(&written->bytes, &read->bytes, &budget))
                continue;
            const uint64_t bytes = bytes_of(&written->bytes);
            left -= bytes < left ? bytes : left;
            found += check_params(races, written, read, style);
        }
    }
}
