/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/make/make_request.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/explain/c_code.h"
#include "cli/file/output.h"
#include "cli/file/place.h"
#include "cli/job/execute.h"
#include "cli/job/explained.h"
#include "cli/job/job_report.h"
#include "cli/job/resolve.h"
#include "cli/job/sequence.h"
#include "cli/link/daemon_link.h"
#include "cli/link/embedded.h"
#include "cli/make/make_job.h"
#include "cli/make/relocate.h"
#include "daemon/service.h"
#include "proto/file/slice.h"

static bool is_missing(const char *path)
{
    return path && access(path, F_OK) != 0 && errno == ENOENT;
}

/* Without a source, checks that all lists of the job have equal lengths. */
static int check_lists(const struct job_spec *job, struct fault *fault)
{
    const struct {
        const char *pointer, *name;
        uint32_t count;
    } lists[] = {
        {"/src/shape", "src.shape", job->src.desc.rank},
        {"/cfg/padding_pre", "cfg.padding_pre", job->common.lengths.padding_pre},
        {"/cfg/perm_dim", "cfg.perm_dim", job->common.lengths.perm_dim},
        {"/cfg/dst_offset", "cfg.dst_offset", job->common.lengths.dst_offset},
    };
    size_t first = 0, count = sizeof(lists) / sizeof(lists[0]);
    while (first < count && lists[first].count == 0)
        first++;
    if (first == count)
        return 0;
    for (size_t i = first + 1; i < count; i++) {
        if (lists[i].count > 0 && lists[i].count != lists[first].count)
            return fault_set(fault, FAULT_INVALID_PARAMS, lists[i].pointer,
                             "%s: %" PRIu32 " entries given, but %s has %" PRIu32, lists[i].name,
                             lists[i].count, lists[first].name, lists[first].count);
    }
    struct slice slice;
    struct fault why;
    if (job->slice && slice_parse(job->slice, &slice, &why) == 0 &&
        slice.count > lists[first].count)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/slice",
                         "slice: %" PRIu32 " entries given, but %s has %" PRIu32, slice.count,
                         lists[first].name, lists[first].count);
    return 0;
}

/* Returns the first job of `file` without the files that it may find missing: its golden file, and
 * the file that it updates. Borrows. */
static struct job_spec existing(const struct job_file *file)
{
    struct job_spec job = file->list.jobs[0];

    if (is_missing(job.expect.golden.file))
        job.expect = (struct expectation){0};
    if (job.dst.update && is_missing(job.dst.file))
        job.dst.update = false;
    return job;
}

static int check_golden(const struct resolved *r, struct fault *fault)
{
    char text[COMPARE_TEXT_MAX];
    struct outcome outcome = {.verdict = VERDICT_NONE};

    outcome_judge_plan(r, &outcome);
    if (outcome.verdict == VERDICT_NONE)
        return 0;
    difference_text(&outcome.difference, "the result", r->job->expect.golden.file, text);
    return fault_set(fault, FAULT_INVALID_PARAMS, "/expect", "expect: %s", text);
}

/*
 * Checks the first job of `file` against the tensors that exist. If the source is missing, checks
 * the lengths of the job's lists against one another. Returns 0 or -1.
 */
static int check_job(const struct job_file *file, struct fault *fault)
{
    static const struct produced nothing = {0};
    const struct job_spec job = existing(file);
    struct resolved r;

    if (is_missing(job.src.file))
        return check_lists(&job, fault);
    int status = resolved_plan(&r, file, &job, &nothing, fault);
    if (status == 0)
        status = check_golden(&r, fault);
    resolved_finish(&r);
    return status;
}

