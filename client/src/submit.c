/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs that are described as a whole. */
#include <stdlib.h>

#include "client/src/client_describe.h"
#include "client/src/client_request.h"
#include "client/src/client_result.h"
#include "client/src/client_wait.h"
#include "proto/wire/job_info.h"
#include "proto/wire/rpc.h"

int mli_client_submit_async(mli_client *client, const mli_client_job *job, mli_client_done_fn *done,
                            void *user, mli_client_ticket *ticket, mli_client_error *error)
{
    struct job_parts parts;
    int status = describe_job(client, job, false, &parts, error);
    if (status)
        return status;
    struct request request = {.method = "job.submit",
                              .params = jsonw_text(&client->params),
                              .params_length = client->params.length,
                              .attachments = parts.attachments,
                              .count = parts.count,
                              .kind = SLOT_RESULT,
                              .done = done,
                              .user = user};
    if (!request.params)
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    return request_send(client, &request, ticket, error);
}

int mli_client_submit(mli_client *client, const mli_client_job *job, mli_client_result *result,
                      mli_client_error *error)
{
    mli_client_ticket ticket = 0;
    int status = request_may_wait(client, error);
    if (status == 0)
        status = mli_client_submit_async(client, job, NULL, NULL, &ticket, error);
    if (status)
        return status;
    status = mli_client_wait(client, ticket, client->timeout_ms, result, error);
    if (status == MLI_CLIENT_WAITED || status == MLI_CLIENT_INTERRUPTED)
        mli_client_forget(client, ticket);
    return status;
}

int mli_client_submit_detached(mli_client *client, const mli_client_job *job, uint64_t *number,
                               mli_client_error *error)
{
    struct job_parts parts;
    struct call call;
    struct job_brief read;
    int status = request_may_wait(client, error);
    if (status == 0)
        status = describe_job(client, job, true, &parts, error);
    for (size_t i = 0; status == 0 && client->inlined && i < parts.count; i++) {
        if (parts.attachments[i].back)
            status = error_set(error, MLI_CLIENT_IMPOSSIBLE,
                               "a detached job's bytes do not come back over this connection");
    }
    if (status == 0)
        status =
            call_begin(&call, client, "job.submit", true, parts.attachments, parts.count, error);
    if (status)
        return status;
    if (job_brief_read(&call.reply->result, &read))
        return call_unreadable(&call, error);
    call_finish(&call);
    *number = read.job;
    return 0;
}
