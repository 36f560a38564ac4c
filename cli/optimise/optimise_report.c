/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/optimise.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 12, LABEL_MAX = 192, REASON_MAX = 512 };

/* A row of the table: a number before and after. */
struct figure {
    const char *name;
    uint64_t before, after;
    enum { FIGURE_COUNT, FIGURE_BYTES, FIGURE_TIME } unit;
};

enum { FIGURES = 6 };

static void figures_of(const struct optimised *result, struct figure figures[FIGURES])
{
    const struct optimise_totals *b = &result->before, *a = &result->after;

    figures[0] = (struct figure){"jobs", b->jobs, a->jobs, FIGURE_COUNT};
    figures[1] = (struct figure){"read", b->read, a->read, FIGURE_BYTES};
    figures[2] = (struct figure){"written", b->written, a->written, FIGURE_BYTES};
    figures[3] = (struct figure){"intermediates", b->intermediates, a->intermediates, FIGURE_COUNT};
    figures[4] =
        (struct figure){"their size", b->intermediate_bytes, a->intermediate_bytes, FIGURE_BYTES};
    figures[5] = (struct figure){"predicted", b->ns, a->ns, FIGURE_TIME};
}

static void number_cell(struct grid *grid, const struct figure *figure, uint64_t number)
{
    char text[PRINT_TEXT_MAX];

    if (figure->unit == FIGURE_TIME)
        grid_add(grid, "%s", print_time(text, number));
    else if (figure->unit == FIGURE_BYTES)
        grid_add(grid, "%s", print_bytes(text, number));
    else
        grid_add(grid, "%" PRIu64, number);
}

static void write_table(struct textw *w, const struct optimised *result)
{
    struct figure figures[FIGURES];
    struct grid grid;

    grid_init(&grid, "lrrr");
    grid_add(&grid, "\tbefore\tafter\tsaved");
    figures_of(result, figures);
    for (size_t i = 0; i < FIGURES; i++) {
        const struct figure *figure = &figures[i];
        /*
         * A fused move may read more bytes than the moves that it replaces, so the saving may be
         * negative.
         */
        const double saved =
            figure->before ? 100 - 100 * (double)figure->after / (double)figure->before : 0;

        if (figure->unit == FIGURE_TIME && (!figure->before || !figure->after))
            continue; /* unknown */
        grid_add(&grid, "%s", figure->name);
        number_cell(&grid, figure, figure->before);
        number_cell(&grid, figure, figure->after);
        grid_add(&grid, "%.0f %%", saved);
    }
    grid_write(&grid, "  ", w);
}

/* Returns the job of the old file that became this job of the new file. */
static const struct job_spec *origin_of(const struct optimised *result,
                                        const struct program_step *step)
{
    return &result->first.file->list.jobs[result->jobs[step->index].origin];
}

static const char *label_of(char out[LABEL_MAX], const struct optimised *result,
                            const struct job_spec *job)
{
    const size_t index = (size_t)(job - result->first.file->list.jobs);

    if (job->common.name)
        snprintf(out, LABEL_MAX, "job %zu \"%s\"", index, job->common.name);
    else
        snprintf(out, LABEL_MAX, "job %zu", index);
    return out;
}

/* Returns a tensor as the job names it. */
static const char *place_of_tensor(const struct tensor_spec *spec)
{
    return spec->buffer ? spec->buffer : spec->file;
}

/* Writes a tensor for a message: its path is relative to the working directory. */
static const char *tensor_shown(char out[PRINT_PATH_MAX], const struct optimised *result,
                                const struct tensor_spec *spec)
{
    return spec->buffer ? spec->buffer : job_file_shown(out, result->first.file, spec->file);
}

/* Returns whether a job stays although its destination is an intermediate result, or could be. */
static bool is_kept(const struct program *p, const struct program_step *step)
{
    if (step->dst == NONE)
        return false;
    const struct store *store = &p->stores[step->dst];
    return store->intermediate || store->is_buffer || store->read;
}

static enum kept reason_of(const struct program *p, const struct program_step *step)
{
    if (step->needed != NOT_KEPT)
        return step->needed;
    if (step->reader == NONE || p->steps[step->reader].obstacle == NOT_KEPT)
        return KEPT_NO_GAIN;
    return p->steps[step->reader].obstacle;
}

/* Writes the reason, with the name of the job that needs the result. */
static const char *write_reason(char out[REASON_MAX], const struct optimised *result,
                                const struct program_step *step)
{
    const struct program *p = optimised_last(result);
    const char *text = kept_text(reason_of(p, step)), *gap = strstr(text, "%s");
    char label[LABEL_MAX];

    if (!gap)
        return text;
    if (step->reader == NONE)
        snprintf(label, sizeof(label), "a job");
    else
        label_of(label, result, origin_of(result, &p->steps[step->reader]));
    snprintf(out, REASON_MAX, "%.*s%s%s", (int)(gap - text), text, label, gap + 2);
    return out;
}

/* Sets a flag for each job of the old file that stays. Returns null if out of memory. */
static bool *find_staying(const struct optimised *result)
{
    bool *stays = calloc(result->first.count, sizeof(*stays));

    for (size_t i = 0; i < result->after.jobs && stays; i++)
        stays[result->jobs[i].origin] = true;
    return stays;
}

/* Counts a line of one kind. Returns whether the line is shown; write_rest() writes how many lines
 * are not shown. */
static bool shows(size_t *count)
{
    return ++*count <= SHOWN_MAX;
}

