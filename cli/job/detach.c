/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/detach.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/job_info.h"

void detach_finish(struct detach *detach)
{
    free(detach->numbers);
    *detach = (struct detach){0};
}

/* What has to be done after the job, and nobody will be there to do it. */
static int check(const struct detach *detach, const struct job_spec *job, struct fault *fault)
{
    if (detach->client->remote)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--detach: over ssh nobody would fetch the output");
    if (job->dst.update)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/update",
                         "dst.update: an update replaces the file when it is done; not with "
                         "--detach");
    if (job->expect.kind != EXPECT_NOTHING)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/expect",
                         "expect: nothing is compared with --detach");
    if (job->dst.params)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/params",
                         "dst.params: written when the job is done; not with --detach");
    return 0;
}

static int begin_file(struct detach *detach, const struct job_file *file, struct fault *fault)
{
    if (detach->file == file)
        return 0;
    free(detach->numbers);
    detach->file = file;
    detach->numbers = calloc(file->list.count, sizeof(*detach->numbers));
    return detach->numbers ? 0 : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
}

/* Those that must be done before, by the numbers that the daemon gave them. */
static int refer(const struct detach *detach, size_t index, struct job_ref *refs,
                 struct job_refs *after, struct fault *fault)
{
    const struct job_spec *job = &detach->file->list.jobs[index];
    if (job->after_count > JOB_AFTER_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/after",
                         "after: %zu jobs given, at most %d are possible with --detach",
                         job->after_count, JOB_AFTER_MAX);
    for (size_t i = 0; i < job->after_count; i++)
        refs[i] = (struct job_ref){.number = detach->numbers[detach->file->after[index][i]]};
    *after = (struct job_refs){refs, job->after_count};
    return 0;
}

static int send(struct client *client, const struct resolved *r, struct job_brief *brief,
                struct fault *fault)
{
    struct jsonw params;
    struct rpc_reply reply;
    const mli_client_attachment attachments[RESOLVED_FDS] = {
        [RESOLVED_FD_SRC] = {.fd = r->src.fd}, [RESOLVED_FD_DST] = {.fd = r->output.fd}};
    jsonw_init(&params);
    jsonw_object_begin(&params, NULL);
    job_wire_write_members(&params, &r->wire);
    jsonw_object_end(&params);
    const struct client_request request = {.method = "job.submit",
                                           .params = &params,
                                           .attachments = attachments,
                                           .count = RESOLVED_FDS,
                                           .timeout_ms = -1};
    int status = client_call(client, &request, &reply, fault);
    jsonw_finish(&params);
    if (status)
        return -1;
    status = job_brief_read(&reply.result, brief);
    if (status)
        client_unreadable(&reply, fault);
    rpc_reply_finish(&reply);
    return status;
}

static int run(struct detach *detach, const struct job_file *file, const struct job_spec *job,
               struct outcome *outcome)
{
    struct fault *fault = &outcome->fault;
    struct job_ref refs[JOB_AFTER_MAX];
    struct job_brief brief;
    struct resolved r;
    size_t index = (size_t)(job - file->list.jobs);
    if (check(detach, job, fault) || begin_file(detach, file, fault))
        return -1;
    int status = resolved_init(&r, file, job, NULL, fault);
    if (status == 0) {
        outcome_describe(outcome, &r);
        status = refer(detach, index, refs, &r.wire.after, fault);
    }
    if (status == 0) {
        r.wire.detach = true;
        status = execute_prepare_output(&r, fault);
    }
    if (status == 0)
        status = execute_write_header(&r, fault);
    if (status == 0)
        status = send(detach->client, &r, &brief, fault);
    if (status == 0) {
        outcome->detached = detach->numbers[index] = brief.job;
        status = output_commit(&r.output, false, fault);
    }
    r.wire.after = (struct job_refs){0}; /* not its own */
    resolved_finish(&r);
    return status;
}

void detach_job(void *context, const struct job_file *file, const struct job_spec *job,
                struct outcome *outcome)
{
    struct detach *detach = context;
    if (run(detach, file, job, outcome)) {
        execute_translate(&outcome->fault);
        fault_prefix(&outcome->fault, job->pointer);
        outcome->exit = exit_code_of(&outcome->fault);
    }
    outcome->disconnected = !client_connected(detach->client);
}
