/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/call_prepared.h"

#include <inttypes.h>

#include "daemon/job/prepared.h"
#include "daemon/job/work.h"
#include "daemon/net/call.h"
#include "daemon/net/call_submit.h"
#include "daemon/net/client.h"
#include "proto/wire/job_calls.h"
#include "proto/wire/rpc.h"

const struct ended *job_prepare_call(struct call *call)
{
    struct prepared *prepared =
        prepared_create(call->client, &call->request->params, call->fds, call->fd_count);
    struct job_prepared told;
    struct jsonw *w;

    if (!prepared)
        return call_refuse(call);
    call_close_fds(call);
    told = (struct job_prepared){
        .prepared = prepared->number,
        .bytes = prepared->work->operands.bytes,
    };
    operands_result(&prepared->work->operands, &told.dst); /* borrowed: not to be finished */
    w = answer_begin(&call->answer, 0);
    if (w)
        job_prepared_write_members(w, &told);
    return answer_end(&call->answer, w);
}

const struct ended *job_start_call(struct call *call)
{
    struct rpc_request *request = call->request;
    struct job_start start;
    struct task *task;

    if (call->fd_count) {
        call_complain_fds(call);
        return call_refuse_job(call);
    }
    if (job_start_read(&request->params, &start) < 0)
        return call_refuse_job(call);
    task = prepared_start(call->client, &start, &request->fault);
    job_start_finish(&start);
    return task ? call_accept_job(call, task) : call_refuse_job(call);
}

const struct ended *job_release_call(struct call *call)
{
    struct jsonw *w;
    uint32_t number;

    if (call->fd_count)
        return call_refuse_fds(call);
    if (number_param_read(&call->request->params, "prepared", &number) < 0)
        return call_refuse(call);
    if (prepared_release(call->client, number) < 0) {
        fault_set(&call->request->fault, FAULT_NOT_FOUND, "/prepared",
                  "prepared: this connection has no prepared job %" PRIu32, number);
        return call_refuse(call);
    }
    w = answer_begin(&call->answer, 0);
    if (w)
        jsonw_uint(w, "prepared", number);
    return answer_end(&call->answer, w);
}
