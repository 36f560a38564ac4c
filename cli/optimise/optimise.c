/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "cli/explain/timeline.h"
#include "cli/job/resolve.h"
#include "cli/optimise/job_parts.h"
#include "cli/optimise/optimise.h"
#include "cli/term/cancel.h"
#include "target/cost/cost.h"

/* Adds a job to the timeline. Returns 0 or -1. */
static int add_job(struct timeline *timeline, const struct job_board_context *context,
                   const struct job_spec *job, struct produced *produced, struct fault *fault)
{
    struct resolved resolved;
    int status = resolved_plan(&resolved, context->file, job, produced, fault);

    if (status == 0) {
        timeline_predict(timeline, context, &resolved);
        status = resolved_produce(&resolved, produced, fault);
    }
    resolved_finish(&resolved);
    return status;
}

/* Adds all jobs that write something. */
static int add_jobs(struct timeline *timeline, const struct job_board_context *context,
                    struct produced *produced, size_t *added, struct fault *fault)
{
    const struct job_file *file = context->file;

    *added = 0;
    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[file->list.order[i]];

        if (job->expect.kind == EXPECT_ERROR)
            continue;
        if (cancel_requested())
            return cancel_fault(fault);
        if (add_job(timeline, context, job, produced, fault)) {
            fault_prefix(fault, job->pointer);
            return -1;
        }
        ++*added;
    }
    return 0;
}

/*
 * Sets *ns to the time from the start of the first job to the end of the last, as `mlictl explain
 * --profile` shows it; 0: a job or a buffer cannot be on the board. Returns 0, or -1 with the fault
 * if a job cannot be resolved.
 */
static int predict(uint64_t *ns, const struct job_file *file, const struct target_profile *profile,
                   struct fault *fault)
{
    struct produced produced = {.without_golden = true};
    struct buffer_places places;
    struct timeline timeline;
    struct fault unplaced;
    size_t added;
    int status = 0;

    *ns = 0;
    timeline_init(&timeline, profile);
    if (buffer_places_init(&places, profile, file, &unplaced) == 0) {
        const struct job_board_context context = {profile, file, &places, &produced};

        status = add_jobs(&timeline, &context, &produced, &added, fault);
        timeline_end(&timeline);
        if (status == 0 && !timeline.failed && timeline.all.jobs == added)
            *ns = cost_ns(profile, timeline.all.end);
    }
    buffer_places_finish(&places);
    timeline_finish(&timeline);
    produced_finish(&produced);
    return status;
}

/* Maximum number of rewrites. Each rewrite keeps more jobs, so that no job waits for too many
 * jobs. */
enum { ROUNDS_MAX = 8 };

/* Maximum number of jobs that are split in separate attempts. */
enum { SPLITS_MAX = 16 };

static uint64_t size_of(const struct program *p, const struct store *store)
{
    uint64_t size = 0;

    for (size_t i = 0; i < store->write_count; i++) {
        const uint64_t end = byte_set_end(&store->writes[i].bytes);

        size = end > size ? end : size;
    }
    return size > 0 && store->is_buffer ? p->file->list.buffers[store->buffer].bytes : size;
}

static struct optimise_totals totals_of(const struct program *p)
{
    struct optimise_totals totals = {.jobs = p->count};

    for (size_t i = 0; i < p->count; i++) {
        const struct index_map *map = &p->steps[i].map;
        uint64_t written = map->elem;

        if (p->steps[i].src == NONE)
            continue;
        for (uint32_t d = 0; d < map->rank; d++)
            written *= map->axis[d].count;
        totals.read += index_map_samples_read(map) * map->elem;
        totals.written += written;
    }
    for (size_t i = 0; i < p->store_count; i++) {
        const uint64_t size = p->stores[i].intermediate ? size_of(p, &p->stores[i]) : 0;

        totals.intermediates += size > 0;
        totals.intermediate_bytes += size;
    }
    return totals;
}

/* Writes the jobs that stay, with file names relative to the directory of the old job file. */
static int write_near(struct program *p, bool raw, struct jsonw *text, struct fault *fault)
{
    for (int round = 0;; round++) {
        bool again;

        if (rewrite(p, raw, NULL, text, &again, fault))
            return -1;
        if (!again)
            return 0;
        jsonw_finish(text);
        /* After ROUNDS_MAX rounds, keep all jobs, so that the loop ends. */
        for (size_t i = 0; i < p->count && round >= ROUNDS_MAX; i++) {
            if (p->steps[i].needed == NOT_KEPT)
                p->steps[i].needed = KEPT_AFTER;
        }
        if (fusion_find(p, raw, fault))
            return -1;
    }
}

static int begin(struct program *p, const struct job_file *file,
                 const struct optimise_request *request, struct jsonw *text, struct fault *fault)
{
    if (program_init(p, file, &request->intermediates, fault) ||
        fusion_find(p, request->raw, fault))
        return -1;
    return write_near(p, request->raw, text, fault);
}

static size_t jobs_of(const struct program_step *step)
{
    return !step->alive ? 0 : step->part_count > 0 ? step->part_count : 1;
}

/* Returns an array with the origin in the old file of each job that stays. `jobs`: the same array
 * for all jobs of the program; null: the program is the old file. */
static struct optimised_job *follow(const struct program *p, const struct optimised_job *jobs)
{
    struct optimised_job *followed;
    size_t count = 0;

