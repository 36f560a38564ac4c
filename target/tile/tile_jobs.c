/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tile/tile_jobs.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "proto/grow.h"

/* The tiles of one operand in the order of the loops. */
struct tiles {
    uint32_t count;
    uint32_t *step; /* the first step that needs each tile */
    uint32_t *load; /* the job that loads each tile, once it exists */
    uint32_t *file; /* TILE_FILES: the job that saves each tile */
    uint32_t next;  /* next tile to load */
};

struct builder {
    const struct tile_plan *plan;
    struct tile_jobs *jobs;
    size_t capacity;
    uint32_t loaded;
    struct tiles tiles[TILE_OPERANDS];
    uint32_t *end;   /* by step: the job that ends the use of the step's buffers */
    uint32_t *store; /* by tile of the output: the job that stores it */
    uint32_t stores; /* number of stores that exist */
    uint32_t kernel; /* the kernel of the previous step */
};

static bool is_loaded(const struct builder *b, uint32_t operand)
{
    return b->plan->layer->operand[operand].role != TILE_OUTPUT && b->loaded >> operand & 1;
}

static uint32_t output_of(const struct tile_plan *plan)
{
    return plan->layer->operands - 1;
}

/* Appends a job, and returns it. Returns null if out of memory. */
static struct tile_job *append(struct builder *b, enum tile_job_kind kind, uint32_t operand,
                               uint32_t number, uint32_t step)
{
    struct tile_jobs *jobs = b->jobs;
    const uint32_t buffers = b->plan->buffers[operand].count;
    struct tile_job *job;

    if (list_grow(&jobs->job, jobs->count, &b->capacity, sizeof *job))
        return NULL;
    job = &jobs->job[jobs->count++];
    *job = (struct tile_job){.kind = kind,
                             .operand = operand,
                             .number = number,
                             .step = step,
                             .buffer = buffers > 0 ? number % buffers : 0};
    return job;
}

static void wait_for(struct tile_job *job, uint32_t earlier)
{
    for (uint32_t i = 0; i < job->after_count; i++) {
        if (job->after[i] == earlier)
            return;
    }
    job->after[job->after_count++] = earlier;
}

static uint32_t last_job(const struct builder *b)
{
    return (uint32_t)(b->jobs->count - 1);
}

/* Returns the last step that uses a tile of the operand. */
static uint32_t last_use(const struct builder *b, uint32_t operand, uint32_t number)
{
    const struct tiles *tiles = &b->tiles[operand];

    return (number + 1 < tiles->count ? tiles->step[number + 1] : (uint32_t)b->plan->steps) - 1;
}

/* Returns the step before whose kernel the next tile of the operand is loaded. */
static uint32_t slot_of(const struct builder *b, uint32_t operand)
{
    const struct tiles *tiles = &b->tiles[operand];
    const uint32_t buffers = b->plan->buffers[operand].count, next = tiles->next;
    const uint32_t ahead = b->plan->memory.buffers - 1;
    const uint32_t wanted = tiles->step[next] > ahead ? tiles->step[next] - ahead : 0;
    const uint32_t allowed = next >= buffers ? last_use(b, operand, next - buffers) + 1 : 0;

    return wanted > allowed ? wanted : allowed;
}

static int load(struct builder *b, uint32_t operand)
{
    struct tiles *tiles = &b->tiles[operand];
    const uint32_t buffers = b->plan->buffers[operand].count, number = tiles->next;
    struct tile_job *job = append(b, TILE_JOB_LOAD, operand, number, tiles->step[number]);

    if (!job)
        return -1;
    tiles->load[number] = last_job(b);
    tiles->next++;
    if (number < buffers)
        return 0;
    if (b->jobs->program == TILE_FILES) {
        wait_for(job, tiles->file[number - buffers]);
    } else {
        const uint32_t last = last_use(b, operand, number - buffers);

        wait_for(job, b->end[last]);
        /*
         * In a program of moves the store of a step waits for the loads of the step. A step that
         * completes no results has no store: then the job waits for the load itself.
         */
        if (b->jobs->program == TILE_MOVES && !tile_plan_completes(b->plan, last))
            wait_for(job, tiles->load[number - buffers]);
    }
    return 0;
}

