/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/detach.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/job/explained.h"
#include "cli/job/staging.h"
#include "cli/job/submission.h"
#include "proto/wire/job_info.h"

void detach_finish(struct detach *detach)
{
    free(detach->numbers);
    free(detach->outputs);
    *detach = (struct detach){0};
}

int detach_begin(void *context, const struct job_file *file, struct fault *fault)
{
    struct detach *detach = context;

    races_begin(&detach->races, file);
    if (detach->rules && job_rules_begin(detach->rules, file, fault))
        return -1;
    return job_buffers_begin(&detach->buffers, detach->link, file, fault);
}

void detach_end(void *context)
{
    struct detach *detach = context;

    if (detach->rules)
        job_rules_end(detach->rules);
    job_buffers_end(&detach->buffers);
    races_report(&detach->races, detach->style);
    races_finish(&detach->races);
}

/* Refuses members that require work after the job has ended. */
static int check_detached(const struct detach *detach, const struct job_spec *job,
                          struct fault *fault)
{
    if (detach->link->board)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--detach cannot be combined with a board: no daemon would fetch the "
                         "output");
    if (detach->link->remote)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--detach cannot be combined with ssh: the output would not be fetched");
    if (job->dst.update)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/update",
                         "dst.update: an update replaces the file when it is done; not with "
                         "--detach");
    if (job->expect.kind != EXPECT_NOTHING)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/expect",
                         "expect: not allowed with --detach, which compares nothing");
    if (is_staged(job))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/stage",
                         "stage: mlictl waits between the three steps; not with --detach");
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
    return detach->numbers ? 0 : fault_no_memory(fault);
}

/* Remembers the file that a job will fill. Its number follows when the daemon has given it. */
static int add_output(struct detach *detach, const struct resolved *r, struct fault *fault)
{
    struct stat status;

    if (detach->output_count == detach->output_capacity) {
        const size_t capacity = 2 * detach->output_capacity + 16;
        struct detached_output *grown =
            reallocarray(detach->outputs, capacity, sizeof(*detach->outputs));

        if (!grown)
            return fault_no_memory(fault);
        detach->outputs = grown;
        detach->output_capacity = capacity;
    }
    if (fstat(r->output.fd, &status))
        return fault_set(fault, FAULT_IO_ERROR, "/dst", "dst: %s", strerror(errno));
    detach->outputs[detach->output_count++] =
        (struct detached_output){status.st_dev, status.st_ino, 0};
    return 0;
}

/* Adds the earlier job that writes the source, if there is one, to the predecessors. */
static int refer_to_source(const struct detach *detach, const struct resolved *r,
                           struct job_ref *refs, struct job_refs *after, struct fault *fault)
{
    const struct detached_output *found = NULL;
    struct stat status;

    if (r->src_buffer || fstat(r->src.fd, &status))
        return 0;
    for (size_t i = detach->output_count; i > 0 && !found; i--) {
        const struct detached_output *output = &detach->outputs[i - 1];

        if (output->number && output->inode == status.st_ino && output->device == status.st_dev)
            found = output;
    }
    for (size_t i = 0; i < after->count && found; i++) {
        if (refs[i].number == found->number)
            found = NULL;
    }
    if (!found)
        return 0;
    if (after->count == JOB_AFTER_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/after",
                         "after: %d jobs given, and the job that writes the source would be one "
                         "more; at most %d are possible with --detach",
                         JOB_AFTER_MAX, JOB_AFTER_MAX);
    refs[after->count++] = (struct job_ref){.number = found->number};
    return 0;
}

/* Adds the buffers that the job uses, to warn of races. */
static int add_races(struct detach *detach, const struct job_file *file, const struct resolved *r,
                     struct fault *fault)
{
    struct explained explained;

    if (!r->src_buffer && !r->dst_buffer)
        return 0;
    if (explained_init(&explained, file, r, r->job->common.channels, fault))
        return -1;
    races_add(&detach->races, r, &explained);
    return 0;
}

