/* SPDX-License-Identifier: BSD-3-Clause */
#include "dispatch.h"

#include <inttypes.h>
#include <stdio.h>

#include "complete.h"
#include "log.h"
#include "mli_helpers_api.h"
#include "state.h"
#include "task.h"

static void start(struct service *service, struct task *task)
{
    task->state = TASK_RUNNING;
    service->running++;
    service->channels_busy += task->job.channels;
    complete_start(task);
}

/*
 * Checks all arguments, before anything is written. A permute is a move that only permutes: what
 * mli_krn_permute_*() would demand on top, a kernel for the type and a destination of that type and
 * of the permuted shape, operands_init() has seen to.
 */
static mli_status prepare(struct task *task)
{
    return mli_mov_prepare(&task->handle, &task->operands.src, &task->job.cfg, &task->operands.dst);
}

/* False where it has to wait for channels. */
static bool try_start(struct service *service, struct task *task)
{
    mli_status status = mli_mov_acquire_handle((int)task->job.channels, &task->handle);
    struct fault fault;

    if (status == MLI_STATUS_NOT_ENGH_MEM && service->running > 0)
        return false;
    if (status != MLI_STATUS_OK) {
        /* Nothing runs that could give channels back: somebody else in this process has them. */
        fault_set_refused(&fault, status, mli_last_error());
        task_fail(task, &fault);
        return true;
    }
    queue_remove(&service->queue, task);
    task->state = TASK_NEW;
    status = prepare(task);
    if (status == MLI_STATUS_OK) {
        start(service, task);
        return true;
    }
    fault_set_refused(&fault, status, mli_last_error());
    mli_mov_release_handle(&task->handle);
    task_fail(task, &fault);
    return true;
}

void dispatch_run(struct service *service)
{
    struct task *task;

    /* In strict order: a wide job at the head waits for its channels, and nobody passes it. */
    while ((task = queue_head(&service->queue)) && try_start(service, task))
        ;
}

static void fault_set_dma_error(struct fault *fault, const struct task *task)
{
    const mli_mov_status_t *transfer = &task->end.transfer;
    char place[40] = "";

    /* The mapping is down by now: these are numbers. */
    if (transfer->address)
        snprintf(
            place, sizeof place, " at byte %" PRIu64 " of dst",
            (uint64_t)((uintptr_t)transfer->address - (uintptr_t)task->operands.dst.data.mem.pi8));
    fault_set(fault, FAULT_DMA_ERROR, NULL,
              "DMA channel %" PRIu32 " failed%s: descriptor %" PRIu32 " (%s), row %" PRIu64
              "; at least %" PRIu64 " of %" PRIu64 " B are written",
              transfer->channel, place, transfer->descriptor,
              transfer->descriptor == 0 ? "copy" : "zero fill", transfer->row, transfer->bytes,
              transfer->bytes_total);
}

/* True where the transfer failed. */
static bool failure(const struct task *task, struct fault *fault)
{
    const struct task_end *end = &task->end;

    if (end->src_hit)
        fault_set(fault, FAULT_IO_ERROR, "/src",
                  "src: file shrank while the job ran, or its storage failed");
    else if (end->dst_hit)
        fault_set(fault, FAULT_IO_ERROR, "/dst",
                  "dst: storage failed or file shrank while the job ran");
    else if (end->obstacle)
        fault_set(fault, FAULT_INTERNAL, NULL, "%s", end->obstacle);
    else if (end->transfer.code == MLI_STATUS_CANCELLED)
        fault_set(fault, FAULT_CANCELLED, NULL,
                  "the transfer was cancelled at byte %" PRIu64 " of %" PRIu64, end->transfer.bytes,
                  end->transfer.bytes_total);
    else if (end->transfer.code != MLI_STATUS_OK)
        fault_set_dma_error(fault, task);
    else
        return false;
    return true;
}

static void log_done(const struct task *task, const struct job_result *result)
{
    struct log_line line;

    if (!task_log_begin(&line, LOG_DEBUG, "job done", task))
        return;
    log_uint(&line, "bytes", result->bytes);
    log_uint(&line, "channels", result->channels);
    log_uint(&line, "ns_queued", result->ns_queued);
    log_uint(&line, "ns_moving", result->ns_moving);
    log_end(&line);
}

static void succeed(struct task *task)
{
    struct service *service = task->service;
    struct job_result result = {
        .has_dst = true,
        .bytes = task->operands.bytes,
        .channels = task->job.channels,
        .ns_queued = task->end.started - task->admitted,
        .ns_moving = task->end.done - task->end.started,
    };

    if (task->answer.due) {
        snprintf(result.engine, sizeof result.engine, "%s", mli_mov_engine_name());
        operands_result(&task->operands, &result.dst);
        log_done(task, &result);
        answer_result(&task->answer, &result);
        service->jobs_done++;
        service->bytes_moved += result.bytes;
    }
    task_destroy(task);
}

void dispatch_done(struct task *task)
{
    struct service *service = task->service;
    struct fault fault;

    task->state = TASK_NEW;
    service->running--;
    service->channels_busy -= task->job.channels;
    mli_mov_release_handle(&task->handle);
    /* The channels first: the reply may make its reader ask for the next job. */
    dispatch_run(service);
    if (failure(task, &fault))
        task_fail(task, &fault);
    else
        succeed(task);
}
