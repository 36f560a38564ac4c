/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepared jobs: the methods job.prepare, job.start and job.release. */
#include <stdlib.h>

#include "client/src/client_state.h"
#include "proto/wire/methods.h"

/* Checks a job and writes it as the params of job.prepare. */
static int describe(mli_client *client, const mli_client_job *job, struct job_parts *parts,
                    mli_client_error *error)
{
    if (client->inlined)
        return error_set(
            error, MLI_CLIENT_IMPOSSIBLE,
            "a prepared job needs shared memory, which this connection does not support");
    if (job->after_count > 0 || job->timeout_ms > 0)
        return error_set(
            error, MLI_CLIENT_MISUSE,
            "a prepared job has no `after` and no `timeout_ms`: give them at each start");
    return describe_job(client, job, false, parts, error);
}

int mli_client_prepare(mli_client *client, const mli_client_job *job, mli_client_prepared *prepared,
                       mli_client_error *error)
{
    struct job_parts parts = {0};
    struct call call;
    struct job_prepared read = {0};
    int status = describe(client, job, &parts, error);

    if (status == 0)
        status =
            call_begin(&call, client, "job.prepare", true, parts.attachments, parts.count, error);
    if (status)
        return status;
    if (job_prepared_read(&call.reply->result, &read))
        return call_unreadable(&call, error);
    *prepared = (mli_client_prepared){.id = read.prepared, .bytes = read.bytes};
    result_take_layout(&read.dst, &prepared->dst, &prepared->owned);
    job_prepared_finish(&read);
    call_finish(&call);
    return 0;
}

int mli_client_prepare_async(mli_client *client, const mli_client_job *job,
                             mli_client_reply_fn *done, void *user, mli_client_ticket *ticket,
                             mli_client_error *error)
{
    struct job_parts parts = {0};
    int status = describe(client, job, &parts, error);

    if (status)
        return status;
    const char *params = request_params_end(client);
    if (!params)
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    return mli_client_call_async(client, "job.prepare", params, parts.attachments, parts.count,
                                 done, user, ticket, error);
}

int mli_client_prepared_release(mli_client *client, mli_client_prepared *prepared,
                                mli_client_error *error)
{
    struct call call;
    uint32_t id = prepared->id;

    free(prepared->owned);
    *prepared = (mli_client_prepared){0};
    struct jsonw *w = request_params(client);
    jsonw_uint(w, "prepared", id);
    int status = call_begin(&call, client, "job.release", true, NULL, 0, error);
    if (status == 0)
        call_finish(&call);
    return status;
}

/* Writes a start with the JSON writer of proto/, because it has more options than memory. */
static int start_slowly(mli_client *client, const mli_client_start_args *args,
                        struct request *request, mli_client_ticket *ticket, mli_client_error *error)
{
    struct job_ref after[MLI_CLIENT_AFTER_MAX];

    if (args->after_count > MLI_CLIENT_AFTER_MAX)
        return error_set(error, MLI_CLIENT_MISUSE, "after: %zu jobs given; at most %d are allowed",
                         args->after_count, MLI_CLIENT_AFTER_MAX);
    int status = describe_refs(args->after, args->after_count, after, error);
    if (status)
        return status;
    const mli_client_other *src = &args->src, *dst = &args->dst;
    struct job_start start = {.prepared = args->prepared,
                              .src = {src->buffer != 0, src->has_offset, src->buffer, src->offset},
                              .dst = {dst->buffer != 0, dst->has_offset, dst->buffer, dst->offset},
                              .has_priority = args->has_priority,
                              .priority = args->priority,
                              .timeout_ms = args->timeout_ms,
                              .after = {after, args->after_count}};
    struct jsonw *w = request_params(client);
    job_start_write(w, &start);
    request->params = request_params_end(client);
    request->params_length = w->length;
    if (!request->params)
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    return request_send(client, request, ticket, error);
}

int mli_client_start(mli_client *client, const mli_client_start_args *args,
                     mli_client_done_fn *done, void *user, mli_client_ticket *ticket,
                     mli_client_error *error)
{
    if (args->has_priority || args->timeout_ms || args->after_count) {
        struct request request = {
            .method = "job.start", .kind = SLOT_RESULT, .done = done, .user = user};
        return start_slowly(client, args, &request, ticket, error);
    }
    if (client->socket < 0)
        return error_give(error, &client->lost);
    char *text = out_room(&client->out, QUICK_START_MAX);
    struct slot *slot = text ? table_take(&client->table, ticket) : NULL;
    if (!slot)
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    slot->kind = SLOT_RESULT;
    slot->done = done;
    slot->user = user;
    out_commit(&client->out, quick_write_start(text, *ticket, args));
    if (out_waiting(&client->out) <= OUT_ENOUGH || client->out.broken)
        return 0;
    /* Ignores errors: an error shuts the socket down, which fails the ticket. */
    mli_client_flush(client, NULL);
    return 0;
}
