/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl make: a job file from a command line. */
#include <string.h>

#include "command.h"
#include "embedded.h"
#include "execute.h"
#include "make_check.h"
#include "make_job.h"
#include "output.h"
#include "place.h"
#include "relocate.h"
#include "report.h"
#include "sequence.h"
#include "service.h"

static const struct option options_table[] = {
    MAKE_JOB_OPTIONS,
    {"output", 'o', "JOB.json", "write the job there, not to standard output",
     .takes = &value_job_file},
    {"force", 'f', NULL, "replace existing files: JOB.json, and with --run OUT"},
    {"run", 0, NULL, "run the job at once, and do not print it"},
    OPTIONS_COMMON,
};

/* Where the job is to be written, or null: to standard output. */
static const char *target_of(const struct options *options)
{
    const char *path = options_get(options, "output");
    return path && strcmp(path, "-") != 0 ? path : NULL;
}

/* A line for each member, as people write it; with --json a line for the job. */
static int write_text(struct jsonw *w, bool json, const struct job *job, struct fault *fault)
{
    jsonw_init_lines(w, json ? 0 : 1);
    job_file_write(w, NULL, job);
    return jsonw_text(w) ? 0 : fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
}

/* Whole or not at all. */
static int save(const char *path, bool force, const struct jsonw *text, struct fault *fault)
{
    struct output output;
    int status = output_init(&output, path, NULL, fault);
    if (status == 0)
        status = output_check_fresh(&output, force, fault);
    if (status == 0)
        status = text->failed ? fault_set(fault, FAULT_INTERNAL, NULL, "out of memory")
                              : output_write(&output, text->data, text->length, 0, fault);
    if (status == 0)
        status = output_commit(&output, !force, fault);
    output_finish(&output);
    return status;
}

static void tell_saved(const struct print_style *style, const char *path, const struct job *job)
{
    print_line(style, "%s: %s %s %s %s", path, job->op == JOB_OP_PERMUTE ? "permute" : "mov",
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

/* A job cannot replace what it reads, nor be replaced by what it writes. */
static int check_target(const char *path, const struct job *job, struct fault *fault)
{
    const char *const files[] = {job->src.file, job->dst.file, job->expect.golden.file};
    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        if (files[i] && place_same_file(path, files[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "--output %s: that is a file of the job itself", path);
    }
    return 0;
}

static int save_relocated(const struct options *options, struct job *job, struct fault *fault)
{
    struct print_style style = options_style(options);
    const char *path = target_of(options);
    struct jsonw text;
    jsonw_init(&text);
    int status = check_target(path, job, fault);
    if (status == 0)
        status = relocate(job, path, fault);
    if (status == 0)
        status = write_text(&text, false, job, fault);
    jsonw_newline(&text);
    if (status == 0)
        status = save(path, options_get(options, "force") != NULL, &text, fault);
    jsonw_finish(&text);
    if (status == 0 && !options_get(options, "run"))
        tell_saved(&style, path, job);
    return status;
}

static enum exit_code run(const struct options *options, struct job_file *file)
{
    struct sequence sequence = {.style = options_style(options), .files = file, .file_count = 1};
    struct service_thread *service = NULL;
    struct client client = {0};
    struct execution execution = {.client = &client,
                                  .fresh = options_get(options, "force") == NULL};
    struct fault fault;
    enum exit_code code;
    if (embedded_start(options, sequence_channels(&sequence), &service, &client, &fault))
        code = print_failure(&sequence.style, NULL, &fault);
    else
        code = sequence_run(&sequence,
                            &(struct sequence_work){execution_run, report_outcome, &execution});
    client_finish(&client);
    service_thread_stop(service);
    return code;
}

/* Refuses to run a job whose OUT cannot be written, before JOB.json is. */
static int check_out(const struct options *options, const struct job *job, struct fault *fault)
{
    struct output output;
    bool replace = job->dst.update || options_get(options, "force");
    if (!options_get(options, "run"))
        return 0;
    int status = output_init(&output, job->dst.file, "/dst/file", fault);
    if (status == 0)
        status = output_check_fresh(&output, replace, fault);
    output_finish(&output);
    return status;
}

/* Reads the job's text back as any job file is read. */
static int read_back(struct job_file *file, const struct jsonw *text, struct fault *fault)
{
    const struct text borrowed = {.bytes = text->data, .length = text->length};
    if (job_file_load_text(file, "make", &borrowed, fault))
        return -1;
    file->is_file = false;
    return 0;
}

/* What is wrong with the job is told now, as far as its tensors are there. */
static enum exit_code finish(const struct options *options, struct job *job)
{
    struct print_style style = options_style(options);
    struct job_file file = {0};
    struct jsonw text;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;
    if (write_text(&text, style.json, job, &fault) || read_back(&file, &text, &fault) ||
        make_check(&file, &fault) || check_out(options, job, &fault) ||
        (target_of(options) && save_relocated(options, job, &fault)))
        code = print_failure(&style, NULL, &fault);
    else if (options_get(options, "run"))
        code = run(options, &file);
    else if (!target_of(options))
        print_json(&text);
    job_file_finish(&file);
    jsonw_finish(&text);
    return code;
}

static enum exit_code make(const struct options *options)
{
    struct job job;
    if (options->argument_count != 3)
        return command_misused(&cmd_make);
    if (options_get(options, "force") && !target_of(options) && !options_get(options, "run")) {
        print_error("--force requires --output or --run: without them make writes no file");
        return EXIT_CODE_INVALID;
    }
    enum exit_code code = make_job(options, &job) ? EXIT_CODE_INVALID : finish(options, &job);
    job_finish(&job);
    return code;
}

static const struct example examples[] = {
    {"a part of a tensor, turned",
     "mlictl make mov in.npy out.npy --slice '1:,::2,:' --perm 2,0,1"},
    {"the same, written to a file and run",
     "mlictl make mov in.npy out.npy --slice '1:,::2,:' --perm 2,0,1 -o part.json --run"},
    {"a border of zeros, and what has to come out",
     "mlictl make mov in.npy out.npy --pad 1,1,0 --expect golden.npy"},
    {0},
};

const struct command cmd_make = {
    .name = "make",
    .arguments = "mov|permute IN OUT",
    .summary = "write a job file from a line",
    .details = "In NumPy's words the result is np.pad(in, pad)[slice].transpose(perm): first the\n"
               "padding, then the slice of what is padded, then the permutation.\n",
    .options = options_table,
    .takes = &value_file,
    .first = &(const struct value){VALUE_WORD, (const char *const[]){"mov", "permute", NULL}},
    .examples = examples,
    .run = make,
};