static void write_rest(struct textw *w, size_t count, const char *what)
{
    if (count > SHOWN_MAX)
        textw_printf(w, "  %zu more jobs %s; --json lists all\n", count - SHOWN_MAX, what);
}

static void write_fused(struct textw *w, const struct optimised *result)
{
    const struct program *p = optimised_last(result);
    char label[LABEL_MAX], from[PRINT_PATH_MAX], to[PRINT_PATH_MAX];
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct program_step *step = &p->steps[i];

        if (result->jobs[step->index].fused && shows(&count))
            textw_printf(w, "  fused: %s moves %s -> %s\n",
                         label_of(label, result, origin_of(result, step)),
                         tensor_shown(from, result, &step->job->src),
                         tensor_shown(to, result, &step->job->dst));
    }
    write_rest(w, count, "are fused");
}

static void write_removed(struct textw *w, const struct optimised *result)
{
    const struct job_list *list = &result->first.file->list;
    bool *stays = find_staying(result);
    char label[LABEL_MAX], output[PRINT_PATH_MAX];
    size_t count = 0;

    w->failed |= !stays;
    for (size_t i = 0; i < list->count && stays; i++) {
        if (!stays[i] && shows(&count))
            textw_printf(w, "  removed: %s (%s)\n", label_of(label, result, &list->jobs[i]),
                         tensor_shown(output, result, &list->jobs[i].dst));
    }
    write_rest(w, count, "are removed");
    free(stays);
}

static void write_kept(struct textw *w, const struct optimised *result)
{
    const struct program *p = optimised_last(result);
    char label[LABEL_MAX], reason[REASON_MAX];
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++) {
        const struct program_step *step = &p->steps[i];

        if (is_kept(p, step) && shows(&count))
            textw_printf(w, "  kept: %s: %s\n", label_of(label, result, origin_of(result, step)),
                         write_reason(reason, result, step));
    }
    write_rest(w, count, "are kept");
}

static void write_proof(struct textw *w, const struct proof *proof)
{
    char bytes[PRINT_TEXT_MAX];

    if (proof->equal)
        textw_printf(w, "  proved: %zu output%s of %s: equal in %u run%s of both files\n",
                     proof->outputs, print_s(proof->outputs), print_bytes(bytes, proof->bytes),
                     proof->passes, print_s(proof->passes));
}

void optimise_report_text(struct textw *w, const struct optimised *result)
{
    const size_t before = result->before.jobs, after = result->after.jobs;

    textw_printf(w, "%s: ", result->first.file->path);
    if (after == before)
        textw_printf(w, "%zu job%s; none can be fused or removed\n", before, print_s(before));
    else
        textw_printf(w, "%zu jobs -> %zu\n", before, after);
    if (after < before)
        write_table(w, result);
    write_fused(w, result);
    write_removed(w, result);
    write_kept(w, result);
    write_proof(w, &result->proof);
}

static void write_totals(struct jsonw *w, const char *key, const struct optimise_totals *totals)
{
    jsonw_object_begin(w, key);
    jsonw_uint(w, "jobs", totals->jobs);
    jsonw_uint(w, "read_bytes", totals->read);
    jsonw_uint(w, "written_bytes", totals->written);
    jsonw_uint(w, "intermediates", totals->intermediates);
    jsonw_uint(w, "intermediate_bytes", totals->intermediate_bytes);
    if (totals->ns > 0)
        jsonw_uint(w, "predicted_ns", totals->ns);
    jsonw_object_end(w);
}

/* Opens an object with the members that name a job. */
static void begin_job(struct jsonw *w, const struct job_spec *job)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "job", job->pointer);
    if (job->common.name)
        jsonw_string(w, "name", job->common.name);
}

static void write_jobs(struct jsonw *w, const struct optimised *result)
{
    const struct program *p = optimised_last(result);
    const struct job_list *list = &result->first.file->list;
    bool *stays = find_staying(result);
    char reason[REASON_MAX];

    w->failed |= !stays;
    jsonw_array_begin(w, "fused");
    for (size_t i = 0; i < p->count; i++) {
        const struct program_step *step = &p->steps[i];

        if (!result->jobs[step->index].fused)
            continue;
        begin_job(w, origin_of(result, step));
        jsonw_string(w, "reads", place_of_tensor(&step->job->src));
        jsonw_string(w, "writes", place_of_tensor(&step->job->dst));
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_array_begin(w, "removed");
    for (size_t i = 0; i < list->count && stays; i++) {
        if (stays[i])
            continue;
        begin_job(w, &list->jobs[i]);
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    jsonw_array_begin(w, "kept");
    for (size_t i = 0; i < p->count; i++) {
        if (!is_kept(p, &p->steps[i]))
            continue;
        begin_job(w, origin_of(result, &p->steps[i]));
        jsonw_string(w, "reason", write_reason(reason, result, &p->steps[i]));
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
    free(stays);
}

void optimise_report_json(struct jsonw *w, const struct optimised *result)
{
    jsonw_object_begin(w, NULL);
    jsonw_string(w, "file", result->first.file->path);
    write_totals(w, "before", &result->before);
    write_totals(w, "after", &result->after);
    write_jobs(w, result);
    if (result->proof.equal) {
        jsonw_object_begin(w, "proof");
        jsonw_uint(w, "outputs", result->proof.outputs);
        jsonw_uint(w, "bytes", result->proof.bytes);
        jsonw_uint(w, "runs", result->proof.passes);
        jsonw_object_end(w);
    }
    jsonw_object_end(w);
}
