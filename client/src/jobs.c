/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods job.submit, job.status, job.cancel, job.wait and job.list. */
#include <stdlib.h>

#include "client/src/client_state.h"
#include "proto/wire/methods.h"

/* Submitting jobs. */

int mli_client_submit_async(mli_client *client, const mli_client_job *job, mli_client_done_fn *done,
                            void *user, mli_client_ticket *ticket, mli_client_error *error)
{
    struct job_parts parts;
    int status = describe_job(client, job, false, &parts, error);

    if (status)
        return status;
    const char *params = request_params_end(client);
    if (!params)
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    struct request request = {.method = "job.submit",
                              .params = params,
                              .params_length = client->params.length,
                              .attachments = parts.attachments,
                              .count = parts.count,
                              .kind = SLOT_RESULT,
                              .done = done,
                              .user = user};
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
    int status = describe_job(client, job, true, &parts, error);

    for (size_t i = 0; status == 0 && client->inlined && i < parts.count; i++) {
        if (parts.attachments[i].back)
            status = error_set(error, MLI_CLIENT_IMPOSSIBLE,
                               "a detached job cannot return its result over this connection");
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

/* Status of jobs, cancelling, waiting and listing. */

/* Calls a method with a reference to a job as its only param. */
static int call_with_job(struct call *call, mli_client *client, const char *method,
                         mli_client_ref ref, mli_client_error *error)
{
    struct job_ref borrowed;
    int status = describe_refs(&ref, 1, &borrowed, error);

    if (status)
        return status;
    struct jsonw *w = request_params(client);
    job_ref_write(w, "job", &borrowed);
    return call_begin(call, client, method, true, NULL, 0, error);
}

int mli_client_status(mli_client *client, mli_client_ref ref, mli_client_job_info *info,
                      mli_client_error *error)
{
    struct call call;
    struct job_info read;
    int status = call_with_job(&call, client, "job.status", ref, error);

    if (status)
        return status;
    if (job_info_read(&call.reply->result, &read))
        return call_unreadable(&call, error);
    call_finish(&call);
    info_convert(info, &read);
    return 0;
}

int mli_client_cancel(mli_client *client, mli_client_ref ref, enum mli_client_state *state,
                      mli_client_error *error)
{
    struct call call;
    struct job_brief read;
    int status = call_with_job(&call, client, "job.cancel", ref, error);

    if (status)
        return status;
    if (job_brief_read(&call.reply->result, &read))
        return call_unreadable(&call, error);
    call_finish(&call);
    if (state)
        *state = (enum mli_client_state)read.state;
    return 0;
}

static int call_wait(struct call *call, mli_client *client, const struct job_wait *wait,
                     mli_client_error *error)
{
    struct jsonw *w = request_params(client);

    job_wait_write(w, wait);
    return call_begin(call, client, "job.wait", true, NULL, 0, error);
}

int mli_client_wait_job(mli_client *client, mli_client_ref ref, uint32_t timeout_ms,
                        mli_client_result *result, mli_client_error *error)
{
    struct call call;
    struct job_ref borrowed;
    mli_client_result read;
    int status = describe_refs(&ref, 1, &borrowed, error);

    if (status)
        return status;
    struct job_wait wait = {.what = JOB_WAIT_ONE, .jobs = {&borrowed, 1}, .timeout_ms = timeout_ms};
    status = call_wait(&call, client, &wait, error);
    if (status)
        return status;
    status = result_read(&call.reply->result, &read, error);
    call_finish(&call);
    if (status)
        return status;
    if (result)
        *result = read;
    else
        mli_client_result_free(&read);
    return 0;
}

int mli_client_wait_jobs(mli_client *client, const mli_client_ref *refs, size_t count,
                         uint32_t timeout_ms, mli_client_error *error)
{
    struct call call;
    struct job_ref *borrowed = NULL;
    int status;

    if (count > JOB_WAIT_MAX)
        return error_set(error, MLI_CLIENT_MISUSE, "%zu jobs given; at most %d are allowed", count,
                         JOB_WAIT_MAX);
    if (count > 0 && !(borrowed = calloc(count, sizeof(*borrowed))))
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    status = describe_refs(refs, count, borrowed, error);
    if (status == 0) {
        struct job_wait wait = {.what = count ? JOB_WAIT_SEVERAL : JOB_WAIT_ALL,
                                .jobs = {borrowed, count},
                                .timeout_ms = timeout_ms};
        status = call_wait(&call, client, &wait, error);
    }
    free(borrowed);
    if (status == 0)
        call_finish(&call);
    return status;
}

/* Reads the result of job.list. Returns 0, -1 if it is invalid, or MLI_CLIENT_NO_MEMORY. */
static int read_list(const struct json *result, mli_client_job_info **jobs, size_t *count,
                     bool *more)
{
    struct json list = json_member(result, "jobs"), last = json_member(result, "more"), item = {0};
    size_t length, filled = 0;

    if (json_array(&list, &length) || json_bool(&last, more))
        return -1;
    *jobs = calloc(length ? length : 1, sizeof(**jobs));
    if (!*jobs)
        return MLI_CLIENT_NO_MEMORY;
    while (json_next(&list, &item)) {
        struct job_info read;
        if (job_info_read(&item, &read)) {
            free(*jobs);
            return -1;
        }
        info_convert(&(*jobs)[filled++], &read);
    }
    *count = filled;
    return 0;
}

int mli_client_list(mli_client *client, const mli_client_query *query, mli_client_job_info **jobs,
                    size_t *count, bool *more, mli_client_error *error)
{
    struct call call;
    bool storage;
    struct job_list_query params = {.states = query->states,
                                    .client = query->client,
                                    .name = (char *)(uintptr_t)query->name,
                                    .before = query->before,
                                    .limit = query->limit};
    struct jsonw *w = request_params(client);
    job_list_query_write(w, &params);
    int status = call_begin(&call, client, "job.list", true, NULL, 0, error);
    if (status)
        return status;
    status = read_list(&call.reply->result, jobs, count, more ? more : &storage);
    if (status == -1)
        return call_unreadable(&call, error);
    call_finish(&call);
    return status ? error_set(error, status, "out of memory") : 0;
}
