/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/proof_inputs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_archived(const struct tensor_spec *spec)
{
    return !spec->buffer && file_format_is_archive(tensor_spec_format(spec));
}

/* Adds a file whose content is from before the first job. `npy`: a job reads it as a .npy file. */
static int add_file(struct proof_inputs *b, const char *name, bool npy, struct fault *fault)
{
    char *path = job_file_path(b->p->file, name);
    struct coded_input *input = &b->list[b->count];
    int status;

    if (!path)
        return fault_no_memory(fault);
    b->count++;
    status =
        coded_input_init(input, path, npy ? FILE_FORMAT_NPY : FILE_FORMAT_RAW, b->bytes, fault);
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
    struct coded_input *input = &b->list[b->count];
    char *path;
    int status;

    if (find_tensor(b, &step->job->src))
        return 0;
    added->file = step->job->src.file;
    added->tensor = step->job->src.tensor;
    snprintf(added->name, sizeof(added->name), ".mlictl-proof-%zu.npy", b->tensor_count++);
    path = job_file_path(b->p->file, added->name);
    if (!path)
        return fault_no_memory(fault);
    b->count++;
    status = coded_input_init_npy(input, path, &step->header, b->bytes, fault);
    b->bytes += input->size - input->header;
    free(path);
    return status;
}

int proof_inputs_replace(const struct proof_inputs *b, struct job_spec *job, struct fault *fault)
{
    const struct proof_tensor *found;

    if (!is_archived(&job->src) || job->expect.kind == EXPECT_ERROR)
        return 0;
    found = find_tensor(b, &job->src);
    if (!found)
        return fault_set(fault, FAULT_INTERNAL, NULL, "%.128s: unknown in the proof",
                         job->src.file);
    free(job->src.file);
    free(job->src.tensor);
    job->src.tensor = NULL;
    job->src.format = FILE_FORMAT_NPY;
    job->src.file = strdup(found->name);
    return job->src.file ? 0 : fault_no_memory(fault);
}

/* What is known of a store while the steps are visited. */
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

/* Adds the files that a step reads or updates before another step creates them. */
static int add_step(struct proof_inputs *b, const struct program_step *step, uint8_t *known,
                    struct fault *fault)
{
    const struct job_spec *job = step->job;
    int status = 0;

    if (is_archived(&job->src))
        status = add_tensor(b, step, fault);
    else if (!job->src.buffer && !(known[step->src] & STORE_KNOWN))
        status = add_file(b, job->src.file, known[step->src] & STORE_NPY, fault);
    if (!is_archived(&job->src))
        known[step->src] |= STORE_KNOWN;
    if (status == 0 && job->dst.update && !(known[step->dst] & STORE_KNOWN))
        status = add_file(b, job->dst.file, known[step->dst] & STORE_NPY, fault);
    known[step->dst] |= STORE_KNOWN;
    return status;
}

int proof_inputs_find(struct proof_inputs *b, const struct program *p, struct fault *fault)
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

int proof_inputs_fill(const struct proof_inputs *b, unsigned pass, struct fault *fault)
{
    for (size_t i = 0; i < b->count; i++) {
        if (coded_input_fill(&b->list[i], pass, fault))
            return -1;
    }
    return 0;
}

int proof_inputs_lend(const struct proof_inputs *b, struct produced *produced, struct fault *fault)
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

void proof_inputs_finish(struct proof_inputs *b)
{
    for (size_t i = 0; i < b->count; i++)
        coded_input_finish(&b->list[i]);
    free(b->list);
    free(b->tensors);
    *b = (struct proof_inputs){0};
}
