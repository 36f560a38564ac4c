/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/link/embedded.h"
#include "cli/optimise/optimise.h"
#include "cli/run/execute.h"
#include "cli/term/cancel.h"
#include "daemon/service.h"

/* A tensor of an archive or a model. In the proof, a .npy file replaces it. */
struct proof_tensor {
    const char *file, *tensor; /* names in jobs; borrowed; tensor: null for the only tensor */
    char name[32];             /* name of the .npy file, which is beside the job file */
};

struct proof_inputs {
    const struct program *p;
    struct coded_input *list;
    size_t count;
    uint64_t bytes; /* total bytes of all inputs */
    struct proof_tensor *tensors;
    size_t tensor_count;
};

static bool is_archived(const struct tensor_spec *spec)
{
    return !spec->buffer && file_format_is_archive(tensor_spec_format(spec));
}

/*
 * Adds a file that exists before the first job, and that jobs use. `npy`: a job reads it as a .npy
 * file; with this header, if it is not null.
 */
static int add_file(struct proof_inputs *b, const char *name, bool npy,
                    const struct npy_header *header, struct fault *fault)
{
    char *path = job_file_path(b->p->file, name);
    struct coded_input *input = &b->list[b->count];
    int status;

    if (!path)
        return fault_no_memory(fault);
    b->count++;
    status = header ? coded_input_init_npy(input, path, header, b->bytes, fault)
                    : coded_input_init(input, path, npy ? FILE_FORMAT_NPY : FILE_FORMAT_RAW,
                                       b->bytes, fault);
    b->bytes += input->size - input->header;
    free(path);
    return status;
}

static const struct proof_tensor *find_tensor(const struct proof_inputs *b,
                                              const struct tensor_spec *spec)
{
    for (size_t i = 0; i < b->tensor_count; i++) {
        const struct proof_tensor *known = &b->tensors[i];

        if (known->file && strcmp(known->file, spec->file) == 0 &&
            !known->tensor == !spec->tensor &&
            (!spec->tensor || strcmp(known->tensor, spec->tensor) == 0))
            return known;
    }
    return NULL;
}

/* Adds the tensor of an archive that a step reads. */
static int add_tensor(struct proof_inputs *b, const struct program_step *step, struct fault *fault)
{
    struct proof_tensor *added = &b->tensors[b->tensor_count];

    if (find_tensor(b, &step->job->src))
        return 0;
    added->file = step->job->src.file;
    added->tensor = step->job->src.tensor;
    snprintf(added->name, sizeof(added->name), ".mlictl-proof-%zu.npy", b->tensor_count++);
    return add_file(b, added->name, true, &step->header, fault);
}

/* Makes a job read the replacement of its source, if its source is in an archive. Returns 0 or -1.
 */
static int proof_inputs_replace(const struct proof_inputs *b, struct job_spec *job,
                                struct fault *fault)
{
    const struct proof_tensor *found;

    if (!is_archived(&job->src) || job->expect.kind == EXPECT_ERROR)
        return 0;
    found = find_tensor(b, &job->src);
    if (!found)
        return fault_set(fault, FAULT_INTERNAL, NULL, "the proof does not know %.128s",
                         job->src.file);
    free(job->src.file);
    free(job->src.tensor);
    job->src.tensor = NULL;
    job->src.format = FILE_FORMAT_NPY;
    job->src.file = strdup(found->name);
    return job->src.file ? 0 : fault_no_memory(fault);
}

/* What is known about a store while the steps are visited. */
enum { STORE_KNOWN = 1, STORE_NPY = 2 };

/* Marks the files that a step reads or updates as .npy files. */
static void mark_npy(const struct program *p, uint8_t *known)
{
    for (size_t i = 0; i < p->count; i++) {
        const struct program_step *step = &p->steps[i];
        const struct job_spec *job = step->job;

        if (step->src == NONE)
            continue;
        if (!job->src.buffer && tensor_spec_format(&job->src) == FILE_FORMAT_NPY)
            known[step->src] |= STORE_NPY;
        if (job->dst.update && tensor_spec_format(&job->dst) == FILE_FORMAT_NPY)
            known[step->dst] |= STORE_NPY;
    }
}

/* Adds the files that a step reads or updates, unless an earlier step creates them. */
static int add_step(struct proof_inputs *b, const struct program_step *step, uint8_t *known,
                    struct fault *fault)
{
    const struct job_spec *job = step->job;
    int status = 0;

