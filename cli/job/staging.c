/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/staging.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "target/profile/profile_rules.h"

static char load_buffer[] = "stage.in", store_buffer[] = "stage.out";

/* Gives a step the members of the job that apply to every step, and a neutral cfg. */
static void begin_step(struct staging *stage, int step, const struct job_spec *job)
{
    static const char *const words[STAGING_STEPS] = {"load", "permute", "store"};
    struct job_common *common = &stage->jobs[step].common;

    job_spec_init(&stage->jobs[step]);
    common->op = JOB_OP_MOV;
    common->channels = job->common.channels;
    common->priority = job->common.priority;
    common->timeout_ms = job->common.timeout_ms;
    common->name = stage->names[step];
    snprintf(stage->names[step], sizeof(stage->names[step]), "%.*s.%s",
             (int)sizeof(stage->names[step]) - 16, job->common.name ? job->common.name : "job",
             words[step]);
    memcpy(stage->jobs[step].pointer, job->pointer, sizeof(job->pointer));
}

/* Distributes the members of cfg among the three steps. */
static void split_cfg(struct staging *stage, const struct job_spec *job)
{
    const mli_mov_cfg_t *cfg = &job->common.cfg;
    const struct cfg_lengths *lengths = &job->common.lengths;
    struct job_common *load = &stage->jobs[STAGING_LOAD].common;
    struct job_common *permute = &stage->jobs[STAGING_PERMUTE].common;
    struct job_common *store = &stage->jobs[STAGING_STORE].common;

    load->cfg = *cfg;
    load->lengths = *lengths;
    for (uint32_t d = 0; d < MLI_MAX_RANK; d++) {
        load->cfg.perm_dim[d] = (uint8_t)d;
        load->cfg.dst_offset[d] = 0;
        load->cfg.dst_mem_stride[d] = 0;
    }
    load->lengths.perm_dim = load->lengths.dst_offset = load->lengths.dst_mem_stride = 0;
    memcpy(permute->cfg.perm_dim, cfg->perm_dim, sizeof(cfg->perm_dim));
    permute->lengths.perm_dim = lengths->perm_dim;
    permute->op = job->common.op;
    memcpy(store->cfg.dst_offset, cfg->dst_offset, sizeof(cfg->dst_offset));
    memcpy(store->cfg.dst_mem_stride, cfg->dst_mem_stride, sizeof(cfg->dst_mem_stride));
    store->lengths.dst_offset = lengths->dst_offset;
    store->lengths.dst_mem_stride = lengths->dst_mem_stride;
}

/* Describes the packed tensor in a buffer as the source of a step. */
static void describe_src(struct tensor_spec *src, char *buffer, size_t index,
                         const struct tensor_desc *type, const mli_tensor *tensor)
{
    *src = (struct tensor_spec){.buffer = buffer, .buffer_index = index};
    src->desc.has_type = true;
    src->desc.type = type->type;
    src->desc.rank = tensor->rank;
    memcpy(src->desc.shape, tensor->shape, sizeof(tensor->shape));
}

/* Finds the shapes of *loaded and *permuted, which the first and the second step write. The two
 * have the same number of bytes. */
static int find_tensors(const struct staging *stage, const struct resolved *whole,
                        mli_tensor *loaded, mli_tensor *permuted, struct fault *fault)
{
    const mli_mov_cfg_t *wire = &whole->wire.common.cfg;
    mli_mov_cfg_t cfg = stage->jobs[STAGING_LOAD].common.cfg;
    mli_tensor src = {0};
    mli_status status;

    /* The cfg on the wire has the window that "slice" selects. */
    memcpy(cfg.offset, wire->offset, sizeof(cfg.offset));
    memcpy(cfg.size, wire->size, sizeof(cfg.size));
    memcpy(cfg.sub_sample_step, wire->sub_sample_step, sizeof(cfg.sub_sample_step));
    tensor_desc_to_mli(&whole->wire.src.desc, &src);
    status = mli_mov_layout(&src, &cfg, loaded);
    if (status != MLI_STATUS_OK)
        return fault_set_refused(fault, status, mli_last_error());
    *permuted = *loaded;
    for (uint32_t d = 0; d < loaded->rank; d++)
        permuted->shape[d] = loaded->shape[wire->perm_dim[d]];
    return 0;
}