/* Issues all loads that may precede the kernel of a step, those of the nearest step first. */
static int load_ahead(struct builder *b, uint32_t step)
{
    for (uint32_t need = step; need < step + b->plan->memory.buffers; need++) {
        for (uint32_t i = 0; i < b->plan->layer->operands; i++) {
            const struct tiles *tiles = &b->tiles[i];

            if (!is_loaded(b, i) || tiles->next == tiles->count ||
                tiles->step[tiles->next] != need || slot_of(b, i) > step)
                continue;
            if (load(b, i) < 0)
                return -1;
        }
    }
    return 0;
}

/*
 * Makes the job wait for the loads of a step's tiles: all of them, or those that this step is the
 * first to use.
 */
static void wait_for_loads(const struct builder *b, struct tile_job *job, uint32_t step, bool all)
{
    for (uint32_t i = 0; i < b->plan->layer->operands; i++) {
        const struct tiles *tiles = &b->tiles[i];
        uint32_t number = tiles->next;

        if (!is_loaded(b, i))
            continue;
        while (tiles->step[number - 1] > step)
            number--;
        if (all || tiles->step[number - 1] == step)
            wait_for(job, tiles->load[number - 1]);
    }
}

static int add_kernel(struct builder *b, uint32_t step)
{
    const uint32_t output = output_of(b->plan), buffers = b->plan->buffers[output].count;
    struct tile_job *job = append(b, TILE_JOB_KERNEL, 0, step, step);

    if (!job)
        return -1;
    job->buffer = 0;
    if (step > 0)
        wait_for(job, b->kernel);
    wait_for_loads(b, job, step, false);
    if (buffers > 0 && b->stores >= buffers && tile_plan_changes(b->plan, output, step))
        wait_for(job, b->store[b->stores - buffers]);
    b->kernel = b->end[step] = last_job(b);
    return 0;
}

static int add_store(struct builder *b, uint32_t step)
{
    const uint32_t output = output_of(b->plan);
    struct tile_job *job = append(b, TILE_JOB_STORE, output, b->stores, step);

    if (!job)
        return -1;
    if (b->plan->buffers[output].count == 0)
        job->buffer = b->stores % b->plan->buffers[0].count;
    if (b->jobs->program == TILE_FIRMWARE)
        wait_for(job, b->kernel);
    else
        wait_for_loads(b, job, step, true);
    b->store[b->stores++] = last_job(b);
    if (b->jobs->program == TILE_MOVES || b->plan->buffers[output].count == 0)
        b->end[step] = last_job(b);
    return 0;
}

static int save_tiles(struct builder *b, uint32_t step)
{
    for (uint32_t i = 0; i < b->plan->layer->operands; i++) {
        struct tiles *tiles = &b->tiles[i];
        uint32_t number = tiles->next;
        struct tile_job *job;

        if (!is_loaded(b, i))
            continue;
        while (tiles->step[number - 1] > step)
            number--;
        if (tiles->step[number - 1] != step)
            continue;
        job = append(b, TILE_JOB_FILE, i, number - 1, step);
        if (!job)
            return -1;
        wait_for(job, tiles->load[number - 1]);
        tiles->file[number - 1] = last_job(b);
    }
    return 0;
}

static int add_step(struct builder *b, uint32_t step)
{
    const enum tile_program program = b->jobs->program;

    if (load_ahead(b, step) < 0)
        return -1;
    b->end[step] = last_job(b);
    if (program == TILE_FILES)
        return save_tiles(b, step);
    if (program == TILE_FIRMWARE && add_kernel(b, step) < 0)
        return -1;
    return tile_plan_completes(b->plan, step) ? add_store(b, step) : 0;
}

static int init_tiles(struct tiles *tiles, const struct tile_plan *plan, uint32_t operand)
{
    for (uint64_t step = 0; step < plan->steps; step++)
        tiles->count += tile_plan_changes(plan, operand, step);
    tiles->step = calloc(tiles->count, sizeof *tiles->step);
    tiles->load = calloc(tiles->count, sizeof *tiles->load);
    tiles->file = calloc(tiles->count, sizeof *tiles->file);
    if (!tiles->step || !tiles->load || !tiles->file)
        return -1;
    for (uint32_t step = 0, number = 0; step < plan->steps; step++) {
        if (tile_plan_changes(plan, operand, step))
            tiles->step[number++] = step;
    }
    return 0;
}

static void finish(struct builder *b)
{
    for (uint32_t i = 0; i < TILE_OPERANDS; i++) {
        free(b->tiles[i].step);
        free(b->tiles[i].load);
        free(b->tiles[i].file);
    }
    free(b->end);
    free(b->store);
}

