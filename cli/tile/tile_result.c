/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_result.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

/* Finds the plan: on a board by the predicted times, else by an estimate. */
static int choose_plan(struct tile_result *result, struct fault *fault)
{
    const struct tile_request *r = result->request;
    struct tile_choice choice;

    if (!r->has_board)
        return tile_plan_find(&result->plan, &r->layer, &r->memory, &r->estimate, fault);
    if (tile_choose(&choice, r->objective, &r->layer, &r->memory, &r->estimate, &r->board, fault) <
        0)
        return -1;
    result->plan = choice.best.plan;
    result->other = choice.other;
    return 0;
}

static int find_plan(struct tile_result *result, struct fault *fault)
{
    const struct tile_request *r = result->request;
    const uint64_t begin = thread_ns();
    struct tile_memory single = r->memory;
    uint64_t smallest;

    if (choose_plan(result, fault) == 0) {
        result->plan_ns = thread_ns() - begin;
        return 0;
    }
    single.buffers = 1;
    smallest = tile_plan_smallest(&r->layer, &single);
    if (r->memory.buffers > 1 && smallest <= r->memory.bytes &&
        tile_plan_smallest(&r->layer, &r->memory) > r->memory.bytes) {
        struct fault whole = *fault;

        fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s; --buffers 1 needs %" PRIu64 " B",
                  whole.text, smallest);
    }
    return -1;
}

/* Makes jobs and proves that they use the memory safely. */
static int make_jobs(struct tile_result *result, struct tile_jobs *jobs, enum tile_program program,
                     uint32_t loaded, struct tile_use **uses, struct fault *fault)
{
    if (tile_jobs_init(jobs, &result->plan, program, loaded) < 0 || !(*uses = tile_jobs_uses(jobs)))
        return fault_no_memory(fault);
    return tile_check(*uses, jobs->count, result->plan.memory.bytes, fault);
}

static int make_all(struct tile_result *result, struct fault *fault)
{
    const struct tile_request *r = result->request;
    struct tile_use *uses = NULL;
    int status;

    if (make_jobs(result, &result->firmware, TILE_FIRMWARE, UINT32_MAX, &result->uses, fault) < 0)
        return -1;
    if (cancel_requested())
        return cancel_fault(fault);
    if (r->has_board && tile_times_init(&result->times, &result->firmware, &r->board, fault) < 0)
        return -1;
    if (!r->output)
        return 0;
    if (cancel_requested())
        return cancel_fault(fault);
    status = make_jobs(result, &result->file, r->directory ? TILE_FILES : TILE_MOVES,
                       tile_request_loaded(r), &uses, fault);
    free(uses);
    return status;
}

int tile_result_init(struct tile_result *result, const struct tile_request *request,
                     struct fault *fault)
{
    *result = (struct tile_result){.request = request};
    return find_plan(result, fault) < 0 || make_all(result, fault) < 0 ? -1 : 0;
}

void tile_result_finish(struct tile_result *result)
{
    tile_jobs_finish(&result->firmware);
    tile_jobs_finish(&result->file);
    tile_times_finish(&result->times);
    free(result->uses);
    result->uses = NULL;
}

bool tile_result_has_other(const struct tile_result *result)
{
    if (!result->request->has_board)
        return false;
    return result->request->objective == TILE_LEAST_TIME
               ? result->other.plan.total < result->plan.total
               : result->other.time < result->times.end;
}

uint64_t tile_result_transfers(const struct tile_result *result, uint32_t operand)
{
    uint64_t transfers = 0;

    for (size_t i = 0; i < result->firmware.count; i++) {
        const struct tile_job *job = &result->firmware.job[i];

        transfers += job->kind != TILE_JOB_KERNEL && job->operand == operand;
    }
    return transfers;
}

const char *tile_operand_name(const struct tile_layer *layer, uint32_t operand)
{
    if (layer->operand[operand].role == TILE_OUTPUT)
        return "output";
    if (layer->operand[operand].role == TILE_WEIGHTS)
        return "weights";
    return operand == 0 ? "input" : "second";
}

const char *tile_buffer_name(const struct tile_plan *plan, uint32_t operand, uint32_t buffer,
                             char out[TILE_NAME_MAX])
{
    static const char *const words[] = {
        [TILE_INPUT] = "in", [TILE_WEIGHTS] = "weights", [TILE_OUTPUT] = "out"};
    const enum tile_role role = plan->layer->operand[operand].role;

    snprintf(out, TILE_NAME_MAX, "%s%" PRIu32,
             role == TILE_INPUT && operand > 0 ? "second" : words[role], buffer);
    return out;
}

const char *tile_axis_name(const struct tile_layer *layer, uint32_t axis, char out[TILE_NAME_MAX])
{
    static const char *const words[] = {"rows", "columns", "channels", "input channels"};

    if (layer->kind == TILE_WINDOW)
        return words[axis];
    snprintf(out, TILE_NAME_MAX, "dim %" PRIu32, axis);
    return out;
}