/* Appends the two buffers to the buffers of the job file. */
static int add_buffers(struct staging *stage, const struct job_file *file, const char *memory,
                       uint64_t bytes, struct fault *fault)
{
    const struct job_list *list = &file->list;
    struct buffer_spec *buffers = calloc(list->buffer_count + 2, sizeof(*buffers));

    if (!buffers)
        return fault_no_memory(fault);
    if (list->buffer_count > 0)
        memcpy(buffers, list->buffers, list->buffer_count * sizeof(*buffers));
    for (size_t i = 0; i < 2; i++) {
        struct buffer_spec *buffer = &buffers[list->buffer_count + i];

        buffer->name = i ? store_buffer : load_buffer;
        buffer->bytes = bytes;
        snprintf(buffer->memory, sizeof(buffer->memory), "%s", memory);
    }
    stage->file.list.buffers = buffers;
    stage->file.list.buffer_count = list->buffer_count + 2;
    return 0;
}

int staging_init(struct staging *stage, const struct job_file *file, const struct resolved *whole,
                 struct fault *fault)
{
    const struct job_spec *job = whole->job;
    const struct tensor_desc *desc = &whole->wire.src.desc;
    const size_t first = file->list.buffer_count, second = first + 1;
    struct job_spec *jobs = stage->jobs;
    mli_tensor loaded = {0}, permuted = {0};

    *stage = (struct staging){.file = *file};
    if (npy_folds(&whole->src.header))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/stage",
                         "stage: a tensor of %" PRIu32 " dimensions with elements of %" PRIu32
                         " bytes is given; at most 4 dimensions and 4 bytes can be staged",
                         whole->src.header.rank, whole->src.header.item_size);
    stage->file.output = stage->file.input = NULL;
    stage->file.list = (struct job_list){.jobs = jobs, .count = STAGING_STEPS};
    for (int step = 0; step < STAGING_STEPS; step++)
        begin_step(stage, step, job);
    split_cfg(stage, job);
    if (find_tensors(stage, whole, &loaded, &permuted, fault) ||
        add_buffers(stage, file, job->stage, loaded.data.capacity, fault))
        return -1;
    jobs[STAGING_LOAD].slice = job->slice;
    jobs[STAGING_LOAD].src = job->src;
    jobs[STAGING_LOAD].dst = (struct tensor_spec){.buffer = load_buffer, .buffer_index = first};
    describe_src(&jobs[STAGING_PERMUTE].src, load_buffer, first, desc, &loaded);
    jobs[STAGING_PERMUTE].dst =
        (struct tensor_spec){.buffer = store_buffer, .buffer_index = second};
    describe_src(&jobs[STAGING_STORE].src, store_buffer, second, desc, &permuted);
    jobs[STAGING_STORE].dst = job->dst;
    jobs[STAGING_STORE].expect = job->expect;
    return 0;
}

void staging_finish(struct staging *stage)
{
    free(stage->file.list.buffers);
    *stage = (struct staging){0};
}

/* Gives a fault the pointer "/stage" and this text. Returns -1. */
static int move_fault(struct fault *fault, const char *text)
{
    const struct fault bare = *fault;
    const size_t from = (size_t)(text - fault->text);

    fault_set(fault, bare.code, "/stage", "stage: %s", bare.text + from);
    fault->status = bare.status;
    return -1;
}

int staging_blame(struct fault *fault)
{
    static const char buffers[] = "/buffers", memory[] = "memory: ";
    const char *text = fault->text;

    if (!fault->has_pointer || strncmp(fault->pointer, buffers, strlen(buffers)) != 0)
        return -1;
    if (strncmp(text, memory, strlen(memory)) == 0)
        text += strlen(memory);
    return move_fault(fault, text);
}

int staging_blame_step(struct fault *fault, int step)
{
    const bool src = fault->has_pointer && strcmp(fault->pointer, "/src/buffer") == 0;
    const bool dst = fault->has_pointer && strcmp(fault->pointer, "/dst/buffer") == 0;

    if ((src && step > STAGING_LOAD) || (dst && step < STAGING_STORE))
        move_fault(fault, fault->text);
    return -1;
}

int staging_check_capacity(const struct staging *stage, const struct target_profile *profile,
                           struct fault *fault)
{
    const struct buffer_spec *buffer = &stage->file.list.buffers[stage->file.list.buffer_count - 1];
    const struct profile_memory *memory =
        profile ? profile_memory_named(profile, buffer->memory) : NULL;
    uint64_t aligned;

    if (!memory)
        return 0;
    aligned = buffer->bytes + (-buffer->bytes & (profile_range_alignment(memory) - 1));
    if (buffer->bytes <= memory->size && aligned <= memory->size - buffer->bytes)
        return 0;
    fault_set(fault, FAULT_REFUSED, "/stage",
              "stage: two buffers of %" PRIu64 " B are needed, but memory %s has %" PRIu64
              " B in all; split the job into tiles (rule capacity)",
              buffer->bytes, memory->name, memory->size);
    fault->status = MLI_STATUS_NOT_ENGH_MEM;
    return -1;
}
