/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/resolve.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/file/slice.h"

/* Returns whether the result goes into a tensor of known shape. */
static bool has_before(const struct resolved *r)
{
    return r->before.header.rank > 0;
}

/* Checks that the result ends within the updated tensor. */
static int check_extents(const struct resolved *r, const mli_tensor *result, struct fault *fault)
{
    const struct npy_header *header = &r->before.header;

    for (uint32_t d = 0; d < header->rank; d++) {
        if (result->shape[d] <= header->shape[d])
            continue;
        char pointer[40];
        snprintf(pointer, sizeof(pointer), "/cfg/dst_offset/%" PRIu32, d);
        return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                         "cfg.dst_offset[%" PRIu32 "]: the result ends at %" PRIu32
                         ", the tensor to update at %" PRIu32,
                         d, result->shape[d], header->shape[d]);
    }
    return 0;
}

/* Reports a refused move. If the updated tensor is too small, its strides may make elements
 * overlap: the message then names the extents. */
static int refuse_result(const struct resolved *r, const mli_tensor *src, mli_status status,
                         struct fault *fault)
{
    mli_tensor packed = {0};

    fault_set_refused(fault, status, mli_last_error());
    if (has_before(r) && mli_mov_layout(src, &r->wire.common.cfg, &packed) == MLI_STATUS_OK)
        check_extents(r, &packed, fault);
    return -1;
}

/* Sets offset, size and step of the window that "slice" selects of the padded source. */
static int apply_slice(struct resolved *r, struct fault *fault)
{
    const struct npy_header *header = &r->src.header;
    struct slice_window windows[MLI_MAX_RANK];
    int64_t extents[MLI_MAX_RANK];
    mli_mov_cfg_t *cfg = &r->wire.common.cfg;
    struct fault why;
    struct slice slice;

    if (!r->job->slice)
        return 0;
    for (uint32_t d = 0; d < header->rank; d++)
        extents[d] = (int64_t)header->shape[d] + cfg->padding_pre[d] + cfg->padding_post[d];
    if (slice_parse(r->job->slice, &slice, &why) ||
        slice_apply(&slice, header->rank, extents, windows, &why))
        return fault_set(fault, why.code, "/slice", "slice: %s", why.text);
    for (uint32_t d = 0; d < header->rank; d++) {
        cfg->offset[d] = windows[d].offset;
        cfg->size[d] = windows[d].size;
        cfg->sub_sample_step[d] = windows[d].step;
    }
    struct cfg_lengths *lengths = &r->wire.common.lengths;
    lengths->offset = lengths->size = lengths->sub_sample_step = (uint8_t)header->rank;
    return 0;
}

static int find_result(struct resolved *r, struct fault *fault)
{
    const struct tensor_desc *dst = &r->job->dst.desc;
    mli_tensor src = {0};

    tensor_desc_to_mli(&r->wire.src.desc, &src);
    r->result = (mli_tensor){0};
    if (has_before(r))
        memcpy(r->result.mem_stride, r->before.strides, sizeof(r->result.mem_stride));
    else if (dst->has_strides)
        memcpy(r->result.mem_stride, dst->strides, sizeof(r->result.mem_stride));
    mli_status status = mli_mov_layout(&src, &r->wire.common.cfg, &r->result);
    return status == MLI_STATUS_OK ? 0 : refuse_result(r, &src, status, fault);
}

static int complain_stride(const struct resolved *r, uint32_t d, int32_t wanted, const char *why,
                           struct fault *fault)
{
    char pointer[40];

    snprintf(pointer, sizeof(pointer), "/cfg/dst_mem_stride/%" PRIu32, d);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "cfg.dst_mem_stride[%" PRIu32 "]: %" PRId32 " given; must be %" PRId32 ": %s",
                     d, r->result.mem_stride[d], wanted, why);
}

/* Checks that the result is within the updated tensor and has its strides. */
static int check_within(const struct resolved *r, struct fault *fault)
{
    const struct npy_header *header = &r->before.header;

    if (check_extents(r, &r->result, fault))
        return -1;
    for (uint32_t d = 0; d < header->rank; d++) {
        if (header->shape[d] > 1 && r->result.mem_stride[d] != r->before.strides[d])
            return complain_stride(r, d, r->before.strides[d],
                                   "an update keeps the strides of the tensor", fault);
    }
    return 0;
}

