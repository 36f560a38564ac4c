/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/job/explained.h"
#include "cli/job/staging.h"
#include "cli/run/execute.h"
#include "cli/tensor/params.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/clock_ns.h"
#include "proto/grow.h"
#include "proto/wire/job.h"

/* Checks a job against the rules of a board before it is sent. `rules` may be null: there are no
 * rules. */
static int submission_check_rules(const struct job_rules *rules, const struct job_file *file,
                                  const struct resolved *r, struct fault *fault)
{
    struct explained explained;

    if (!rules)
        return 0;
    if (explained_init(&explained, file, r, r->job->common.channels, fault))
        return -1;
    return job_rules_check(rules, r, &explained, fault);
}

/* Replaces a big-endian source by a copy. For a stream, which carries whole files, also copies the
 * tensor out of an archive. */
static int submission_lift_source(const struct daemon_link *link, struct resolved *r,
                                  struct fault *fault)
{
    if (little_endian_replace(&r->src, fault))
        return -1;
    if (!link->remote || !file_format_is_in_place(r->src.format))
        return 0;
    r->wire.src.offset -= r->src.header.data_offset; /* the distance of a window, or 0 */
    if (tensor_file_lift(&r->src, fault))
        return -1;
    r->wire.src.offset += r->src.header.data_offset;
    return 0;
}

/* Copies the file that is updated. Keeps its descriptor, which holds the lock. */
static int copy_before(struct resolved *r, uint64_t size, struct fault *fault)
{
    int fd, status;

    if (!r->before.header.big_endian)
        return output_copy(&r->output, r->before.fd, size, fault);
    fd = little_endian_copy(&r->before, fault);
    if (fd < 0)
        return -1;
    status = output_copy(&r->output, fd, size, fault);
    close(fd);
    return status;
}

/* Sets the size of the output before any data moves. For an update, also copies the old bytes. */
static int submission_prepare_output(struct resolved *r, struct fault *fault)
{
    uint64_t size = (uint64_t)r->whole.stat.st_size;

    if (r->dst_buffer)
        return 0;
    if (r->before.fd >= 0)
        return copy_before(r, size, fault);
    /* In memory, the zeros of a tensor that the job makes need no pages. */
    if (r->before.header.rank > 0 && r->output.directory < 0)
        return output_write(&r->output, "", 1, size - 1, fault);
    return output_reserve(&r->output, size, fault);
}

/* Writes the header of a new .npy file. */
static int submission_write_header(struct resolved *r, struct fault *fault)
{
    char bytes[NPY_FORMAT_SIZE];
    struct npy_header header = r->whole.header;

    if (r->whole.format == FILE_FORMAT_RAW || r->before.fd >= 0)
        return 0; /* A raw file has no header; a copied file has its header already. */
    if (npy_format(&header, bytes, sizeof(bytes)))
        return fault_set(fault, FAULT_INTERNAL, "/dst", "dst: the .npy header is too long");
    return output_write(&r->output, bytes, sizeof(bytes), 0, fault);
}

/* Names the file of a descriptor that the service complains about. */
static void translate(struct fault *fault)
{
    if (strcmp(fault->pointer, "/src/fd") == 0)
        strcpy(fault->pointer, "/src/file");
    if (strcmp(fault->pointer, "/dst/fd") == 0)
        strcpy(fault->pointer, "/dst/file");
}

/*
 * Sends the job and its files to the service. `timeout_ms` limits the wait for the reply; -1: no
 * limit. Returns 0 with a successful *reply, which the caller finishes; or -1.
 */
static int submission_send(struct daemon_link *link, const struct resolved *r, int timeout_ms,
                           struct rpc_reply *reply, struct fault *fault)
{
    struct jsonw params;

    mli_client_attachment attachments[2];
    size_t count = 0;

    if (!r->src_buffer)
        attachments[count++] = (mli_client_attachment){.fd = r->src.fd, .send = true};
    /* A new output has only zeros, which need not be sent over a stream. */
    if (!r->dst_buffer)
        attachments[count++] =
            (mli_client_attachment){.fd = r->output.fd, .send = r->before.fd >= 0, .back = true};
    jsonw_init_object(&params);
    job_wire_write_members(&params, &r->wire);
    jsonw_object_end(&params);
    const struct daemon_link_request request = {.method = "job.submit",
                                                .params = &params,
                                                .attachments = attachments,
                                                .count = count,
                                                .timeout_ms = timeout_ms};
    int status = daemon_link_call(link, &request, reply, fault);
    jsonw_finish(&params);
    if (status)
        translate(fault);
    return status;
}