    if (is_archived(&job->src))
        status = add_tensor(b, step, fault);
    else if (!job->src.buffer && !(known[step->src] & STORE_KNOWN))
        status = add_file(b, job->src.file, known[step->src] & STORE_NPY, NULL, fault);
    if (!is_archived(&job->src))
        known[step->src] |= STORE_KNOWN;
    if (status == 0 && job->dst.update && !(known[step->dst] & STORE_KNOWN))
        status = add_file(b, job->dst.file, known[step->dst] & STORE_NPY, NULL, fault);
    known[step->dst] |= STORE_KNOWN;
    return status;
}

/*
 * Makes copies of the files that a step reads or updates and no earlier step creates. Returns 0,
 * or -1 with the fault; proof_inputs_finish() may be called in both cases.
 */
static int proof_inputs_find(struct proof_inputs *b, const struct program *p, struct fault *fault)
{
    uint8_t *known = calloc(p->store_count + 1, sizeof(*known));
    int status = 0;

    *b = (struct proof_inputs){.p = p};
    b->list = calloc(2 * p->count, sizeof(*b->list));
    b->tensors = calloc(p->count, sizeof(*b->tensors));
    if (!known || !b->list || !b->tensors)
        status = fault_no_memory(fault);
    if (status == 0)
        mark_npy(p, known);
    for (size_t i = 0; i < p->count && status == 0; i++) {
        if (p->steps[i].src != NONE)
            status = add_step(b, &p->steps[i], known, fault);
    }
    free(known);
    return status;
}

/* Writes the data of pass `pass`. Returns 0, or -1 with the fault. */
static int proof_inputs_fill(const struct proof_inputs *b, unsigned pass, struct fault *fault)
{
    for (size_t i = 0; i < b->count; i++) {
        if (coded_input_fill(&b->list[i], pass, fault))
            return -1;
    }
    return 0;
}

/* Begins *produced with the inputs as files that exist. Returns 0, or -1 with the fault. */
static int proof_inputs_lend(const struct proof_inputs *b, struct produced *produced,
                             struct fault *fault)
{
    *produced = (struct produced){.memory = true, .without_golden = true};
    for (size_t i = 0; i < b->count; i++) {
        const struct coded_input *input = &b->list[i];
        const struct tensor_file file = {.format = input->format,
                                         .stat.st_size = (off_t)input->size};
        const int fd = fcntl(input->fd, F_DUPFD_CLOEXEC, 0);
        const int error = fd < 0 ? -errno : produced_add(produced, input->path, &file, fd);

        if (error)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "%.128s: %s", input->path,
                             strerror(-error));
    }
    return 0;
}

static void proof_inputs_finish(struct proof_inputs *b)
{
    for (size_t i = 0; i < b->count; i++)
        coded_input_finish(&b->list[i]);
    free(b->list);
    free(b->tensors);
    *b = (struct proof_inputs){0};
}

enum { BLOCK = 1 << 16 };

/* One of the two job files, and the files and buffers that its jobs wrote. */
struct side {
    struct job_file file;
    struct produced produced;
    int *buffers; /* descriptor of each buffer of the program, or -1 */
};

struct bench {
    const struct program *p;
    struct proof *proof;
    struct proof_inputs inputs;
    struct service_thread *service;
    struct daemon_link link;
    struct side old, new;
};

/* Job files */

/* Removes members of a job that do not change the bytes that it writes. */
static void simplify(struct job_spec *job)
{
    if (job->expect.kind != EXPECT_ERROR) {
        expectation_finish(&job->expect);
        job->expect = (struct expectation){0};
    }
    job->stage[0] = job->src.memory[0] = job->dst.memory[0] = '\0';
    job->common.timeout_ms = 0;
}

static int load(struct side *side, const struct program *p, const struct jsonw *w,
                struct fault *fault)
{
    if (program_reload(&side->file, p, w, fault))
        return -1;
    side->buffers = malloc((p->file->list.buffer_count + 1) * sizeof(*side->buffers));
    if (!side->buffers)
        return fault_no_memory(fault);
    for (size_t i = 0; i < p->file->list.buffer_count; i++)
        side->buffers[i] = -1;
    for (size_t i = 0; i < side->file.list.count; i++)
        simplify(&side->file.list.jobs[i]);
    for (size_t i = 0; i < side->file.list.buffer_count; i++) {
        side->file.list.buffers[i].memory[0] = '\0';
        side->file.list.buffers[i].has_address = false;
    }
    return 0;
}

