/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "target/controller/controller.h"
#include "target/cost/schedule.h"
#include "target/tile/tile_choice.h"
#include "target/tile/tile_estimate.h"
#include "target/tile/tile_transfer.h"

enum {
    CHOICE_SLOWER = 3,      /* a plan near the least traffic may be slower by this many percent */
    CHOICE_JOBS = 4 * 1000, /* maximum number of jobs that are scheduled for one list of plans */
    CHOICE_JOBS_ONE = 2 * CHOICE_JOBS /* the first plan of a list may have more jobs: this many */
};

struct chooser {
    const struct tile_estimate *estimate;
    const struct tile_board *board;
    struct fault *fault;
};

/* Sets *time to the end of the schedule of a plan. */
static int schedule(const struct chooser *c, const struct tile_plan *plan, profile_cost *time)
{
    struct cost_times times = {0};
    struct tile_jobs jobs;
    int status = tile_jobs_init(&jobs, plan, TILE_FIRMWARE, UINT32_MAX);

    if (status < 0)
        fault_no_memory(c->fault);
    if (status == 0)
        status = tile_times_init(&times, &jobs, c->board, c->fault);
    *time = times.end;
    tile_times_finish(&times);
    tile_jobs_finish(&jobs);
    return status;
}

/* The addresses on the board, and the schedule of the jobs that are placed. */
struct timer {
    const struct tile_board *board;
    const struct tile_plan *plan;
    uint64_t operand[TILE_OPERANDS]; /* address of each operand in the memory outside */
    struct schedule dma, core;
};

const struct profile_memory *tile_board_outside(const struct target_profile *profile,
                                                const struct profile_memory *inside)
{
    const struct profile_memory *other = profile_dma_memory(profile, inside);

    return other ? other : inside;
}

static uint64_t operand_bytes(const struct tile_layer *layer, uint32_t operand)
{
    uint32_t shape[MLI_MAX_RANK];
    const uint32_t rank = tile_operand_shape(layer, operand, shape);
    uint64_t bytes = layer->element;

    for (uint32_t d = 0; d < rank; d++)
        bytes = cost_times(bytes, shape[d]);
    return bytes;
}

static uint64_t end_of(const struct profile_memory *memory)
{
    return cost_plus(memory->base, memory->size);
}

/* Returns the first address for operands in the memory outside. If the board has one memory only,
 * this address is behind the buffers. */
static uint64_t first_outside(const struct tile_board *board, const struct tile_memory *buffers)
{
    return board->outside == board->inside ? cost_plus(buffers->base, buffers->bytes)
                                           : board->outside->base;
}

/*
 * Places the operands one after the other in the memory outside. Operands that do not fit there get
 * addresses behind all memories, so that they never overlap the buffers. No transfer uses two
 * operands, so operands may overlap.
 */
static void place_operands(struct timer *timer)
{
    const struct tile_board *board = timer->board;
    const struct tile_layer *layer = timer->plan->layer;
    const uint64_t end = end_of(board->outside), alignment = board->outside->alignment;
    const uint64_t beyond = end > end_of(board->inside) ? end : end_of(board->inside);
    uint64_t at = first_outside(board, &timer->plan->memory);

    for (uint32_t i = 0; i < layer->operands; i++) {
        const uint64_t bytes = operand_bytes(layer, i);
        const uint64_t address = tile_align_up(at, alignment);
        const bool fits = address <= end && bytes <= end - address;

        timer->operand[i] = fits ? address : tile_align_up(beyond, alignment);
        at = fits ? address + bytes : at;
    }
}

uint64_t tile_board_operands(const struct tile_layer *layer, const struct tile_board *board)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < layer->operands; i++)
        bytes = cost_plus(tile_align_up(bytes, board->outside->alignment), operand_bytes(layer, i));
    return bytes;
}

uint64_t tile_board_room(const struct tile_board *board, const struct tile_memory *buffers)
{
    return end_of(board->outside) - first_outside(board, buffers);
}

static mli_element_type type_of_size(uint32_t bytes)
{
    return bytes == 1 ? MLI_EL_SA_8 : bytes == 2 ? MLI_EL_FX_16 : MLI_EL_SA_32;
}

/* Returns an address of the board as a pointer; only its low bits on a 32-bit host. libmli refuses
 * null, so 0 becomes 2^31. */
static int8_t *pointer_to(uint64_t address)
{
    const uintptr_t low = (uintptr_t)address;

    return (int8_t *)(low ? low : (uintptr_t)1 << 31);
}

