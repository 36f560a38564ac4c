/* SPDX-License-Identifier: BSD-3-Clause */
#include "execute.h"

#include <stdint.h>
#include <string.h>

#include "judge.h"

/* What a service that keeps its deadlines may take longer than the job's own timeout. */
enum { GRACE_MS = 3000 };

int execute_prepare_output(struct resolved *r, struct fault *fault)
{
    uint64_t size = (uint64_t)r->whole.stat.st_size;
    if (r->before.fd >= 0)
        return output_copy(&r->output, r->before.fd, size, fault);
    return output_reserve(&r->output, size, fault);
}

void execute_translate(struct fault *fault)
{
    if (strcmp(fault->pointer, "/src/fd") == 0)
        strcpy(fault->pointer, "/src/file");
    if (strcmp(fault->pointer, "/dst/fd") == 0)
        strcpy(fault->pointer, "/dst/file");
}

static int submit(struct client *client, const struct resolved *r, struct job_result *result,
                  struct fault *fault)
{
    struct jsonw params;
    struct rpc_reply reply;
    /* A new output is zeros yet: over a stream nobody needs to send them. */
    const mli_client_attachment attachments[RESOLVED_FDS] = {
        [RESOLVED_FD_SRC] = {.fd = r->src.fd, .send = true},
        [RESOLVED_FD_DST] = {.fd = r->output.fd, .send = r->before.fd >= 0, .back = true}};
    uint32_t timeout = r->wire.timeout_ms;
    jsonw_init(&params);
    jsonw_object_begin(&params, NULL);
    job_wire_write_members(&params, &r->wire);
    jsonw_object_end(&params);
    const struct client_request request = {
        .method = "job.submit",
        .params = &params,
        .attachments = attachments,
        .count = RESOLVED_FDS,
        .timeout_ms = timeout && timeout < INT32_MAX - GRACE_MS ? (int)timeout + GRACE_MS : -1};
    int status = client_call(client, &request, &reply, fault);
    jsonw_finish(&params);
    if (status) {
        execute_translate(fault);
        return -1;
    }
    status = job_result_read(&reply.result, result);
    if (status == 0 && !result->has_dst)
        status = json_complain(&reply.result, "it has no \"dst\"");
    if (status)
        fault_set(fault, FAULT_STREAM_ERROR, NULL, "the daemon's result cannot be read: %s",
                  reply.fault.text);
    rpc_reply_finish(&reply);
    return status;
}

/* The service must have done what was planned here, or the header would lie. */
static int check_result(const struct resolved *r, const struct job_result *result,
                        struct fault *fault)
{
    if (result->dst.rank == r->result.rank &&
        memcmp(result->dst.shape, r->result.shape, r->result.rank * sizeof(uint32_t)) == 0)
        return 0;
    return fault_set(fault, FAULT_INTERNAL, "/dst",
                     "dst: the daemon reports another shape than the move has");
}

int execute_write_header(struct resolved *r, struct fault *fault)
{
    char bytes[NPY_FORMAT_SIZE];
    struct npy_header header = r->whole.header;
    if (!r->whole.npy || r->before.fd >= 0)
        return 0; /* raw, or copied with the rest */
    if (npy_format(&header, bytes, sizeof(bytes)))
        return fault_set(fault, FAULT_INTERNAL, "/dst", "dst: the .npy header does not fit");
    return output_write(&r->output, bytes, sizeof(bytes), 0, fault);
}

static int write_params(struct resolved *r, const struct job_result *result, struct fault *fault)
{
    if (!r->params_path)
        return 0;
    struct tensor_desc only_params = result->dst; /* borrows its arrays */
    only_params.rank = only_params.stride_count = 0;
    only_params.has_strides = false;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    tensor_desc_write(&w, &only_params);
    jsonw_object_end(&w);
    jsonw_newline(&w);
    const char *text = jsonw_text(&w);
    int status = text ? output_write(&r->params, text, w.length, 0, fault)
                      : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    jsonw_finish(&w);
    return status;
}

/* The parameters come first: once the output is there, all is. */
static int commit(struct resolved *r, struct fault *fault)
{
    if (r->params_path && output_commit(&r->params, false, fault))
        return -1;
    return output_commit(&r->output, false, fault);
}

static int run(struct client *client, const struct job_file *file, const struct job *job,
               struct outcome *outcome)
{
    struct fault *fault = &outcome->fault;
    struct resolved r;
    int status = resolved_init(&r, file, job, NULL, fault);
    if (status)
        goto out;
    outcome_describe(outcome, &r);
    status = execute_prepare_output(&r, fault);
    if (status)
        goto out;
    status = submit(client, &r, &outcome->result, fault);
    if (status || judge_success(job, outcome))
        goto out;
    if (check_result(&r, &outcome->result, fault) || execute_write_header(&r, fault) ||
        write_params(&r, &outcome->result, fault) || commit(&r, fault)) {
        status = -1;
        goto out;
    }
    outcome->moved = true;
    status = judge_output(&r, outcome);
out:
    resolved_finish(&r);
    return status;
}

void execute_job(void *context, const struct job_file *file, const struct job *job,
                 struct outcome *outcome)
{
    struct client *client = context;
    int status = run(client, file, job, outcome);
    outcome->disconnected = !client_connected(client);
    if (status)
        judge_failure(job, outcome->disconnected, outcome);
    if (outcome->fault.code != FAULT_NONE)
        fault_prefix(&outcome->fault, job->pointer);
}