/* Writes the text of the program's jobs without changes. */
static int load_old(struct bench *b, struct fault *fault)
{
    const struct job_list *list = &b->p->file->list;
    struct jsonw w;
    int status;

    jsonw_init_object(&w);
    buffer_specs_write(&w, list->buffers, list->buffer_count);
    jsonw_array_begin(&w, "jobs");
    for (size_t i = 0; i < list->count; i++)
        job_file_write(&w, NULL, &list->jobs[i]);
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    status = jsonw_text(&w) ? load(&b->old, b->p, &w, fault) : fault_no_memory(fault);
    jsonw_finish(&w);
    return status;
}

static void forget_results(struct side *side, size_t buffers)
{
    produced_finish(&side->produced);
    for (size_t i = 0; side->buffers && i < buffers; i++) {
        if (side->buffers[i] >= 0)
            close(side->buffers[i]);
        side->buffers[i] = -1;
    }
}

static void side_finish(struct side *side, size_t buffers)
{
    forget_results(side, buffers);
    free(side->buffers);
    job_file_finish(&side->file);
}

/* Refuses data that exceed the limit: the inputs, and outputs and buffers of both job files. */
static int check_size(const struct bench *b, uint64_t limit, const struct options *options,
                      struct fault *fault)
{
    const struct program *p = b->p;
    uint64_t bytes = b->inputs.bytes;

    for (size_t i = 0; i < p->store_count; i++) {
        const struct store *store = &p->stores[i];
        uint64_t end = store->is_buffer ? p->file->list.buffers[i].bytes : 0;

        for (size_t k = 0; k < store->write_count && !store->is_buffer; k++) {
            const uint64_t written = byte_set_end(&store->writes[k].bytes);

            end = written > end ? written : end;
        }
        if (end > (UINT64_MAX - bytes) / 2)
            end = (UINT64_MAX - bytes) / 2;
        bytes += 2 * end;
    }
    if (bytes <= limit)
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "the proof needs %" PRIu64 " B for the data of both job files; %" PRIu64
                     " B are allowed (%s)",
                     bytes, limit, embedded_limit_source(options));
}

/* Runs */

static int run_jobs(struct execution *execution, const struct side *side, struct fault *fault)
{
    const struct job_file *file = &side->file;
    int status = 0;

    for (size_t i = 0; i < file->list.count && status == 0; i++) {
        struct outcome outcome = {0};

        execution_run(execution, file, &file->list.jobs[file->list.order[i]], &outcome);
        if (outcome.exit != EXIT_CODE_DONE) {
            *fault = outcome.fault;
            status = -1;
        }
        outcome_finish(&outcome);
        if (cancel_requested())
            status = cancel_fault(fault);
    }
    return status;
}

/* Opens the buffers of the job file, to compare their contents later. */
static int keep_buffers(const struct bench *b, struct side *side, const struct job_buffers *buffers,
                        struct fault *fault)
{
    const struct job_list *own = &side->file.list, *list = &b->p->file->list;
    size_t at = 0;

    for (size_t i = 0; i < list->buffer_count && at < own->buffer_count; i++) {
        if (strcmp(own->buffers[at].name, list->buffers[i].name) != 0)
            continue;
        side->buffers[i] = job_buffers_open(buffers, at++);
        if (side->buffers[i] < 0)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "buffer %s: %s", list->buffers[i].name,
                             strerror(errno));
    }
    return 0;
}

static int run_side(struct bench *b, struct side *side, struct fault *fault)
{
    struct execution execution = {
        .link = &b->link, .produced = &side->produced, .buffers = {.keep_fds = true}};

    if (proof_inputs_lend(&b->inputs, &side->produced, fault))
        return -1;
    const bool failed = execution_begin(&execution, &side->file, fault) ||
                        run_jobs(&execution, side, fault) ||
                        keep_buffers(b, side, &execution.buffers, fault);
    execution_end(&execution);
    return failed ? -1 : 0;
}

/* Comparison */

static void differ(struct proof *proof, const char *kind, const char *name, uint64_t at)
{
    if (proof->equal) {
        snprintf(proof->different, sizeof(proof->different), "%s%.128s", kind, name);
        proof->different_at = at;
    }
    proof->equal = false;
}

/* Compares all bytes of two files. */
static int compare(struct proof *proof, const char *kind, const char *name, int old, int new,
                   struct fault *fault)
{
    uint8_t a[BLOCK], b[BLOCK];
    uint64_t at = 0;

    proof->outputs++;
    for (;;) {
        const ssize_t got = read_bytes(old, a, BLOCK, (off_t)at);
        const ssize_t other = read_bytes(new, b, BLOCK, (off_t)at);

        if (got < 0 || other < 0)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "%s%.128s: %s", kind, name,
                             strerror(errno));
        for (ssize_t i = 0; i < got && i < other; i++) {
            if (a[i] != b[i]) {
                differ(proof, kind, name, at + (uint64_t)i);
                return 0;
            }
        }
        if (got != other)
            differ(proof, kind, name, at + (uint64_t)(got < other ? got : other));
        if (got != other || got == 0)
            break;
        at += (uint64_t)got;
    }
    proof->bytes += at;
    return 0;
}