enum { INTERVAL_MS = 100, SUBSCRIBE_MS = 1000 };

static void show(mli_client *library, const mli_client_event *event, void *user)
{
    struct job_progress *progress = user;

    (void)library;
    meter_show(&progress->meter, event->job.bytes_done, event->job.bytes);
}

/* Shows how many bytes of the job have passed the serial line of a board. */
static void show_line(void *user, uint64_t done, uint64_t total)
{
    struct job_progress *progress = user;

    if (progress->meter.label)
        meter_show(&progress->meter, done, total);
}

void job_progress_follow(struct job_progress *progress, struct daemon_link *link,
                         const struct print_style *style)
{
    mli_client_error error;

    *progress = (struct job_progress){.style = *style};
    if (!meter_wanted(style) || !daemon_link_connected(link))
        return;
    if (link->board) {
        progress->subscribed = true;
        board_calls->follow(link->board, show_line, progress);
        return;
    }
    /* A daemon that does not answer must not delay the jobs beyond their own timeouts. */
    mli_client_set_timeout(link->library, SUBSCRIBE_MS);
    progress->subscribed =
        mli_client_subscribe(link->library, 1U << MLI_CLIENT_EVENT_PROGRESS,
                             MLI_CLIENT_SCOPE_CONNECTION, INTERVAL_MS, show, progress, &error) == 0;
    mli_client_set_timeout(link->library, -1);
}

/* Call job_progress_begin() and job_progress_end() around each job, one job at a time. `progress`
 * may be null. */
static void job_progress_begin(struct job_progress *progress, const struct job_file *file,
                               const struct job_spec *job)
{
    if (!progress || !progress->subscribed)
        return;
    job_report_label(progress->label, sizeof(progress->label), file, job);
    meter_begin(&progress->meter, &progress->style, progress->label);
}

static void job_progress_end(struct job_progress *progress)
{
    if (progress && progress->subscribed)
        meter_end(&progress->meter);
}

/* Time to wait for a reply after the job's timeout, and after the deadline of the execution. */
enum { GRACE_MS = 3000, LAST_GRACE_MS = 1000 };

static int overdue(struct fault *fault)
{
    return fault_set(fault, FAULT_TIMED_OUT, NULL, "cut off: the time limit was reached");
}

/* Lowers the timeout of the job to the time left until the deadline of the execution. */
static int limit_time(const struct execution *execution, struct resolved *r, struct fault *fault)
{
    if (!execution->deadline_ns)
        return 0;
    uint64_t now = clock_ns();
    if (now >= execution->deadline_ns)
        return overdue(fault);
    uint64_t left = (execution->deadline_ns - now) / CLOCK_NS_PER_MS + 1;
    if (r->wire.common.timeout_ms == 0 || left < r->wire.common.timeout_ms)
        r->wire.common.timeout_ms = (uint32_t)left;
    return 0;
}

/* Returns the longest time to wait for a reply; -1: no limit. */
static int patience_ms(const struct execution *execution, uint32_t timeout_ms)
{
    uint32_t grace = execution->deadline_ns ? LAST_GRACE_MS : GRACE_MS;

    return timeout_ms && timeout_ms < INT32_MAX - grace ? (int)(timeout_ms + grace) : -1;
}

/* Sends the job and waits for its result. */
static int submit_and_wait(const struct execution *execution, const struct resolved *r,
                           struct job_result *result, struct fault *fault)
{
    struct rpc_reply reply;

    if (execution->link->board)
        return board_calls->run(execution->link->board, r, result, fault);
    if (submission_send(execution->link, r, patience_ms(execution, r->wire.common.timeout_ms),
                        &reply, fault))
        return -1;
    int status = job_result_read(&reply.result, result);
    if (status == 0 && !result->has_dst)
        status = json_complain(&reply.result, "it has no \"dst\"");
    if (status)
        fault_set(fault, FAULT_STREAM_ERROR, NULL, "the daemon's result cannot be read: %s",
                  reply.fault.text);
    rpc_reply_finish(&reply);
    return status;
}

/* Checks that the service reports the planned shape, which the .npy header has. */
static int check_result(const struct resolved *r, const struct job_result *result,
                        struct fault *fault)
{
    if (result->dst.rank == r->result.rank &&
        memcmp(result->dst.shape, r->result.shape, r->result.rank * sizeof(uint32_t)) == 0)
        return 0;
    return fault_set(fault, FAULT_INTERNAL, "/dst",
                     "dst: the daemon reports another shape than the move has");
}