static int check_packed(const struct resolved *r, struct fault *fault)
{
    int32_t packed[MLI_MAX_RANK];

    if (!tensor_strides(r->result.rank, r->result.shape, NULL, packed))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst", "dst: a stride exceeds 31 bits");
    for (uint32_t d = 0; d < r->result.rank; d++) {
        if (r->result.shape[d] > 1 && r->result.mem_stride[d] != packed[d])
            return complain_stride(r, d, packed[d],
                                   "a new .npy file is packed; write a raw file, or update a "
                                   "larger tensor",
                                   fault);
    }
    return 0;
}

/* Plans a new file, as large as the result. */
static int plan_fresh(struct resolved *r, struct fault *fault)
{
    struct npy_header *header = &r->whole.header;

    r->whole.format = tensor_spec_format(&r->job->dst);
    bool npy = r->whole.format == FILE_FORMAT_NPY;
    if (npy && check_packed(r, fault))
        return -1;
    *header = r->src.header;
    header->fortran_order = header->big_endian = false;
    memcpy(header->shape, r->result.shape, sizeof(header->shape));
    memcpy(r->whole.strides, r->result.mem_stride, sizeof(r->whole.strides));
    header->data_offset = npy ? NPY_FORMAT_SIZE : 0;
    header->data_size = r->result.data.capacity;
    r->whole.stat.st_size = (off_t)(header->data_offset + header->data_size);
    return 0;
}

/* Plans the update of a raw file or buffer of unknown shape: the result must fit into its bytes. */
static int plan_raw_update(struct resolved *r, struct fault *fault)
{
    uint64_t size = (uint64_t)r->before.stat.st_size;

    if (plan_fresh(r, fault))
        return -1;
    r->whole.header.data_offset = r->job->dst.offset;
    r->whole.stat.st_size = r->before.stat.st_size;
    uint64_t end = r->job->dst.offset + r->whole.header.data_size;
    if (end > size && r->dst_buffer)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/buffer",
                         "dst.buffer: %s has %" PRIu64 " B, but the result ends at %" PRIu64,
                         r->dst_buffer->name, size, end);
    if (end > size)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, "/dst/file",
                         "dst.file: %s: %" PRIu64 " B, the result ends at %" PRIu64,
                         r->before.shown, size, end);
    return 0;
}

static int plan_whole(struct resolved *r, struct fault *fault)
{
    r->whole = (struct tensor_file){.path = r->dst_path, .fd = -1};
    if (!r->job->dst.update && !r->dst_buffer)
        return plan_fresh(r, fault);
    if (!has_before(r))
        return plan_raw_update(r, fault);
    if (check_within(r, fault))
        return -1;
    r->whole.format = r->before.format;
    r->whole.header = r->before.header;
    r->whole.header.big_endian = false; /* the copy that is updated is little-endian */
    r->whole.stat.st_size = r->before.stat.st_size;
    memcpy(r->whole.strides, r->before.strides, sizeof(r->whole.strides));
    return 0;
}

/* Checks that "dst.axis" is the axis of the result's parameters. */
static int check_axis(const struct resolved *r, struct fault *fault)
{
    int32_t given = r->job->dst.desc.quant.axis, from = r->wire.src.desc.quant.axis;

    if (r->job->dst.desc.quant.count == 0 || given < 0 || r->wire.src.desc.quant.count == 0)
        return 0;
    if (from >= 0 && r->job->common.cfg.perm_dim[given] == from)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/axis",
                     "dst.axis: %" PRId32 " given, but the result's parameters do not lie along it",
                     given);
}

static int fill_wire(struct resolved *r, struct fault *fault)
{
    struct tensor_ref *wire = &r->wire.dst;

    if (tensor_desc_copy(&wire->desc, &r->job->dst.desc))
        return fault_no_memory(fault);
    wire->where = r->dst_buffer ? TENSOR_IN_BUFFER : TENSOR_IN_FD;
    wire->fd = r->src_buffer ? 0 : 1; /* the descriptor after that of the source */
    wire->offset = r->whole.header.data_offset;
    memcpy(wire->memory, r->job->dst.memory, sizeof(wire->memory));
    if (!has_before(r))
        return 0;
    tensor_file_describe(&r->whole, &wire->desc);
    if (tensor_desc_check(&wire->desc, fault)) {
        fault_prefix(fault, "/dst");
        return -1;
    }
    return check_axis(r, fault);
}

int resolved_find_layout(struct resolved *r, struct fault *fault)
{
    if (job_check_rank(&r->job->common, &r->job->dst.desc, r->src.header.rank, fault) ||
        apply_slice(r, fault) || find_result(r, fault) || plan_whole(r, fault) ||
        fill_wire(r, fault))
        return -1;
    return 0;
}