/* Compares an output file of a job. */
static int compare_file(struct bench *b, const char *name, struct fault *fault)
{
    char *path = job_file_path(b->p->file, name);
    const struct tensor_file *old = NULL, *new = NULL;
    int status = path ? 0 : fault_no_memory(fault);

    if (status == 0 && (produced_find(&b->old.produced, path, &old) ||
                        produced_find(&b->new.produced, path, &new)))
        status = fault_set(fault, FAULT_IO_ERROR, NULL, "%.128s: %s", name, strerror(errno));
    if (status == 0 && old && new)
        status = compare(b->proof, "", name, old->fd, new->fd, fault);
    else if (status == 0 && (old || new))
        differ(b->proof, "", name, 0);
    free(path);
    return status;
}

/* Compares each output once, after its last writer. */
static int compare_outputs(struct bench *b, struct fault *fault)
{
    const struct program *p = b->p;

    b->proof->outputs = 0;
    b->proof->bytes = 0;
    for (size_t i = 0; i < p->store_count; i++) {
        const struct store *store = &p->stores[i];

        if (store->intermediate || store->write_count == 0)
            continue;
        if (!store->is_buffer) {
            const size_t last = store->writes[store->write_count - 1].step;

            if (compare_file(b, p->steps[last].job->dst.file, fault))
                return -1;
            continue;
        }
        const char *name = p->file->list.buffers[i].name;
        if (b->old.buffers[i] < 0 || b->new.buffers[i] < 0)
            differ(b->proof, "buffer ", name, 0);
        else if (compare(b->proof, "buffer ", name, b->old.buffers[i], b->new.buffers[i], fault))
            return -1;
    }
    for (size_t i = 0; i < p->count; i++) {
        if (p->steps[i].job->dst.params && compare_file(b, p->steps[i].job->dst.params, fault))
            return -1;
    }
    return 0;
}

static int run_pass(struct bench *b, unsigned pass, struct fault *fault)
{
    const size_t buffers = b->p->file->list.buffer_count;
    int status = proof_inputs_fill(&b->inputs, pass, fault);

    if (status == 0)
        status = run_side(b, &b->old, fault);
    if (status == 0 && run_side(b, &b->new, fault)) {
        const struct fault bare = *fault;

        /* The jobs of the old file succeeded, so the new file is wrong: an internal error. */
        status = bare.code == FAULT_CANCELLED ? -1
                                              : fault_set(fault, FAULT_INTERNAL, NULL,
                                                          "the new job file fails: %s", bare.text);
    }
    if (status == 0)
        status = compare_outputs(b, fault);
    forget_results(&b->old, buffers);
    forget_results(&b->new, buffers);
    return status;
}

static int replace(const struct bench *b, struct side *side, struct fault *fault)
{
    for (size_t i = 0; i < side->file.list.count; i++) {
        if (proof_inputs_replace(&b->inputs, &side->file.list.jobs[i], fault))
            return -1;
    }
    return 0;
}

static int prove(struct bench *b, const struct options *options, struct fault *fault)
{
    uint64_t limit;

    if (proof_inputs_find(&b->inputs, b->p, fault) || replace(b, &b->old, fault) ||
        replace(b, &b->new, fault) || embedded_job_bytes(options, &limit, fault) ||
        check_size(b, limit, options, fault))
        return -1;
    descriptor_limit_raise();
    if (embedded_start(options, 0, &b->service, &b->link, fault))
        return -1;
    b->proof->equal = true;
    b->proof->passes = coded_passes(b->inputs.bytes);
    for (unsigned pass = 0; pass < b->proof->passes && b->proof->equal; pass++) {
        if (run_pass(b, pass, fault))
            return -1;
    }
    return 0;
}

int proof_run(struct proof *proof, const struct program *p, const struct jsonw *text,
              const struct options *options, struct fault *fault)
{
    const size_t buffers = p->file->list.buffer_count;
    struct bench b = {.p = p, .proof = proof};

    *proof = (struct proof){0};
    const bool failed =
        load_old(&b, fault) || load(&b.new, p, text, fault) || prove(&b, options, fault);
    side_finish(&b.old, buffers);
    side_finish(&b.new, buffers);
    proof_inputs_finish(&b.inputs);
    daemon_link_finish(&b.link);
    service_thread_stop(b.service);
    return failed ? -1 : 0;
}