/* Sets the tensors of a transfer. Their pointers are addresses of the board. */
static void set_tensors(const struct timer *timer, const struct tile_job *job,
                        const struct tile_transfer *transfer, mli_tensor *src, mli_tensor *dst)
{
    const struct tile_plan *plan = timer->plan;
    const uint64_t outside = timer->operand[job->operand];
    const uint64_t inside =
        plan->memory.base + plan->buffers[tile_job_owner(plan, job)].offset[job->buffer];
    const bool load = job->kind == TILE_JOB_LOAD;

    *src = (mli_tensor){.rank = transfer->rank, .el_type = type_of_size(plan->layer->element)};
    memcpy(src->shape, transfer->src_shape, sizeof src->shape);
    memcpy(src->mem_stride, transfer->src_strides, sizeof src->mem_stride);
    src->el_params.sa.dim = -1;
    src->data.mem.pi8 = pointer_to(load ? outside : inside);
    src->data.capacity = UINT32_MAX;
    *dst = (mli_tensor){.el_params.sa.dim = -1};
    dst->data.mem.pi8 = pointer_to(load ? inside : outside);
    dst->data.capacity = UINT32_MAX;
    for (uint32_t d = transfer->rank; d-- > 0 && !load;)
        dst->mem_stride[d] = d + 1 == transfer->rank
                                 ? 1
                                 : dst->mem_stride[d + 1] * (int32_t)transfer->dst_shape[d + 1];
}

static int transfer_cost(const struct timer *timer, const struct tile_job *job,
                         struct move_cost *cost, struct fault *fault)
{
    const struct tile_board *board = timer->board;
    const bool load = job->kind == TILE_JOB_LOAD;
    const struct cost_memories memories = {load ? board->outside : board->inside,
                                           load ? board->inside : board->outside};
    struct tile_transfer transfer;
    mli_tensor src, dst;
    mli_explanation move;
    mli_status status;
    struct list_count count;

    tile_transfer_init(&transfer, timer->plan, job);
    set_tensors(timer, job, &transfer, &src, &dst);
    status = mli_mov_explain_unplaced(&src, &transfer.cfg, &dst, &move);
    if (status != MLI_STATUS_OK)
        return fault_set_refused(fault, status, mli_last_error());
    count = list_count(board->profile, &move.plan);
    cost_of_move(cost, board->profile, &memories,
                 &(struct cost_channel){&move.plan, count.descriptors, count.core, count.core_bytes,
                                        count.fills},
                 1);
    return 0;
}

/*
 * Computes the cost of one transfer of an operand in the middle of the layer. Returns 0, or -1 with
 * the fault, like tile_times_init().
 */
static int tile_time_sample(const struct tile_plan *plan, const struct tile_board *board,
                            uint32_t operand, struct move_cost *cost, struct fault *fault)
{
    const bool output = plan->layer->operand[operand].role == TILE_OUTPUT;
    struct tile_job job = {.kind = output ? TILE_JOB_STORE : TILE_JOB_LOAD, .operand = operand};
    struct timer timer = {.board = board, .plan = plan};

    /* Take the tile in the middle of each loop, away from the padding. */
    for (uint32_t i = 0; i < plan->layer->axes; i++) {
        const uint64_t count = plan->cut[plan->order[i]].count;

        job.step = (uint32_t)(job.step * count + count / 2);
    }
    place_operands(&timer);
    return transfer_cost(&timer, &job, cost, fault);
}

/* A number as quotient and remainder of a division. */
struct multiple {
    uint64_t quotient, rest;
};

/* Adds `rest`, which is less than `divisor`. number->rest + rest may exceed 64 bits. */
static void add_rest(struct multiple *number, uint64_t rest, uint64_t divisor)
{
    const bool carry = number->rest >= divisor - rest;

    number->rest = carry ? number->rest - (divisor - rest) : number->rest + rest;
    number->quotient += carry;
}

/* Returns a * b / divisor, rounded down. `a` must be less than `divisor`, `b` not more. */
static uint64_t fraction_of(uint64_t a, uint64_t b, uint64_t divisor)
{
    struct multiple product = {0, 0};
    uint64_t exact;

    if (!__builtin_mul_overflow(a, b, &exact))
        return exact / divisor;
    for (int bit = 63; bit >= 0; bit--) {
        product.quotient *= 2;
        add_rest(&product, product.rest, divisor);
        if (b >> bit & 1)
            add_rest(&product, a, divisor);
    }
    return product.quotient;
}

