/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/explain/timeline.h"
#include "cli/explain/timeline_chart.h"

enum { BUFFERS_MAX = TILE_OPERANDS * TILE_BUFFERS_MAX };

/* The arrays from which a timeline is drawn. */
struct drawing {
    const struct tile_result *result;
    bool kernels; /* false: the time of kernels is unknown; kernels are left out */
    struct timeline_slot *slots;
    size_t slot_count;
    size_t (*after)[TILE_AFTER_MAX];
    char (*names)[TILE_NAME_MAX];  /* names of the jobs, for the trace */
    char (*labels)[TILE_NAME_MAX]; /* short names of the jobs, because boxes of the drawing are
                                      narrow */
    struct timeline_use *uses;
    size_t use_count;
};

static uint64_t ns_of(const struct drawing *d, profile_cost cost)
{
    return cost_ns(&d->result->request->profile, cost);
}

static void add_slot(struct drawing *d, size_t at)
{
    const struct tile_jobs *jobs = &d->result->firmware;
    const struct tile_job *job = &jobs->job[at];
    const struct tile_slot *times = &d->result->times.slot[at];
    const bool kernel = job->kind == TILE_JOB_KERNEL;
    const size_t n = d->slot_count;

    if (kernel && !d->kernels)
        return;
    d->slots[n] =
        (struct timeline_slot){.start_ns = ns_of(d, times->start),
                               .end_ns = ns_of(d, times->end),
                               .lane = kernel ? d->result->request->board.channels : times->channel,
                               .lanes = 1,
                               .kind = kernel                       ? TIMELINE_KERNEL
                                       : job->kind == TILE_JOB_LOAD ? TIMELINE_LOAD
                                                                    : TIMELINE_STORE,
                               .name = tile_job_name(jobs, job, d->names[n])};
    snprintf(d->labels[n], sizeof d->labels[n], "%s%" PRIu32,
             job->kind == TILE_JOB_LOAD && job->operand > 0 ? "w" : "", job->number);
    if (!kernel)
        d->slots[n].bytes = tile_job_bytes(jobs->plan, job);
    /* Without kernels the slots are not numbered as the jobs are, so job->after cannot be used. */
    for (uint32_t i = 0; i < job->after_count && d->kernels; i++)
        d->after[n][d->slots[n].after_count++] = job->after[i];
    d->slots[n].after = d->after[n];
    d->slot_count++;
}

/* The content of a buffer, from the job that begins to write it to the last job that uses it. */
struct content {
    uint64_t begin; /* offset of the buffer in the memory */
    uint64_t start_ns, end_ns, bytes;
};

static void end_content(struct drawing *d, struct content *content)
{
    if (content->bytes > 0)
        d->uses[d->use_count++] =
            (struct timeline_use){0, content->start_ns, content->end_ns, content->bytes};
    content->bytes = 0;
}

/* Returns the content of the buffer at `begin`. */
static struct content *content_at(struct content *contents, size_t *count, uint64_t begin)
{
    for (size_t i = 0; i < *count; i++) {
        if (contents[i].begin == begin)
            return &contents[i];
    }
    contents[*count] = (struct content){.begin = begin};
    return &contents[(*count)++];
}

/* Returns whether the job writes the first bytes of another tile to a buffer. */
static bool begins(const struct drawing *d, const struct tile_job *job)
{
    const struct tile_plan *plan = &d->result->plan;
    const uint32_t output = plan->layer->operands - 1;

    if (job->kind != TILE_JOB_KERNEL)
        return job->kind == TILE_JOB_LOAD;
    return !plan->layer->operand[output].in_place &&
           (job->step == 0 || tile_plan_changes(plan, output, job->step));
}

/*
 * Returns the size of the buffer at this offset in bytes. A tile at the edge may be smaller than
 * its buffer.
 */
static uint64_t buffer_bytes(const struct tile_plan *plan, uint64_t begin)
{
    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        for (uint32_t b = 0; b < plan->buffers[i].count; b++) {
            if (plan->buffers[i].offset[b] == begin)
                return plan->buffers[i].bytes;
        }
    }
    return 0;
}