/* Fills "after" with the numbers that the daemon gave to the predecessors. */
static int refer(const struct detach *detach, size_t index, struct job_ref *refs,
                 struct job_refs *after, struct fault *fault)
{
    const struct job_spec *job = &detach->file->list.jobs[index];

    if (job->after_count > JOB_AFTER_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/after",
                         "after: %zu jobs given; at most %d are possible with --detach",
                         job->after_count, JOB_AFTER_MAX);
    for (size_t i = 0; i < job->after_count; i++)
        refs[i] = (struct job_ref){.number = detach->numbers[detach->file->after[index][i]]};
    *after = (struct job_refs){refs, job->after_count};
    return 0;
}

/* Names the source, if the daemon has forgotten the job that writes it: it may have failed. */
static void complain_of_writer(const struct resolved *r, struct fault *fault)
{
    const struct job_refs *after = &r->wire.after;
    char pointer[32];

    if (after->count == r->job->after_count)
        return;
    snprintf(pointer, sizeof(pointer), "/after/%zu", after->count - 1);
    if (strcmp(fault->pointer, pointer) == 0)
        fault_set(fault, fault->code, "/src/file",
                  "src.file: the daemon has forgotten job %" PRIu64 ", which writes it, and "
                  "whether the job succeeded; submit fewer jobs at a time, or without --detach",
                  after->refs[after->count - 1].number);
}

/* Sends the job. The service replies when it has admitted the job. */
static int submit_detached(struct daemon_link *link, const struct resolved *r,
                           struct job_brief *brief, struct fault *fault)
{
    struct rpc_reply reply;

    if (submission_send(link, r, -1, &reply, fault)) {
        complain_of_writer(r, fault);
        return -1;
    }
    int status = job_brief_read(&reply.result, brief);
    if (status)
        daemon_link_unreadable(&reply, fault);
    rpc_reply_finish(&reply);
    return status;
}

static int run_detached(struct detach *detach, const struct job_file *file,
                        const struct job_spec *job, struct outcome *outcome)
{
    struct fault *fault = &outcome->fault;
    struct job_ref refs[JOB_AFTER_MAX];
    struct job_brief brief;
    struct resolved r;
    size_t index = (size_t)(job - file->list.jobs);

    if (check_detached(detach, job, fault) || begin_file(detach, file, fault))
        return -1;
    int status = resolved_init(&r, file, job, NULL, fault);
    if (status == 0) {
        outcome_describe(outcome, &r);
        job_buffers_refer(&detach->buffers, &r);
        status = submission_check_rules(detach->rules, file, &r, fault);
    }
    if (status == 0)
        status = add_races(detach, file, &r, fault);
    if (status == 0)
        status = refer(detach, index, refs, &r.wire.after, fault);
    if (status == 0)
        status = refer_to_source(detach, &r, refs, &r.wire.after, fault);
    if (status == 0)
        status = submission_lift_source(detach->link, &r, fault);
    if (status == 0) {
        r.wire.detach = true;
        status = submission_prepare_output(&r, fault);
    }
    if (status == 0)
        status = submission_write_header(&r, fault);
    if (status == 0 && !r.dst_buffer)
        status = add_output(detach, &r, fault);
    if (status == 0)
        status = submit_detached(detach->link, &r, &brief, fault);
    if (status == 0) {
        outcome->detached = detach->numbers[index] = brief.job;
        if (!r.dst_buffer) {
            detach->outputs[detach->output_count - 1].number = brief.job;
            status = output_commit(&r.output, false, fault);
        }
    }
    r.wire.after = (struct job_refs){0}; /* r.wire borrows the array */
    resolved_finish(&r);
    return status;
}

void detach_job(void *context, const struct job_file *file, const struct job_spec *job,
                struct outcome *outcome)
{
    struct detach *detach = context;

    if (run_detached(detach, file, job, outcome)) {
        fault_prefix(&outcome->fault, job->pointer);
        outcome->exit = exit_code_of(&outcome->fault);
    }
    outcome->disconnected = !daemon_link_connected(detach->link);
}