/* Returns cost * part / whole, rounded down; `part` is at most `whole`. */
static profile_cost share_of(profile_cost cost, uint64_t part, uint64_t whole)
{
    return cost / whole * part + fraction_of(cost % whole, part, whole);
}

/*
 * Returns the cost of a kernel: by its results, and by its share of the input channels. The shares
 * of all kernels add up to the whole: each is the difference of two rounded costs.
 */
static profile_cost kernel_cost(const struct timer *timer, const struct tile_job *job)
{
    const struct tile_plan *plan = timer->plan;
    const struct tile_layer *layer = plan->layer;
    uint64_t index[TILE_AXES] = {0}, results = 1, begin, size = 1;

    tile_plan_step(plan, job->step, index);
    for (uint32_t a = 0; a < layer->axes; a++) {
        tile_cut_range(&plan->cut[a], index[a], &begin, &size);
        if (layer->operand[layer->operands - 1].span[a].used)
            results = cost_times(results, size);
    }
    if (!layer->reduces)
        return cost_times(results, timer->board->compute);
    tile_cut_range(&plan->cut[TILE_REDUCED], index[TILE_REDUCED], &begin, &size);
    return share_of(cost_times(results, timer->board->compute), begin + size,
                    plan->cut[TILE_REDUCED].extent) -
           share_of(cost_times(results, timer->board->compute), begin,
                    plan->cut[TILE_REDUCED].extent);
}

static int place(struct timer *timer, const struct tile_jobs *jobs, size_t at,
                 struct cost_times *times, struct fault *fault)
{
    const struct tile_job *job = &jobs->job[at];
    const bool kernel = job->kind == TILE_JOB_KERNEL;
    struct schedule_job cost = {0};
    struct move_cost move = {0};
    struct schedule_slot slot;
    profile_cost ready = 0;

    for (uint32_t i = 0; i < job->after_count; i++) {
        const profile_cost end = times->slot[job->after[i]].end;

        ready = end > ready ? end : ready;
    }
    if (!kernel && transfer_cost(timer, job, &move, fault) < 0)
        return -1;
    cost = (struct schedule_job){move.total, move.bus};
    if (kernel)
        cost.cost = cost_plus(timer->board->call, kernel_cost(timer, job));
    times->bus = cost_plus(times->bus, cost.bus);
    slot = schedule_place(kernel ? &timer->core : &timer->dma, ready, 1, &cost);
    times->slot[at] = (struct tile_slot){slot.start, slot.end, slot.first_channel};
    if (kernel)
        times->kernels = cost_plus(times->kernels, cost.cost);
    else if (job->kind == TILE_JOB_LOAD)
        times->loads = cost_plus(times->loads, cost.cost);
    else
        times->stores = cost_plus(times->stores, cost.cost);
    return 0;
}

int tile_times_init(struct cost_times *times, const struct tile_jobs *jobs,
                    const struct tile_board *board, struct fault *fault)
{
    struct timer timer = {.board = board, .plan = jobs->plan};
    int status = 0;

    *times = (struct cost_times){.slot = calloc(jobs->count + 1, sizeof *times->slot)};
    if (!times->slot)
        return fault_no_memory(fault);
    place_operands(&timer);
    schedule_init(&timer.dma, board->channels);
    schedule_init(&timer.core, 1);
    for (size_t i = 0; i < jobs->count && status == 0; i++)
        status = place(&timer, jobs, i, times, fault);
    times->end = timer.dma.end > timer.core.end ? timer.dma.end : timer.core.end;
    times->busy = cost_plus(times->loads, times->stores) / board->channels;
    if (status == 0 && timer.dma.failed)
        status = fault_no_memory(fault);
    schedule_finish(&timer.dma);
    schedule_finish(&timer.core);
    if (status < 0)
        tile_times_finish(times);
    return status;
}

void tile_times_finish(struct cost_times *times)
{
    free(times->slot);
    times->slot = NULL;
}

/* A plan of a list, and its time, extrapolated from samples. */
struct sampled {
    const struct tile_plan *plan;
    profile_cost time;
};

