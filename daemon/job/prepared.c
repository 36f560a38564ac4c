/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdlib.h>

#include "daemon/base/seam.h"
#include "daemon/job/jobs.h"
#include "mli_helpers_api.h"
#include "proto/wire/methods.h"

static void destroy(struct prepared *prepared)
{
    places_finish(&prepared->places, PLACES_OF_PREPARED);
    work_drop(prepared->work);
    free(prepared);
}

static uint64_t parameter_bytes(const struct prepared *prepared)
{
    const struct quant *own = &prepared->work->operands.quant;
    const struct job *job = &prepared->work->job;

    return ((uint64_t)own->count + job->src.desc.quant.count + job->dst.desc.quant.count) *
           (sizeof *own->scale + sizeof *own->zero_point + sizeof *own->scale_frac_bits);
}

bool prepared_release_last(struct session *session)
{
    struct numbered *table = &session->prepared.table;

    if (table->count == 0) {
        numbered_finish(table);
        return false;
    }
    prepared_release(session, table->entries[table->count - 1].number);
    return true;
}

int prepared_release(struct session *session, uint32_t number)
{
    struct prepared_jobs *jobs = &session->prepared;
    struct prepared *prepared = numbered_remove(&jobs->table, number);

    if (!prepared)
        return -1;
    session->jobs->prepared--;
    jobs->parameters -= parameter_bytes(prepared);
    destroy(prepared);
    return 0;
}

static int check_count(const struct session *session, struct fault *fault)
{
    const uint32_t count = session->prepared.table.count;

    if (count < session->jobs->config->prepared_per_client)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "limits.prepared_per_client: this connection has %" PRIu32
                     " prepared jobs, the most allowed; release one first",
                     count);
}

/* Has libmli check the move and compute the destination. */
static int check_move(struct prepared *prepared, struct fault *fault)
{
    struct operands *operands = &prepared->work->operands;
    mli_tensor src, dst;
    mli_status status;

    locate_tensors(&prepared->places, operands, &src, &dst);
    status = mli_mov_check(&src, &prepared->work->job.common.cfg, &dst);
    if (status != MLI_STATUS_OK)
        return fault_set_refused(fault, status, mli_last_error());
    operands->dst = dst;
    return 0;
}

static int fill(struct prepared *prepared, struct session *session, const struct json *params,
                const int *fds, size_t count)
{
    struct fault *fault = params->fault;
    struct work *work = prepared->work;
    const struct located_job located = {session, work, fds, count, PLACES_OF_PREPARED};

    if (job_wire_read_prepare(params, (uint32_t)count, &work->job) < 0 ||
        admit_check_channels(session->jobs, &work->job, fault) < 0 ||
        operands_init(&work->operands, &work->job, fault) < 0 ||
        locate_job(&prepared->places, &located, fault) < 0)
        return -1;
    work->prepared = true;
    return check_move(prepared, fault);
}

static int check_parameters(const struct session *session, const struct prepared *prepared,
                            struct fault *fault)
{
    if (session->prepared.parameters + parameter_bytes(prepared) <= PREPARED_PARAMETERS_MAX)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "the per-axis parameters of this connection's prepared jobs take more than "
                     "%d B",
                     PREPARED_PARAMETERS_MAX);
}

struct prepared *prepared_create(struct session *session, const struct json *params, const int *fds,
                                 size_t count)
{
    struct prepared *prepared;

    if (check_count(session, params->fault) < 0)
        return NULL;
    prepared = seam.calloc(1, sizeof *prepared);
    if (!prepared || !(prepared->work = work_create())) {
        fault_set(params->fault, FAULT_INTERNAL, NULL, "no memory for a prepared job");
        free(prepared);
        return NULL;
    }
    if (fill(prepared, session, params, fds, count) < 0 ||
        check_parameters(session, prepared, params->fault) < 0) {
        destroy(prepared);
        return NULL;
    }
    prepared->number = numbered_add(&session->prepared.table, prepared);
    if (prepared->number == 0) {
        fault_set(params->fault, FAULT_INTERNAL, NULL, "no memory for a prepared job");
        destroy(prepared);
        return NULL;
    }
    session->prepared.parameters += parameter_bytes(prepared);
    session->jobs->prepared++;
    return prepared;
}

static int fill_start(struct task *task, const struct prepared *prepared,
                      const struct job_start *start, struct fault *fault)
{
    struct session *session = task->session;

    task->work = work_hold(prepared->work);
    if (locate_start(&task->places, session, prepared, start, fault) < 0 ||
        after_init(task, session, &start->after, fault) < 0)
        return -1;
    task->priority = start->has_priority ? start->priority : prepared->work->job.common.priority;
    task_set_timeout(task, start->timeout_ms);
    task->detached = start->detach;
    return 0;
}

struct task *prepared_start(struct session *session, const struct job_start *start,
                            struct fault *fault)
{
    const struct prepared *prepared = numbered_find(&session->prepared.table, start->prepared);
    struct task *task;

    if (admit_check_serving(session->jobs, fault) < 0)
        return NULL;
    if (!prepared) {
        fault_set(fault, FAULT_NOT_FOUND, "/prepared",
                  "prepared: this connection has no prepared job %" PRIu32, start->prepared);
        return NULL;
    }
    task = task_create(session, fault);
    if (!task || fill_start(task, prepared, start, fault) == 0)
        return task;
    task_destroy(task);
    return NULL;
}