static int write_params(struct resolved *r, const struct job_result *result, struct fault *fault)
{
    if (!r->params_path)
        return 0;
    char *text = params_text(&result->dst);
    int status =
        text ? output_write(&r->params, text, strlen(text), 0, fault) : fault_no_memory(fault);
    free(text);
    return status;
}

/* Returns whether the output must not replace a file. An update replaces the updated file. */
static bool is_fresh(const struct execution *execution, const struct resolved *r)
{
    return execution->fresh && !r->job->dst.update;
}

static int check_fresh(const struct execution *execution, const struct resolved *r,
                       struct fault *fault)
{
    return r->dst_buffer ? 0 : output_check_fresh(&r->output, !is_fresh(execution, r), fault);
}

/* Write the parameters first: if the output exists, the parameters exist too. */
static int commit(const struct execution *execution, struct resolved *r, struct fault *fault)
{
    int (*put)(struct output *, bool, struct fault *) =
        execution->sync ? output_commit_synced : output_commit;

    if (r->dst_buffer)
        return 0;
    if (r->params_path && put(&r->params, false, fault))
        return -1;
    return put(&r->output, is_fresh(execution, r), fault);
}

static int produce_params(const struct execution *execution, struct resolved *r)
{
    const struct tensor_file bytes = {.fd = -1, .format = FILE_FORMAT_RAW};

    if (!r->params_path)
        return 0;
    return produced_add(execution->produced, r->params_path, &bytes, output_take(&r->params));
}

/*
 * Keeps outputs in memory for later jobs. Duplicates the descriptor, because after a mismatch
 * `failed` still reads the output.
 */
static int produce(const struct execution *execution, struct resolved *r, struct outcome *outcome)
{
    if (!execution->produced || r->dst_buffer)
        return 0;
    int fd = outcome->exit == EXIT_CODE_DONE ? output_take(&r->output)
                                             : fcntl(r->output.fd, F_DUPFD_CLOEXEC, 0);
    int error = fd < 0 ? -errno : produced_add(execution->produced, r->dst_path, &r->whole, fd);
    if (!error)
        error = produce_params(execution, r);
    return error ? fault_set(&outcome->fault, FAULT_IO_ERROR, NULL, "cannot keep the output: %s",
                             strerror(-error))
                 : 0;
}

/* Runs a job that is not staged, without comparing its result with the expected one. */
static int run_plain(const struct execution *execution, const struct job_file *file,
                     const struct job_spec *job, struct resolved *r, struct outcome *outcome)
{
    struct fault *fault = &outcome->fault;

    if (resolved_init(r, file, job, execution->produced, fault))
        return -1;
    outcome_describe(outcome, r);
    job_buffers_refer(&execution->buffers, r);
    if (submission_check_rules(execution->rules, file, r, fault) ||
        check_fresh(execution, r, fault) || submission_lift_source(execution->link, r, fault) ||
        submission_prepare_output(r, fault) || limit_time(execution, r, fault) ||
        submit_and_wait(execution, r, &outcome->result, fault) ||
        outcome_judge_success(job, outcome))
        return -1;
    if (check_result(r, &outcome->result, fault) || submission_write_header(r, fault) ||
        write_params(r, &outcome->result, fault) || commit(execution, r, fault))
        return -1;
    outcome->moved = true;
    if (execution->moved)
        execution->moved(execution->context, file, r, outcome);
    return outcome_judge_output(r, outcome) ? -1 : produce(execution, r, outcome);
}

/* Lowers the deadline of the steps to the timeout of the job, which limits all steps together. */
static void limit_steps(struct execution *steps, const struct job_spec *job)
{
    const uint64_t end = clock_ns() + (uint64_t)job->common.timeout_ms * CLOCK_NS_PER_MS;

    if (job->common.timeout_ms > 0 && (steps->deadline_ns == 0 || end < steps->deadline_ns))
        steps->deadline_ns = end;
}

/* Gives the output of the last step to the whole job, because callbacks read it there. */
static void take_output(struct resolved *whole, struct resolved *last)
{
    static const struct output none = {.fd = -1, .directory = -1};

    whole->output = last->output;
    last->output = none;
}

static int run_steps(const struct execution *steps, struct staging *stage, struct resolved *r,
                     struct outcome *outcome)
{
    struct outcome before[STAGING_STORE] = {{0}};
    struct job_result *result = &outcome->result;
    int status = 0;

