/* SPDX-License-Identifier: BSD-3-Clause */
#include "admit.h"

#include <inttypes.h>

#include "after.h"
#include "client.h"
#include "deadline.h"
#include "dispatch.h"
#include "job.h"
#include "json.h"
#include "mapping.h"
#include "state.h"
#include "task.h"

static const struct mapping_use src_use = {.write = false, .name = "src", .pointer = "/src/fd"};
static const struct mapping_use dst_use = {.write = true, .name = "dst", .pointer = "/dst/fd"};

static int check_serving(const struct service *service, struct fault *fault)
{
    if (service->state != SERVICE_SERVING)
        return fault_set(fault, FAULT_SHUTTING_DOWN, NULL, "the service is shutting down");
    if (service->refusing)
        return fault_set(fault, FAULT_SHUTTING_DOWN, NULL,
                         "the service is drained and takes no new jobs");
    return 0;
}

static int check_channels(const struct task *task, struct fault *fault)
{
    const struct config *config = &task->service->config;

    if (task->work->job.channels <= config->channels)
        return 0;
    return fault_set(fault, FAULT_LIMIT, "/channels",
                     "channels: %" PRIu32 " wanted, the service has %" PRIu32,
                     task->work->job.channels, config->channels);
}

/* Connections have no buffers yet. */
static int check_served(const struct job *job, struct fault *fault)
{
    if (job->src.where == TENSOR_IN_BUFFER)
        return fault_set(fault, FAULT_NOT_FOUND, "/src/buffer",
                         "src.buffer: this connection has no buffer %" PRIu32, job->src.buffer);
    if (job->dst.where == TENSOR_IN_BUFFER)
        return fault_set(fault, FAULT_NOT_FOUND, "/dst/buffer",
                         "dst.buffer: this connection has no buffer %" PRIu32, job->dst.buffer);
    return 0;
}

/* A descriptor that no tensor lies in was meant for something. */
static int check_fds(const struct job *job, size_t count, struct fault *fault)
{
    const size_t used = job->src.fd == job->dst.fd ? 1 : 2;

    if (count == used)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "fds: %zu descriptors came with the job, it uses %zu", count, used);
}

static int check_bytes(const struct task *task, struct fault *fault)
{
    const struct span *read = &task->work->operands.read, *written = &task->work->operands.written;
    const uint64_t max = task->service->config.job_bytes;
    uint64_t sum;

    if (!__builtin_add_overflow(read->end, written->end, &sum) && sum <= max)
        return 0;
    return fault_set(
        fault, FAULT_LIMIT, NULL,
        "limits.job_bytes: src and dst take more than the %" PRIu64 " B that a job may map", max);
}

/*
 * libmli compares addresses. Two mappings of one file have different ones, so that it cannot see
 * that they are the same bytes. Call it when both ranges are known to lie in their files.
 */
static int check_apart(const struct task *task, const struct mapped_file *src,
                       const struct mapped_file *dst, struct fault *fault)
{
    const struct span *read = &task->work->operands.read, *written = &task->work->operands.written;
    const uint64_t src_offset = task->work->job.src.offset, dst_offset = task->work->job.dst.offset;

    if (src->dev != dst->dev || src->ino != dst->ino ||
        src_offset + read->end <= dst_offset + written->begin ||
        dst_offset + written->end <= src_offset + read->begin)
        return 0;
    fault_set(fault, FAULT_REFUSED, "/dst",
              "dst: bytes %" PRIu64 " to %" PRIu64 " of the file are written, %" PRIu64
              " to %" PRIu64 " of the same file are read as src",
              dst_offset + written->begin, dst_offset + written->end, src_offset + read->begin,
              src_offset + read->end);
    fault->status = MLI_STATUS_INCOMPATEBLE_TENSORS;
    return -1;
}

static void place(mli_tensor *tensor, const struct mapping *mapping, uint64_t bytes)
{
    tensor->data.mem.pi8 = (int8_t *)mapping->data;
    tensor->data.capacity = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static int map(struct task *task, const int *fds, struct fault *fault)
{
    const struct job *job = &task->work->job;
    struct operands *operands = &task->work->operands;
    struct mapped_file src, dst;

    if (mapped_file_check(&src, fds[job->src.fd], &src_use, fault) < 0 ||
        mapped_file_check(&dst, fds[job->dst.fd], &dst_use, fault) < 0 ||
        mapping_init(&task->src, &src, job->src.offset, operands->read.end, &src_use, fault) < 0 ||
        mapping_init(&task->dst, &dst, job->dst.offset, operands->written.end, &dst_use, fault) <
            0 ||
        check_apart(task, &src, &dst, fault) < 0)
        return -1;
    place(&operands->src, &task->src, operands->read.end);
    place(&operands->dst, &task->dst, operands->written.end);
    return 0;
}

static int fill(struct task *task, const struct json *params, const int *fds, size_t count)
{
    struct fault *fault = params->fault;
    struct job *job;

    task->work = work_create();
    if (!task->work)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a job");
    job = &task->work->job;
    if (job_wire_read(params, (uint32_t)count, job) < 0 || check_served(job, fault) < 0 ||
        check_fds(job, count, fault) < 0 || check_channels(task, fault) < 0 ||
        operands_init(&task->work->operands, job, fault) < 0 || check_bytes(task, fault) < 0 ||
        map(task, fds, fault) < 0 ||
        after_init(task, task->answer.client, &job->after_refs, fault) < 0)
        return -1;
    task->priority = job->priority;
    task->timeout_ms = job->timeout_ms;
    task->detached = job->detach;
    if (job->timeout_ms > 0)
        task->deadline = task->admitted + (uint64_t)job->timeout_ms * 1000 * 1000;
    return 0;
}

struct task *admit(struct client *client, const struct json *params, const int *fds, size_t count)
{
    struct task *task;

    if (check_serving(client->service, params->fault) < 0)
        return NULL;
    task = task_create(client);
    if (!task) {
        fault_set(params->fault, FAULT_INTERNAL, NULL, "no memory for a job");
        return NULL;
    }
    if (fill(task, params, fds, count) < 0) {
        task_destroy(task);
        return NULL;
    }
    return task;
}

void admit_accept(struct task *task)
{
    task_accept(task);
    deadline_add(&task->service->deadlines, task);
    if (task->waits == 0)
        dispatch_queue(task);
}