/* Finds for how long each buffer holds a tile. */
static void find_uses(struct drawing *d)
{
    struct content contents[BUFFERS_MAX];
    size_t count = 0;

    for (size_t n = 0; n < d->result->firmware.count; n++) {
        const struct tile_use *use = &d->result->uses[n];
        const struct tile_slot *slot = &d->result->times.slot[n];

        for (uint32_t i = 0; i < use->access_count; i++) {
            const struct tile_access *access = &use->access[i];
            struct content *content = content_at(contents, &count, access->begin);

            if (access->writes && begins(d, &d->result->firmware.job[n])) {
                end_content(d, content);
                content->start_ns = ns_of(d, slot->start);
                content->bytes = buffer_bytes(&d->result->plan, access->begin);
            }
            content->end_ns = ns_of(d, slot->end);
        }
    }
    for (size_t i = 0; i < count; i++)
        end_content(d, &contents[i]);
}

static int init(struct drawing *d, const struct tile_result *result)
{
    const size_t count = result->firmware.count + 1;

    *d = (struct drawing){.result = result, .kernels = result->request->board.compute > 0};
    d->slots = calloc(count, sizeof *d->slots);
    d->after = calloc(count, sizeof *d->after);
    d->names = calloc(count, sizeof *d->names);
    d->labels = calloc(count, sizeof *d->labels);
    d->uses = calloc(count, sizeof *d->uses);
    if (!d->slots || !d->after || !d->names || !d->labels || !d->uses)
        return -1;
    for (size_t i = 0; i < result->firmware.count; i++)
        add_slot(d, i);
    find_uses(d);
    return 0;
}

static void finish(struct drawing *d)
{
    free(d->slots);
    free(d->after);
    free(d->names);
    free(d->labels);
    free(d->uses);
}

static void draw(const struct drawing *d, struct textw *w)
{
    const struct tile_request *r = d->result->request;
    const struct timeline_memory memory = {r->inside->name, r->inside->size};
    char line[128], panel[64];
    struct timeline_chart chart = {.subtitle = line, .panels = 1};
    struct textw layer;

    snprintf(line, sizeof line,
             "%" PRIu64 " tile%s, %" PRIu32 " buffer%s for each tensor that changes",
             d->result->plan.steps, print_s(d->result->plan.steps), d->result->plan.memory.buffers,
             d->result->plan.memory.buffers == 1 ? "" : "s");
    snprintf(panel, sizeof panel, "model of %s", r->profile.name);
    chart.panel[0] = (struct timeline_panel){.title = panel,
                                             .lane_count = r->board.channels + d->kernels,
                                             .has_core = d->kernels,
                                             .slots = d->slots,
                                             .slot_count = d->slot_count,
                                             .memories = &memory,
                                             .memory_count = 1,
                                             .uses = d->uses,
                                             .use_count = d->use_count};
    for (size_t i = 0; i < d->slot_count; i++)
        d->slots[i].name = d->labels[i];
    textw_init(&layer);
    tile_report_layer(&layer, d->result);
    chart.title = layer.failed ? "" : layer.data;
    timeline_chart(w, &chart);
    w->failed |= layer.failed;
    textw_finish(&layer);
}

static void trace(const struct drawing *d, struct textw *w)
{
    const struct timeline timeline = {
        .profile = &d->result->request->profile, .slots = d->slots, .slot_count = d->slot_count};

    for (size_t i = 0; i < d->slot_count; i++)
        d->slots[i].name = d->names[i];
    timeline_trace(w, &timeline);
}

static int write(struct textw *w, const struct tile_result *result,
                 void (*content)(const struct drawing *d, struct textw *w), struct fault *fault)
{
    struct drawing d;
    int status = init(&d, result);

    if (status == 0)
        content(&d, w);
    finish(&d);
    return status < 0 ? fault_no_memory(fault) : 0;
}

int tile_timeline_draw(struct textw *w, const struct tile_result *result, struct fault *fault)
{
    return write(w, result, draw, fault);
}

int tile_timeline_trace(struct textw *w, const struct tile_result *result, struct fault *fault)
{
    return write(w, result, trace, fault);
}
