/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversions between the structures of the caller and of proto. */
#include <stdlib.h>
#include <string.h>

#include "client/src/client_state.h"
#include "proto/wire/job.h"

void result_take_layout(struct tensor_desc *desc, mli_tensor *tensor, void **owned)
{
    memset(tensor, 0, sizeof(*tensor));
    tensor_desc_to_mli(desc, tensor);
    *owned = desc->quant.scale; /* one allocated block has all three arrays */
    *desc = (struct tensor_desc){0};
}

int result_read(const struct json *value, mli_client_result *result, mli_client_error *error)
{
    struct job_result read = {0};

    if (job_result_read(value, &read))
        return error_set(error, MLI_CLIENT_UNREADABLE, "the daemon's result cannot be read: %s",
                         value->fault->text);
    *result = (mli_client_result){.job = read.job,
                                  .has_dst = read.has_dst,
                                  .bytes = read.bytes,
                                  .channels = read.channels,
                                  .ns_queued = read.ns_queued,
                                  .ns_moving = read.ns_moving};
    memcpy(result->engine, read.engine, sizeof(result->engine));
    if (read.has_dst)
        result_take_layout(&read.dst, &result->dst, &result->owned);
    job_result_finish(&read);
    return 0;
}

void mli_client_result_free(mli_client_result *result)
{
    if (!result)
        return;
    free(result->owned);
    result->owned = NULL;
}