    for (int i = 0; i < STAGING_STEPS && status == 0; i++) {
        struct outcome *of_step = i < STAGING_STORE ? &before[i] : outcome;
        struct resolved resolved;

        if (i > 0) /* the parameters of the tensor that the previous step has written; borrowed */
            stage->jobs[i].src.desc.quant = before[i - 1].result.dst.quant;
        status = run_plain(steps, &stage->file, &stage->jobs[i], &resolved, of_step);
        if (status && of_step != outcome)
            outcome->fault = of_step->fault;
        if (status)
            staging_blame_step(&outcome->fault, i);
        if (i == STAGING_STORE)
            take_output(r, &resolved);
        resolved_finish(&resolved);
    }
    for (int i = 0; i < STAGING_STORE; i++) {
        if (outcome->moved) {
            result->ns_queued += before[i].result.ns_queued;
            result->ns_moving += before[i].result.ns_moving;
        }
        outcome_finish(&before[i]);
    }
    return status;
}

/* Allocates the two buffers, and runs the steps. */
static int run_in_buffers(const struct execution *execution, struct staging *stage,
                          struct resolved *r, struct outcome *outcome)
{
    struct execution steps = *execution;
    int status;

    steps.rules = NULL; /* job_rules_check_staging() has checked the steps */
    steps.moved = NULL; /* the callback is called once for the whole job */
    limit_steps(&steps, r->job);
    status = job_buffers_extend(&steps.buffers, &execution->buffers, execution->link, &stage->file,
                                &outcome->fault);
    if (status)
        staging_blame(&outcome->fault);
    else
        status = run_steps(&steps, stage, r, outcome);
    job_buffers_end(&steps.buffers);
    return status;
}

/*
 * Runs the three jobs of a staged job. *r becomes the whole job, with the output of the last step;
 * the caller finishes *r, even on failure. Returns 0, or -1 with outcome->fault and a pointer
 * relative to the job.
 */
static int run_staged(const struct execution *execution, const struct job_file *file,
                      const struct job_spec *job, struct resolved *r, struct outcome *outcome)
{
    static const struct produced nothing = {0};
    /* Never null: resolved_plan() would take a lock that the last step of this job waits for. */
    const struct produced *produced = execution->produced ? execution->produced : &nothing;
    struct fault *fault = &outcome->fault;
    struct staging stage = {0};
    int status = resolved_plan(r, file, job, produced, fault);

    if (status == 0)
        status = staging_init(&stage, file, r, fault);
    if (status == 0 && execution->rules)
        status = job_rules_check_staging(execution->rules, &stage, produced, fault);
    if (status == 0)
        status = staging_check_capacity(&stage, execution->profile, fault);
    if (status == 0)
        status = run_in_buffers(execution, &stage, r, outcome);
    if (outcome->moved && execution->moved)
        execution->moved(execution->context, file, r, outcome);
    if (r->src.header.rank > 0)
        outcome_describe(outcome, r);
    staging_finish(&stage);
    return status;
}

/* Returns whether the job was ended by the deadline of the execution, and not by the timeout_ms of
 * the job. */
static bool is_overdue(const struct execution *execution, const struct fault *fault)
{
    return fault->code == FAULT_TIMED_OUT && execution->deadline_ns &&
           clock_ns() >= execution->deadline_ns;
}

static void judge_end(const struct execution *execution, const struct job_spec *job,
                      struct outcome *outcome)
{
    bool late = is_overdue(execution, &outcome->fault);

    if (late)
        overdue(&outcome->fault);
    outcome_judge_failure(job, late || outcome->disconnected, outcome);
}

int execution_begin(void *context, const struct job_file *file, struct fault *fault)
{
    struct execution *execution = context;

    if (execution->rules && job_rules_begin(execution->rules, file, fault))
        return -1;
    return job_buffers_begin(&execution->buffers, execution->link, file, fault);
}

void execution_end(void *context)
{
    struct execution *execution = context;

    if (execution->rules)
        job_rules_end(execution->rules);
    job_buffers_end(&execution->buffers);
}

void execution_run(void *context, const struct job_file *file, const struct job_spec *job,
                   struct outcome *outcome)
{
    const struct execution *execution = context;
    struct resolved r;