int tile_jobs_init(struct tile_jobs *jobs, const struct tile_plan *plan, enum tile_program program,
                   uint32_t loaded)
{
    struct builder b = {.plan = plan, .jobs = jobs, .loaded = loaded};
    int status = 0;

    *jobs = (struct tile_jobs){.plan = plan, .program = program};
    b.end = calloc(plan->steps, sizeof *b.end);
    b.store = calloc(plan->steps, sizeof *b.store);
    if (!b.end || !b.store)
        status = -1;
    for (uint32_t i = 0; i < plan->layer->operands && status == 0; i++)
        status = init_tiles(&b.tiles[i], plan, i);
    for (uint32_t step = 0; step < plan->steps && status == 0; step++)
        status = add_step(&b, step);
    finish(&b);
    if (status < 0)
        tile_jobs_finish(jobs);
    return status;
}

void tile_jobs_finish(struct tile_jobs *jobs)
{
    free(jobs->job);
    jobs->job = NULL;
    jobs->count = 0;
}

const char *tile_job_name(const struct tile_jobs *jobs, const struct tile_job *job,
                          char out[TILE_NAME_MAX])
{
    static const char *const words[] = {"load", "kernel", "file", "store"};
    const char *word = words[job->kind], *before = "";

    /* Each operand has its own tile numbers, so the name contains the operand. */
    if (job->operand > 0 && (job->kind == TILE_JOB_LOAD || job->kind == TILE_JOB_FILE)) {
        before =
            jobs->plan->layer->operand[job->operand].role == TILE_WEIGHTS ? "weights" : "second";
        if (job->kind == TILE_JOB_LOAD)
            word = "";
    }
    snprintf(out, TILE_NAME_MAX, "%s%s%s%" PRIu32, before, *before && *word ? "_" : "", word,
             job->number);
    return out;
}

uint32_t tile_job_owner(const struct tile_plan *plan, const struct tile_job *job)
{
    return plan->layer->operand[job->operand].in_place ? 0 : job->operand;
}

uint64_t tile_job_bytes(const struct tile_plan *plan, const struct tile_job *job)
{
    uint64_t index[TILE_AXES] = {0};

    tile_plan_step(plan, job->step, index);
    return tile_plan_bytes(plan, job->operand, index);
}

/* Adds to *use that a job reads or writes a tile, in one of the operand's buffers. */
static void add_access(struct tile_use *use, const struct tile_plan *plan, uint32_t operand,
                       uint32_t buffer, uint64_t bytes, bool writes)
{
    const uint64_t begin = plan->buffers[operand].offset[buffer];

    use->access[use->access_count++] = (struct tile_access){begin, begin + bytes, writes};
}

/* Adds what a kernel reads and writes: its inputs, and its output, which may share the buffer of an
 * input. */
static void add_kernel_accesses(struct tile_use *use, const struct tile_plan *plan, uint32_t step,
                                const uint32_t number[TILE_OPERANDS])
{
    uint64_t index[TILE_AXES] = {0};

    tile_plan_step(plan, step, index);
    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        const struct tile_operand *operand = &plan->layer->operand[i];
        const uint32_t at = operand->in_place ? 0 : i;

        add_access(use, plan, at, number[at] % plan->buffers[at].count,
                   tile_plan_bytes(plan, i, index), operand->role == TILE_OUTPUT);
    }
}

struct tile_use *tile_jobs_uses(const struct tile_jobs *jobs)
{
    const struct tile_plan *plan = jobs->plan;
    struct tile_use *uses = calloc(jobs->count + 1, sizeof *uses);
    uint32_t number[TILE_OPERANDS] = {0}; /* the tile of each operand that the kernel uses now */

    for (size_t n = 0; uses && n < jobs->count; n++) {
        const struct tile_job *job = &jobs->job[n];
        struct tile_use *use = &uses[n];

        tile_job_name(jobs, job, use->name);
        use->after_count = job->after_count;
        for (uint32_t i = 0; i < job->after_count; i++)
            use->after[i] = job->after[i];
        if (job->kind != TILE_JOB_KERNEL) {
            add_access(use, plan, tile_job_owner(plan, job), job->buffer, tile_job_bytes(plan, job),
                       job->kind == TILE_JOB_LOAD);
            continue;
        }
        for (uint32_t i = 0; i < plan->layer->operands; i++)
            number[i] += job->step > 0 && tile_plan_changes(plan, i, job->step);
        add_kernel_accesses(use, plan, job->step, number);
    }
    return uses;
}