    for (size_t i = 0; i < p->count; i++)
        count += jobs_of(&p->steps[i]);
    followed = calloc(count + 1, sizeof(*followed));
    count = 0;
    for (size_t i = 0; i < p->count && followed; i++) {
        const struct program_step *step = &p->steps[i];

        for (size_t k = 0; k < jobs_of(step); k++) {
            followed[count].origin = jobs ? jobs[step->index].origin : step->index;
            followed[count++].fused =
                (jobs && jobs[step->index].fused) || step->chosen != 0 || step->part_count > 0;
        }
    }
    return followed;
}

/* Replaces the program by the program of its rewritten text. Removed jobs no longer overwrite
 * anything, so further jobs may be fused. */
static int advance(struct optimised *result, const struct optimise_request *request,
                   struct fault *fault)
{
    const struct program *p = optimised_last(result);
    struct optimised_job *jobs = follow(p, result->jobs);
    struct job_file next;

    free(result->jobs);
    result->jobs = jobs;
    if (!jobs)
        return fault_no_memory(fault);
    if (program_reload(&next, &result->first, &result->text, fault))
        return -1;
    program_finish(&result->last);
    job_file_finish(&result->file);
    result->file = next;
    jsonw_finish(&result->text);
    return begin(&result->last, &result->file, request, &result->text, fault);
}

/* Calls advance() until that saves no more jobs. */
static int settle(struct optimised *result, const struct optimise_request *request,
                  struct fault *fault)
{
    while (program_alive(optimised_last(result)) < optimised_last(result)->count) {
        if (advance(result, request, fault))
            return -1;
    }
    return 0;
}

/* Releases the newest program and text, but not the old file. */
static void drop_last(struct optimised *result)
{
    jsonw_finish(&result->text);
    free(result->jobs);
    program_finish(&result->last);
    job_file_finish(&result->file);
}

/* Splits jobs as split_mark() does, and keeps the result if it has fewer jobs. Sets *found to
 * whether there was a job to split, and *better to whether the result is kept. */
static int try_split(struct optimised *result, const struct optimise_request *request, size_t which,
                     bool *found, bool *better, struct fault *fault)
{
    struct program *p = result->last.count > 0 ? &result->last : &result->first;
    struct optimised trial = {.first = result->first};
    size_t count;
    int status;

    *better = false;
    jsonw_init(&trial.text);
    status = split_mark(p, which, &count) ? fault_no_memory(fault) : 0;
    *found = count > 0;
    if (status == 0 && *found)
        status = write_near(p, request->raw, &trial.text, fault);
    if (status == 0 && *found) {
        trial.jobs = follow(p, result->jobs);
        status = trial.jobs ? program_reload(&trial.file, p, &trial.text, fault)
                            : fault_no_memory(fault);
    }
    split_unmark(p);
    if (status == 0 && *found) {
        jsonw_finish(&trial.text);
        status = begin(&trial.last, &trial.file, request, &trial.text, fault);
    }
    if (status == 0 && *found)
        status = settle(&trial, request, fault);
    *better = status == 0 && *found && trial.last.count < p->count;
    if (!*better) {
        drop_last(&trial);
        return status;
    }
    drop_last(result);
    *result = trial;
    result->last.file = &result->file;
    return 0;
}

/* Splits all candidates at once while this saves jobs; then tries each candidate alone. */
static int split(struct optimised *result, const struct optimise_request *request,
                 struct fault *fault)
{
    bool found = true, better = true;

    while (better) {
        if (try_split(result, request, SPLIT_ALL, &found, &better, fault))
            return -1;
    }
    for (size_t i = 0; found && i < SPLITS_MAX; i++) {
        if (try_split(result, request, i, &found, &better, fault))
            return -1;
        if (better)
            i = SIZE_MAX; /* restart with candidate 0 */
    }
    return 0;
}

static int check_proof(const struct proof *proof, struct fault *fault)
{
    if (proof->equal)
        return 0;
    return fault_set(
        fault, FAULT_INTERNAL, NULL,
        "the new jobs write other bytes than the old jobs: %s differs from byte %" PRIu64
        " on. No job file is written. This is a defect of mlictl: please report it",
        proof->different, proof->different_at);
}

/* Writes the text with names relative to the path of the new job file. */
static int write_text(struct optimised *result, const struct optimise_request *request,
                      struct fault *fault)
{
    struct program *p = result->last.count > 0 ? &result->last : &result->first;
    bool again;

    jsonw_finish(&result->text);
    if (rewrite(p, request->raw, request->path, &result->text, &again, fault))
        return -1;
    jsonw_newline(&result->text);
    return result->text.failed ? fault_no_memory(fault) : 0;
}

const struct program *optimised_last(const struct optimised *result)
{
    return result->last.count > 0 ? &result->last : &result->first;
}

int optimise(struct optimised *result, const struct job_file *file,
             const struct optimise_request *request, struct fault *fault)
{
    *result = (struct optimised){0};
    jsonw_init(&result->text);
    if (begin(&result->first, file, request, &result->text, fault))
        return -1;
    if (settle(result, request, fault) || split(result, request, fault))
        return -1;
    if (!result->jobs)
        result->jobs = follow(&result->first, NULL);
    if (!result->jobs)
        return fault_no_memory(fault);
    result->before = totals_of(&result->first);
    result->after = totals_of(optimised_last(result));
    if (request->profile &&
        (predict(&result->before.ns, result->first.file, request->profile, fault) ||
         predict(&result->after.ns, optimised_last(result)->file, request->profile, fault)))
        return -1;
    if (result->after.jobs < result->before.jobs &&
        (proof_run(&result->proof, &result->first, &result->text, request->options, fault) ||
         check_proof(&result->proof, fault)))
        return -1;
    return write_text(result, request, fault);
}

void optimised_finish(struct optimised *result)
{
    drop_last(result);
    program_finish(&result->first);
}