#define SAME_STATE(name, word)                                                                     \
    _Static_assert((int)MLI_CLIENT_##name == (int)JOB_STATE_##name, "one order of states");
MLI_CLIENT_STATE_TABLE(SAME_STATE)
#undef SAME_STATE

void info_convert(mli_client_job_info *to, const struct job_info *from)
{
    *to = (mli_client_job_info){.job = from->job,
                                .state = (enum mli_client_state)from->state,
                                .client = from->client,
                                .uid = from->uid,
                                .priority = from->priority,
                                .channels = from->channels,
                                .first_channel = from->first_channel,
                                .bytes = from->bytes,
                                .bytes_done = from->bytes_done,
                                .detached = from->detached,
                                .ns_queued = from->ns_queued,
                                .ns_moving = from->ns_moving};
    _Static_assert(sizeof(to->name) == sizeof(from->name), "names fit");
    memcpy(to->name, from->name, sizeof(to->name));
    if (from->error)
        error_from_fault(&to->error, from->error, from->job);
}

void mli_client_job_init(mli_client_job *job)
{
    *job = (mli_client_job){.channels = 1};
    job->src_memory.fd = job->dst_memory.fd = -1;
    for (uint8_t i = 0; i < MLI_MAX_RANK; i++) {
        job->cfg.sub_sample_step[i] = 1;
        job->cfg.perm_dim[i] = i;
    }
}

/* Casts const away: proto's structures own their strings, but writing only reads the strings. */
static char *borrow(const char *text)
{
    return (char *)(uintptr_t)text;
}

int describe_refs(const mli_client_ref *refs, size_t count, struct job_ref *out,
                  mli_client_error *error)
{
    for (size_t i = 0; i < count; i++) {
        if ((refs[i].number == 0) == (refs[i].name == NULL))
            return error_set(error, MLI_CLIENT_MISUSE, "a job's number or its name is needed");
        out[i] = (struct job_ref){.number = refs[i].number, .name = borrow(refs[i].name)};
    }
    return 0;
}

static bool is_sa(mli_element_type type)
{
    return type == MLI_EL_SA_8 || type == MLI_EL_SA_32;
}

/* Takes per-axis arrays, which must have an entry for each index of the axis. */
static int take_axis(struct tensor_desc *desc, const mli_tensor *tensor, const char *which,
                     mli_client_error *error)
{
    const mli_element_params *params = &tensor->el_params;
    uint32_t axis = (uint32_t)params->sa.dim;

    if (axis >= tensor->rank)
        return error_set(error, MLI_CLIENT_MISUSE,
                         "%s.el_params.sa.dim: %u given; must be below %u", which, axis,
                         tensor->rank);
    uint64_t count = tensor->shape[axis];
    if (!params->sa.scale.mem.pi16 || !params->sa.zero_point.mem.pi16 ||
        !params->sa.scale_frac_bits.mem.pi8 || params->sa.scale.capacity / 2 < count ||
        params->sa.zero_point.capacity / 2 < count || params->sa.scale_frac_bits.capacity < count)
        return error_set(error, MLI_CLIENT_MISUSE,
                         "%s.el_params.sa: needs arrays of %u entries, or dim = -1 (per-tensor)",
                         which, tensor->shape[axis]);
    desc->quant = (struct quant){.axis = (int32_t)axis,
                                 .count = (uint32_t)count,
                                 .scale = params->sa.scale.mem.pi16,
                                 .zero_point = params->sa.zero_point.mem.pi16,
                                 .scale_frac_bits = params->sa.scale_frac_bits.mem.pi8};
    return 0;
}

static void take_shape(struct tensor_desc *desc, const mli_tensor *tensor)
{
    desc->rank = tensor->rank;
    memcpy(desc->shape, tensor->shape, sizeof(tensor->shape));
    for (uint32_t i = 0; i < tensor->rank; i++) {
        desc->strides[i] = tensor->mem_stride[i];
        desc->has_strides = desc->has_strides || tensor->mem_stride[i] != 0;
    }
    desc->stride_count = desc->has_strides ? tensor->rank : 0;
}

/* `storage` is memory for the parameters of a tensor with one set of parameters. */
static int take_src(struct tensor_desc *desc, const mli_tensor *tensor, mli_element_params *storage,
                    mli_client_error *error)
{
    if (tensor->rank < 1 || tensor->rank > MLI_MAX_RANK)
        return error_set(error, MLI_CLIENT_MISUSE, "src.rank: %u given; must be 1 to %d",
                         tensor->rank, MLI_MAX_RANK);
    if (!element_type_name(tensor->el_type))
        return error_set(error, MLI_CLIENT_MISUSE,
                         "src.el_type: %d is not a type that can be moved", (int)tensor->el_type);
    take_shape(desc, tensor);
    desc->has_type = true;
    desc->type = tensor->el_type;
    *storage = tensor->el_params;
    if (tensor->el_type == MLI_EL_FX_8 || tensor->el_type == MLI_EL_FX_16) {
        desc->quant.frac_bits = tensor->el_params.fx.frac_bits;
        desc->quant.has_frac_bits = desc->quant.frac_bits != 0;
    } else if (is_sa(tensor->el_type) && tensor->el_params.sa.dim >= 0) {
        return take_axis(desc, tensor, "src", error);
    } else if (is_sa(tensor->el_type)) {
        desc->quant = (struct quant){.axis = -1,
                                     .count = 1,
                                     .scale = &storage->sa.scale.mem.i16,
                                     .zero_point = &storage->sa.zero_point.mem.i16,
                                     .scale_frac_bits = &storage->sa.scale_frac_bits.mem.i8};
    }
    return 0;
}

static int take_dst(struct tensor_desc *desc, const mli_client_job *job, mli_client_error *error)
{
    const mli_tensor *tensor = &job->dst;

    if (tensor->rank > MLI_MAX_RANK)
        return error_set(error, MLI_CLIENT_MISUSE, "dst.rank: %u given; must be 0 to %d",
                         tensor->rank, MLI_MAX_RANK);
    if (tensor->rank == 0)
        return 0;
    take_shape(desc, tensor);
    bool per_axis = is_sa(job->src.el_type) && job->src.el_params.sa.dim >= 0 &&
                    tensor->el_params.sa.dim >= 0 && tensor->el_params.sa.scale.mem.pi16;
    return per_axis ? take_axis(desc, tensor, "dst", error) : 0;
}

/*
 * Converts a buffer's number or a descriptor. If both tensors have the same descriptor, it is sent
 * once.
 */
static int take_memory(struct tensor_ref *ref, const mli_client_memory *memory, bool is_dst,
                       struct job_parts *parts, mli_client_error *error)
{
    ref->offset = memory->offset;
    ref->where = memory->buffer ? TENSOR_IN_BUFFER : TENSOR_IN_FD;
    ref->buffer = memory->buffer;
    if (memory->buffer)
        return 0;
    if (memory->fd < 0)
        return error_set(error, MLI_CLIENT_MISUSE, "%s_memory: a buffer or a descriptor is needed",
                         is_dst ? "dst" : "src");
    if (parts->count == 0 || parts->attachments[0].fd != memory->fd)
        parts->attachments[parts->count++] = (mli_client_attachment){.fd = memory->fd};
    ref->fd = (uint32_t)parts->count - 1;
    mli_client_attachment *attachment = &parts->attachments[ref->fd];
    attachment->send = attachment->send || !is_dst || !memory->fresh;
    attachment->back = attachment->back || is_dst;
    return 0;
}

static int check(const mli_client_job *job, mli_client_error *error)
{
    if (job->op != MLI_CLIENT_MOV && job->op != MLI_CLIENT_PERMUTE)
        return error_set(error, MLI_CLIENT_MISUSE,
                         "op: %d given; must be MLI_CLIENT_MOV or MLI_CLIENT_PERMUTE",
                         (int)job->op);
    if (job->after_count > MLI_CLIENT_AFTER_MAX)
        return error_set(error, MLI_CLIENT_MISUSE, "after: %zu jobs given; at most %d are allowed",
                         job->after_count, MLI_CLIENT_AFTER_MAX);
    return 0;
}

int describe_job(mli_client *client, const mli_client_job *job, bool detach,
                 struct job_parts *parts, mli_client_error *error)
{
    struct job_ref after[MLI_CLIENT_AFTER_MAX];
    mli_element_params storage;
    struct job wire;

    *parts = (struct job_parts){0};
    job_init(&wire);
    int status = check(job, error);
    if (status == 0)
        status = describe_refs(job->after, job->after_count, after, error);
    if (status == 0)
        status = take_src(&wire.src.desc, &job->src, &storage, error);
    if (status == 0)
        status = take_dst(&wire.dst.desc, job, error);
    if (status == 0)
        status = take_memory(&wire.src, &job->src_memory, false, parts, error);
    if (status == 0)
        status = take_memory(&wire.dst, &job->dst_memory, true, parts, error);
    if (status)
        return status;
    wire.common.op = job->op == MLI_CLIENT_PERMUTE ? JOB_OP_PERMUTE : JOB_OP_MOV;
    wire.common.name = borrow(job->name);
    wire.common.cfg = job->cfg;
    job_common_set_lengths(&wire.common, job->src.rank);
    wire.common.channels = job->channels;
    wire.common.priority = job->priority;
    wire.common.timeout_ms = job->timeout_ms;
    wire.after = (struct job_refs){after, job->after_count};
    wire.detach = detach;
    struct jsonw *w = request_params(client);
    job_wire_write_members(w, &wire);
    return 0;
}