/* Returns the path of the job file, or null for standard output. */
static const char *target_of(const struct make_request *request)
{
    const char *path = options_get(request->options, "output");

    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* Writes the job with a line for each member; with --json the whole job in one line. */
static int write_text(struct jsonw *w, bool json, const struct job_spec *job, struct fault *fault)
{
    jsonw_init_lines(w, json ? 0 : 1);
    job_file_write(w, NULL, job);
    return jsonw_text(w) ? 0 : fault_no_memory(fault);
}

/* Writes the job file atomically. */
static int save(const char *path, bool force, const struct jsonw *text, struct fault *fault)
{
    struct output output;
    int status = output_init(&output, path, NULL, fault);

    if (status == 0)
        status = output_check_fresh(&output, force, fault);
    if (status == 0)
        status = text->failed ? fault_no_memory(fault)
                              : output_write(&output, text->data, text->length, 0, fault);
    if (status == 0)
        status = output_commit_synced(&output, !force, fault);
    output_finish(&output);
    return status;
}

static void report_saved(const struct print_style *style, const char *path,
                         const struct job_spec *job)
{
    print_line(style, "%s: %s %s %s %s", path, job->common.op == JOB_OP_PERMUTE ? "permute" : "mov",
               job->src.file, job->dst.update ? "into" : "->", job->dst.file);
    if (!style->json)
        return;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_string(&w, "file", path);
    job_file_write(&w, "job", job);
    jsonw_object_end(&w);
    print_json(&w);
}

/* Refuses to write the job file over a file that the job reads or writes. */
static int check_target(const char *path, const struct job_spec *job, struct fault *fault)
{
    const char *const files[] = {job->src.file, job->dst.file, job->expect.golden.file};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] && place_same_file(path, files[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--output %s: the job reads or writes this file; give another", path);
    }
    return 0;
}

static int save_relocated(const struct make_request *request, struct job_spec *job,
                          struct fault *fault)
{
    struct print_style style = options_style(request->options);
    const char *path = target_of(request);
    struct jsonw text;

    jsonw_init(&text);
    int status = check_target(path, job, fault);
    if (status == 0)
        status = relocate(job, path, fault);
    if (status == 0)
        status = write_text(&text, false, job, fault);
    jsonw_newline(&text);
    if (status == 0)
        status = save(path, options_get(request->options, "force") != NULL, &text, fault);
    jsonw_finish(&text);
    if (status == 0 && !request->run && !request->c)
        report_saved(&style, path, job);
    return status;
}

static bool names_daemon(const struct options *options)
{
    return options_get(options, "socket") || options_get(options, "host");
}

/* Connects to the daemon that the options name, else to a service inside this process. */
static int connect(const struct options *options, uint32_t channels,
                   struct service_thread **service, struct daemon_link *link, struct fault *fault)
{
    return names_daemon(options) ? daemon_link_open_any(link, options, fault)
                                 : embedded_start(options, channels, service, link, fault);
}

static enum exit_code run(const struct options *options, struct job_file *file)
{
    struct sequence sequence = {.style = options_style(options), .files = file, .file_count = 1};
    struct service_thread *service = NULL;
    struct daemon_link link = {0};
    struct job_progress progress;
    struct execution execution = {
        .link = &link, .progress = &progress, .fresh = options_get(options, "force") == NULL};
    struct fault fault;
    enum exit_code code;

    if (connect(options, sequence_channels(&sequence), &service, &link, &fault)) {
        code = print_failure(&sequence.style, NULL, &fault);
    } else {
        job_progress_follow(&progress, &link, &sequence.style);
        code = sequence_run(&sequence,
                            &(struct sequence_work){execution_run, job_report_outcome, &execution});
    }
    daemon_link_finish(&link);
    service_thread_stop(service);
    return code;
}

/* Checks before JOB.json is written that a job to run can write OUT. */
static int check_out(const struct make_request *request, const struct job_spec *job,
                     struct fault *fault)
{
    struct output output;
    bool replace = job->dst.update || options_get(request->options, "force");

    if (!request->run)
        return 0;
    int status = output_init(&output, job->dst.file, "/dst/file", fault);
    if (status == 0)
        status = output_check_fresh(&output, replace, fault);
    output_finish(&output);
    return status;
}

/* Reads the job's text back as any job file is read. */
static int read_back(struct job_file *file, const struct make_request *request,
                     const struct jsonw *text, struct fault *fault)
{
    const struct text borrowed = {.bytes = text->data, .length = text->length};

    if (job_file_load_text(file, "make", &borrowed, fault))
        return -1;
    file->path = request->label;
    file->is_file = false;
    return 0;
}

/* Prints the job as a C function. */
static int print_c(const struct make_request *request, const struct job_file *file,
                   struct fault *fault)
{
    static const struct produced nothing = {0};
    const struct job_spec job = existing(file);
    struct explained explained;
    struct resolved r;
    struct textw w;
    int status;

    if (is_missing(job.src.file))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--c: %s does not exist; the C function has its shape", request->in);
    status = resolved_plan(&r, file, &job, &nothing, fault);
    if (status == 0)
        status = explained_init(&explained, file, &r, job.common.channels, fault);
    if (status == 0) {
        textw_init(&w);
        c_function_begin(&w, "make");
        c_function(&w, &explained, &r, 0);
        print_text(&w);
        textw_finish(&w);
    }
    resolved_finish(&r);
    return status;
}

static enum exit_code finish(const struct make_request *request, struct job_spec *job)
{
    struct print_style style = options_style(request->options);
    struct job_file file = {0};
    struct jsonw text;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (write_text(&text, style.json, job, &fault) || read_back(&file, request, &text, &fault) ||
        check_job(&file, &fault) || check_out(request, job, &fault) ||
        (target_of(request) && save_relocated(request, job, &fault)) ||
        (request->c && print_c(request, &file, &fault)))
        code = print_failure(&style, NULL, &fault);
    else if (request->run)
        code = run(request->options, &file);
    else if (!target_of(request) && !request->c)
        print_json(&text);
    job_file_finish(&file);
    jsonw_finish(&text);
    return code;
}

/* Refuses options of the service inside this process if a daemon is named. */
static int check_options(const struct make_request *request)
{
    static const char *const embedded[] = {"engine", "limit-bytes", "tuning"};
    const struct options *options = request->options;

    if (request->run && options_get(options, "output") && !target_of(request)) {
        print_error("--output - cannot be combined with running the job: name a file, or use make "
                    "without --run");
        return -1;
    }
    if (!request->run && options_get(options, "limit-bytes")) {
        print_error("--limit-bytes requires --run");
        return -1;
    }
    for (size_t i = 0; names_daemon(options) && i < sizeof(embedded) / sizeof(embedded[0]); i++) {
        if (options_get(options, embedded[i])) {
            print_error("--%s cannot be combined with --socket or --host: a daemon has its own",
                        embedded[i]);
            return -1;
        }
    }
    return 0;
}

enum exit_code make_request_carry_out(const struct make_request *request)
{
    struct job_spec job;

    if (check_options(request))
        return EXIT_CODE_INVALID;
    enum exit_code code = make_job(request, &job) ? EXIT_CODE_INVALID : finish(request, &job);
    job_spec_finish(&job);
    return code;
}