    job_progress_begin(execution->progress, file, job);
    int status = is_staged(job) ? run_staged(execution, file, job, &r, outcome)
                                : run_plain(execution, file, job, &r, outcome);
    job_progress_end(execution->progress);
    outcome->disconnected = !daemon_link_connected(execution->link);
    if (status && outcome->verdict != VERDICT_NOT_REFUSED)
        judge_end(execution, job, outcome);
    if (outcome->fault.code != FAULT_NONE)
        fault_prefix(&outcome->fault, job->pointer);
    if (outcome->exit != EXIT_CODE_DONE && execution->failed)
        execution->failed(execution->context, &r, outcome);
    resolved_finish(&r);
}

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
    free(detach->numbers);
    detach->numbers = calloc(file->list.count, sizeof(*detach->numbers));
    if (!detach->numbers)
        return fault_no_memory(fault);
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
static int check_job(const struct detach *detach, const struct job_spec *job, struct fault *fault)
{
    if (detach->link->board)
        return board_calls->refuse(detach->link->where, BOARD_FETCHES_NOTHING, fault);
    if (detach->link->remote)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--detach cannot be combined with ssh: the output would not be fetched");
    if (job->dst.update)
        return fault_set(fault, FAULT_INVALID_PARAMS, job->dst.part ? "/dst/shape" : "/dst/update",
                         "dst.%s: not allowed with --detach: %s must end first",
                         job->dst.part ? "shape" : "update",
                         job->dst.part ? "the job that makes the tensor" : "the job");
    if (job->expect.kind != EXPECT_NOTHING)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/expect",
                         "expect: not allowed with --detach, which compares nothing");
    if (is_staged(job))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/stage",
                         "stage: not allowed with --detach: mlictl waits between the steps");
    if (job->dst.params)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/params",
                         "dst.params: not allowed with --detach: the job must end first");
    return 0;
}

int detach_check(const struct detach *detach, const struct job_file *file, struct fault *fault)
{
    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[file->list.order[i]];

        if (check_job(detach, job, fault))
            return fault_prefix(fault, job->pointer), -1;
    }
    return 0;
}

/* Remembers the file that a job will fill. The job's number is set when the daemon has given
 * it. */
static int add_output(struct detach *detach, const struct resolved *r, struct fault *fault)
{
    struct stat status;

    if (list_grow(&detach->outputs, detach->output_count, &detach->output_capacity,
                  sizeof(*detach->outputs)))
        return fault_no_memory(fault);
    if (fstat(r->output.fd, &status))
        return fault_set(fault, FAULT_IO_ERROR, "/dst", "dst: cannot stat: %s", strerror(errno));
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
static void refer(const struct detach *detach, const struct job_spec *job, struct job_ref *refs,
                  struct job_refs *after)
{
    for (size_t i = 0; i < job->after_count; i++)
        refs[i] = (struct job_ref){.number = detach->numbers[job->before[i]]};
    *after = (struct job_refs){refs, job->after_count};
}

/* If the daemon has forgotten the job that writes the source, the fault names the source: that job
 * may have failed. */
static void complain_of_writer(const struct resolved *r, struct fault *fault)
{
    const struct job_refs *after = &r->wire.after;
    char pointer[32];

    if (after->count == r->job->after_count)
        return;
    snprintf(pointer, sizeof(pointer), "/after/%zu", after->count - 1);
    if (strcmp(fault->pointer, pointer) == 0)
        fault_set(fault, fault->code, "/src/file",
                  "src.file: job %" PRIu64 " writes this file, but the daemon no longer knows if "
                  "the job succeeded; submit fewer jobs at a time, or omit --detach",
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

    int status = resolved_init(&r, file, job, NULL, fault);
    if (status == 0) {
        outcome_describe(outcome, &r);
        job_buffers_refer(&detach->buffers, &r);
        r.wire.detach = true;
        refer(detach, job, refs, &r.wire.after);
        status = submission_check_rules(detach->rules, file, &r, fault) ||
                 add_races(detach, file, &r, fault) ||
                 refer_to_source(detach, &r, refs, &r.wire.after, fault) ||
                 submission_lift_source(detach->link, &r, fault) ||
                 submission_prepare_output(&r, fault) || submission_write_header(&r, fault) ||
                 (!r.dst_buffer && add_output(detach, &r, fault)) ||
                 submit_detached(detach->link, &r, &brief, fault);
    }
    if (status == 0) {
        outcome->detached = detach->numbers[index] = brief.job;
        if (!r.dst_buffer) {
            detach->outputs[detach->output_count - 1].number = brief.job;
            status = output_commit(&r.output, false, fault);
        }
    }
    r.wire.after =
        (struct job_refs){0}; /* r.wire borrows the array: resolved_finish() must not free it */
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