/* Estimates the time of a plan from the cost of one transfer of each operand. */
static int sample(const struct chooser *c, const struct tile_plan *plan, profile_cost *time)
{
    struct tile_moving moving[TILE_OPERANDS] = {0};
    struct tile_loops loops[TILE_OPERANDS] = {0};

    for (uint32_t i = 0; i < plan->layer->operands; i++) {
        const bool output = plan->layer->operand[i].role == TILE_OUTPUT;
        struct move_cost cost = {0};
        profile_cost start;
        uint64_t bytes;
        double transfers;

        loops[i] = tile_loops_of(plan, i);
        if (tile_time_sample(plan, c->board, i, &cost, c->fault) < 0)
            return -1;
        bytes = output ? cost.written.bytes : cost.read.bytes > 0 ? cost.read.bytes : 1;
        transfers = (double)plan->traffic[i] / (double)bytes;
        start = c->estimate->start < cost.total ? c->estimate->start : cost.total;
        moving[i].time =
            (double)loops[i].changes * (double)start + transfers * (double)(cost.total - start);
        moving[i].data = transfers * (double)cost.bus;
    }
    *time = tile_estimate_moving(c->estimate, plan, loops, moving);
    return 0;
}

/* Returns about how many jobs the plan has. */
static uint64_t jobs_of(const struct tile_plan *plan)
{
    uint64_t jobs = plan->steps;

    for (uint32_t i = 0; i < plan->layer->operands; i++)
        jobs = cost_plus(jobs, tile_loops_of(plan, i).changes);
    return jobs;
}

/* Orders plans by rounded time, number of jobs, and exact time. */
static int by_time(const void *a, const void *b)
{
    const struct sampled *x = a, *y = b;
    const uint64_t left[] = {tile_estimate_round(x->time), jobs_of(x->plan), x->time};
    const uint64_t right[] = {tile_estimate_round(y->time), jobs_of(y->plan), y->time};

    const int order = tile_compare(left, right, sizeof left / sizeof left[0]);

    return order != 0 ? order : x->plan < y->plan ? -1 : x->plan > y->plan;
}

/* Returns whether a timed plan is better: a shorter time, or less traffic in the same time. */
static bool is_better(const struct tile_timed *best, const struct tile_plan *plan,
                      profile_cost time)
{
    if (time != best->time)
        return time < best->time;
    return plan->total < best->plan.total;
}

/* Finds the plan with the shortest time in a list that is not empty. */
static int choose(const struct chooser *c, const struct tile_list *list, struct tile_timed *best)
{
    struct sampled sampled[TILE_CANDIDATES];
    uint64_t jobs = 0;

    for (uint32_t i = 0; i < list->count; i++) {
        sampled[i].plan = tile_list_at(list, i);
        if (sample(c, sampled[i].plan, &sampled[i].time) < 0)
            return -1;
    }
    qsort(sampled, list->count, sizeof sampled[0], by_time);
    *best = (struct tile_timed){.plan = *sampled[0].plan, .time = sampled[0].time};
    for (uint32_t i = 0; i < list->count; i++) {
        const uint64_t more = jobs_of(sampled[i].plan);
        profile_cost time;

        /*
         * If the first plan has too many jobs to be scheduled, none is: the times of schedules
         * and estimated times cannot be compared. The first plan may have more jobs than others.
         */
        if (i == 0 && more > CHOICE_JOBS_ONE)
            return 0;
        if (i > 0 && jobs + more > CHOICE_JOBS)
            continue;
        jobs += more;
        if (schedule(c, sampled[i].plan, &time) < 0)
            return -1;
        if (i > 0 && !is_better(best, sampled[i].plan, time))
            continue;
        *best = (struct tile_timed){.plan = *sampled[i].plan, .time = time, .scheduled = true};
    }
    return 0;
}

static int choose_of(const struct chooser *c, enum tile_objective objective,
                     const struct tile_candidates *found, struct tile_choice *choice)
{
    struct tile_timed least, near, fast;

    if (choose(c, &found->least, &least) < 0 || choose(c, &found->near, &near) < 0 ||
        choose(c, &found->fast, &fast) < 0)
        return -1;
    if (near.time <= cost_plus(fast.time, fast.time / 100 * CHOICE_SLOWER))
        fast = near;
    if (objective == TILE_LEAST_TRAFFIC)
        *choice = (struct tile_choice){near, fast};
    else
        *choice = (struct tile_choice){fast, least};
    return 0;
}

int tile_choose(struct tile_choice *choice, enum tile_objective objective,
                const struct tile_layer *layer, const struct tile_memory *memory,
                const struct tile_estimate *estimate, const struct tile_board *board,
                struct fault *fault)
{
    const struct chooser c = {estimate, board, fault};
    struct tile_candidates *found = calloc(1, sizeof *found);
    int status;

    if (!found)
        return fault_no_memory(fault);
    status = tile_candidates_find(found, layer, memory, estimate, true, fault);
    if (status == 0)
        status = choose_of(&c, objective, found, choice);
    free(found);
    return status;
}
