/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/regular.h"
#include "cli/job/axes.h"
#include "cli/job/resolve.h"
#include "cli/tensor/params.h"
#include "cli/term/phrase.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/file/slice.h"
#include "proto/json/json.h"
#include "proto/wire/rpc.h"

/* Returns whether the result goes into a tensor of known shape. */
static bool has_before(const struct resolved *r)
{
    return r->before.header.rank > 0;
}

/* Checks that the result ends within the updated tensor. */
static int check_extents(const struct resolved *r, const uint32_t *result, struct fault *fault)
{
    const struct npy_header *header = &r->before.header;
    const struct tensor_spec *dst = &r->job->dst;

    for (uint32_t d = 0; d < header->rank; d++) {
        if (result[d] <= header->shape[d])
            continue;
        char pointer[40];
        snprintf(pointer, sizeof(pointer), "/cfg/dst_offset/%" PRIu32, d);
        return fault_set(
            fault, FAULT_INVALID_PARAMS, pointer,
            "cfg.dst_offset[%" PRIu32 "]: the result ends at %" PRIu32 ", but %s at %" PRIu32, d,
            result[d], dst->update && !dst->part ? "the tensor to update" : "dst.shape",
            header->shape[d]);
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
        check_extents(r, packed.shape, fault);
    return -1;
}

/* Sets offset, size and step of the window that "slice" selects in the padded source. */
static int apply_slice(struct resolved *r, struct fault *fault)
{
    const struct npy_header *header = &r->src.header;
    struct slice_window windows[TENSOR_RANK_MAX];
    int64_t extents[TENSOR_RANK_MAX];
    struct job_common *common = &r->wire.common;
    struct fault why;
    struct slice slice;

    if (!r->job->slice)
        return 0;
    for (uint32_t d = 0; d < header->rank; d++)
        extents[d] = (int64_t)header->shape[d] + job_cfg(common, padding_pre, d) +
                     job_cfg(common, padding_post, d);
    if (slice_parse(r->job->slice, &slice, &why) ||
        slice_apply(&slice, header->rank, extents, windows, &why))
        return fault_set(fault, why.code, "/slice", "slice: %s", why.text);
    for (uint32_t d = 0; d < header->rank; d++) {
        job_cfg(common, offset, d) = windows[d].offset;
        job_cfg(common, size, d) = windows[d].size;
        job_cfg(common, sub_sample_step, d) = windows[d].step;
    }
    struct cfg_lengths *lengths = &common->lengths;
    lengths->offset = lengths->size = lengths->sub_sample_step = (uint8_t)header->rank;
    return 0;
}

/* A move reaches 4 GiB from the first element: in a larger tensor, begins the source on the wire at
 * the window instead. */
static void skip_to_window(struct resolved *r)
{
    const struct npy_header *header = &r->src.header;
    struct tensor_desc *src = &r->wire.src.desc;
    struct job_common *common = &r->wire.common;

    for (uint32_t d = 0; header->data_size > UINT32_MAX && d < header->rank; d++) {
        const uint32_t offset = job_cfg(common, offset, d);

        if (job_cfg(common, padding_pre, d) || job_cfg(common, padding_post, d) ||
            offset >= src->shape[d] || (src->quant.count > 0 && src->quant.axis == (int32_t)d))
            continue;
        r->wire.src.offset += (uint64_t)offset * (uint64_t)src->strides[d] * header->item_size;
        src->shape[d] -= offset;
        job_cfg(common, offset, d) = 0;
    }
}

/* Refuses a move of one dimension, `d` of the source, that the library has refused. */
static int refuse_dimension(uint32_t d, mli_status status, struct fault *fault)
{
    const char *text = mli_last_error(), *at = strstr(text, "[0]");
    char own[FAULT_TEXT_MAX];

    snprintf(own, sizeof(own), "%.*s[%" PRIu32 "]%s", at ? (int)(at - text) : 0, text, d,
             at ? at + 3 : "");
    return fault_set_refused(fault, status, at ? own : text);
}

/* Finds the extent of the result along dimension `d` of the source, as a move of its own. */
static int find_extent(const struct resolved *r, uint32_t d, uint32_t *extent, struct fault *fault)
{
    const struct job_common *common = &r->wire.common;
    const mli_tensor src = {
        .el_type = MLI_EL_FX_8, .rank = 1, .shape = {r->wire.src.desc.shape[d]}};
    mli_tensor result = {0};
    mli_mov_cfg_t cfg;

    mli_mov_cfg_for_copy(&cfg);
    cfg.offset[0] = job_cfg(common, offset, d);
    cfg.size[0] = job_cfg(common, size, d);
    cfg.sub_sample_step[0] = job_cfg(common, sub_sample_step, d);
    cfg.padding_pre[0] = job_cfg(common, padding_pre, d);
    cfg.padding_post[0] = job_cfg(common, padding_post, d);
    const mli_status status = mli_mov_layout(&src, &cfg, &result);
    *extent = result.shape[0];
    return status == MLI_STATUS_OK ? 0 : refuse_dimension(d, status, fault);
}

/* Finds the shape of the result of a source with more dimensions than libmli has. */
static int find_wide_shape(struct resolved *r, struct fault *fault)
{
    const struct job_common *common = &r->wire.common;
    const uint32_t rank = r->src.header.rank;
    uint32_t seen = 0;

    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t d = job_cfg(common, perm_dim, i), at = job_cfg(common, dst_offset, i);
        char pointer[40];

        snprintf(pointer, sizeof(pointer), "/cfg/perm_dim/%" PRIu32, i);
        if (d >= rank || seen >> d & 1)
            return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                             "cfg.perm_dim[%" PRIu32 "]: %" PRIu32
                             " given; each dimension from 0 to %" PRIu32 " is needed once",
                             i, d, rank - 1);
        seen |= UINT32_C(1) << d;
        if (find_extent(r, d, &r->shape[i], fault))
            return -1;
        snprintf(pointer, sizeof(pointer), "/cfg/dst_offset/%" PRIu32, i);
        if (__builtin_add_overflow(r->shape[i], at, &r->shape[i]))
            return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                             "cfg.dst_offset[%" PRIu32 "]: the result ends beyond 2^32", i);
    }
    return 0;
}

static int find_wide_result(struct resolved *r, struct fault *fault)
{
    const struct tensor_desc *dst = &r->job->dst.desc;
    const int32_t *own = has_before(r) ? r->before.strides : dst->strides; /* 0: packed */
    const uint32_t rank = r->src.header.rank;
    int32_t given[TENSOR_RANK_MAX];

    if (find_wide_shape(r, fault))
        return -1;
    for (uint32_t i = 0; i < rank; i++) {
        given[i] = job_cfg(&r->wire.common, dst_mem_stride, i);
        given[i] = given[i] ? given[i] : own[i];
    }
    if (!tensor_strides(rank, r->shape, given, r->strides))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst", "dst: a stride exceeds 31 bits");
    return 0;
}

static int find_result(struct resolved *r, struct fault *fault)
{
    const struct tensor_desc *dst = &r->job->dst.desc;
    mli_tensor src = {0};

    if (r->src.header.rank > MLI_MAX_RANK)
        return find_wide_result(r, fault);
    tensor_desc_to_mli(&r->wire.src.desc, &src);
    r->result = (mli_tensor){0};
    const int32_t *own = has_before(r) ? r->before.strides : dst->strides; /* 0: packed */
    memcpy(r->result.mem_stride, own, sizeof(r->result.mem_stride));
    mli_status status = mli_mov_layout(&src, &r->wire.common.cfg, &r->result);
    if (status != MLI_STATUS_OK)
        return refuse_result(r, &src, status, fault);
    memcpy(r->shape, r->result.shape, sizeof(r->result.shape));
    memcpy(r->strides, r->result.mem_stride, sizeof(r->result.mem_stride));
    return 0;
}

static int complain_stride(const struct resolved *r, uint32_t d, int32_t wanted, const char *why,
                           struct fault *fault)
{
    char pointer[40];

    snprintf(pointer, sizeof(pointer), "/cfg/dst_mem_stride/%" PRIu32, d);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "cfg.dst_mem_stride[%" PRIu32 "]: %" PRId32 " given; must be %" PRId32 ": %s",
                     d, r->strides[d], wanted, why);
}

/* Checks that the result is within the updated tensor and has its strides. */
static int check_within(const struct resolved *r, struct fault *fault)
{
    const struct npy_header *header = &r->before.header;

    if (check_extents(r, r->shape, fault))
        return -1;
    for (uint32_t d = 0; d < header->rank; d++) {
        if (header->shape[d] > 1 && r->strides[d] != r->before.strides[d])
            return complain_stride(r, d, r->before.strides[d],
                                   "a part of a tensor has the strides of the tensor", fault);
    }
    return 0;
}

static int check_packed(const struct resolved *r, struct fault *fault)
{
    const uint32_t rank = r->src.header.rank;
    int32_t packed[TENSOR_RANK_MAX];

    if (!tensor_strides(rank, r->shape, NULL, packed))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst", "dst: a stride exceeds 31 bits");
    for (uint32_t d = 0; d < rank; d++) {
        if (r->shape[d] > 1 && r->strides[d] != packed[d])
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
    memcpy(header->shape, r->shape, sizeof(header->shape));
    memcpy(r->whole.strides, r->strides, sizeof(r->whole.strides));
    header->data_offset = npy ? NPY_FORMAT_SIZE : 0;
    if (!tensor_span(header, r->strides, &header->data_size))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst", "dst: the shape exceeds 2^63 bytes");
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
                         "dst.file: %s has %" PRIu64 " B, but the result ends at %" PRIu64,
                         r->before.shown, size, end);
    return 0;
}

static int plan_whole(struct resolved *r, struct fault *fault)
{
    r->whole = (struct tensor_file){.path = r->dst_path, .fd = -1};
    if (!has_before(r))
        return r->job->dst.update || r->dst_buffer ? plan_raw_update(r, fault)
                                                   : plan_fresh(r, fault);
    if (check_within(r, fault))
        return -1;
    r->whole.format = r->before.format;
    r->whole.header = r->before.header;
    r->whole.header.big_endian = false; /* an update writes a new, little-endian file */
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
    wire->fd = r->src_buffer ? 0 : 1; /* the descriptor after the source's descriptor */
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

/* Describes the job's move with an axis for each dimension. */
static void move_of(const struct resolved *r, struct move *move)
{
    const struct tensor_desc *src = &r->wire.src.desc;
    const struct job_common *common = &r->wire.common;
    const uint32_t *extents = has_before(r) ? r->before.header.shape : r->shape;

    *move = (struct move){.axis_count = src->rank};
    for (uint32_t i = 0; i < src->rank; i++) {
        const uint32_t d = move->order[i] = job_cfg(common, perm_dim, i);
        const uint32_t at = job_cfg(common, dst_offset, i);

        move->axes[d] = (struct move_axis){.extent = src->shape[d],
                                           .src_stride = (uint64_t)src->strides[d],
                                           .pre = job_cfg(common, padding_pre, d),
                                           .post = job_cfg(common, padding_post, d),
                                           .offset = job_cfg(common, offset, d),
                                           .count = r->shape[i] - at,
                                           .step = job_cfg(common, sub_sample_step, d),
                                           .dst_extent = extents[i],
                                           .dst_stride = (uint64_t)r->strides[i],
                                           .at = at,
                                           .dimensions = UINT32_C(1) << d};
    }
}

/* Replaces the tensors and cfg on the wire by those of a folded move. */
static void take_folded(struct resolved *r, const struct move *move)
{
    struct tensor_desc *src = &r->wire.src.desc, *dst = &r->wire.dst.desc;
    mli_mov_cfg_t *cfg = &r->wire.common.cfg;
    const bool strided = dst->has_strides || r->wire.common.lengths.dst_mem_stride > 0;

    r->wire.src.offset += move->src_base * ((src->type & 0xff) / 8);
    src->rank = src->stride_count = move->axis_count;
    dst->rank = has_before(r) ? move->axis_count : 0;
    dst->has_strides = strided;
    dst->stride_count = strided ? move->axis_count : 0;
    mli_mov_cfg_for_copy(cfg);
    r->wire.common.lengths = (struct cfg_lengths){0};
    move_to_cfg(move, cfg);
    for (uint32_t i = 0; i < move->axis_count; i++) {
        const struct move_axis *from = &move->axes[i], *to = &move->axes[move->order[i]];

        src->shape[i] = (uint32_t)from->extent;
        src->strides[i] = (int32_t)from->src_stride;
        dst->shape[i] = (uint32_t)to->dst_extent;
        dst->strides[i] = (int32_t)to->dst_stride;
        cfg->dst_offset[i] = (uint32_t)to->at;
    }
    job_common_set_lengths(&r->wire.common, move->axis_count);
}

/* Names the dimensions of the source that each axis of a folded move has: "0+1, 2, 3, 4, 5". */
static void name_axes(const struct move *move, struct phrase *phrase)
{
    for (uint32_t i = 0; i < move->axis_count; i++) {
        const char *before = i ? ", " : "";

        for (uint32_t d = 0; d < TENSOR_RANK_MAX; d++) {
            if (move->axes[i].dimensions >> d & 1) {
                phrase_add(phrase, "%s%" PRIu32, before, d);
                before = "+";
            }
        }
        if (move->axes[i].dimensions == 0)
            phrase_add(phrase, "%sthe parts of an element", before);
    }
}

/* Refuses a folded move that libmli or a job cannot express. */
static int refuse_fold(const struct npy_header *header, const struct move *move,
                       struct fault *fault)
{
    const bool too_many = move->axis_count > MLI_MAX_RANK;
    const char *order = too_many && header->fortran_order
                            ? "; the source is in Fortran order, a new result in C order: save it "
                              "in C order, or use several moves"
                            : "";
    char names[PRINT_TEXT_MAX];
    struct phrase phrase = phrase_init(names, sizeof(names));

    name_axes(move, &phrase);
    if (header->rank <= MLI_MAX_RANK)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                         "src: elements of %" PRIu32 " bytes (%s) move as %" PRIu32
                         " parts of 4 bytes, but as parts this move exceeds %s; move fewer "
                         "dimensions at a time%s",
                         header->item_size, dtype_of_header(header)->name, npy_parts(header),
                         too_many ? "4 dimensions" : "the range of a job", order);
    if (too_many)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                         "src: dimensions %s do not fold into 4, the most that a move has: "
                         "neighbours fold that keep their order in memory, if the inner one is "
                         "neither padded, sliced nor subsampled%s",
                         names, order);
    return fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                     "src: the dimensions fold into %s, but then this move exceeds a job's range",
                     names);
}

/*
 * Changes the job on the wire to one that libmli can do: elements of 8 and 16 bytes become parts of
 * 4 bytes, and neighbouring dimensions that stay together become one. The files keep their dtype
 * and shape.
 */
static int fold(struct resolved *r, struct fault *fault)
{
    const struct npy_header *header = &r->src.header;
    const struct tensor_desc *dst = &r->wire.dst.desc;
    mli_tensor src = {0};
    struct move move;

    if (!npy_folds(header))
        return 0;
    move_of(r, &move);
    if (npy_parts(header) > 1)
        move_split(&move, npy_parts(header));
    if (move.axis_count > MLI_MAX_RANK)
        move_sort(&move); /* neighbours in the memory of the source fold */
    move_reduce(&move);
    if (move.axis_count > MLI_MAX_RANK || !move_fits(&move))
        return refuse_fold(header, &move, fault);
    take_folded(r, &move);
    tensor_desc_to_mli(&r->wire.src.desc, &src);
    r->result = (mli_tensor){0};
    if (dst->has_strides)
        memcpy(r->result.mem_stride, dst->strides, sizeof(r->result.mem_stride));
    mli_status status = mli_mov_layout(&src, &r->wire.common.cfg, &r->result);
    return status == MLI_STATUS_OK ? 0 : fault_set_refused(fault, status, mli_last_error());
}

/*
 * Part of resolved_plan(): computes `result`, `whole` and wire.dst from the inputs and the job's
 * cfg. Returns 0 or -1.
 */
static int resolved_find_layout(struct resolved *r, struct fault *fault)
{
    if (job_check_rank(&r->job->common, &r->job->dst.desc, r->src.header.rank, fault) ||
        apply_slice(r, fault))
        return -1;
    skip_to_window(r);
    if (find_result(r, fault) || plan_whole(r, fault) || fill_wire(r, fault))
        return -1;
    return fold(r, fault);
}

/* Adds the JSON pointer of the job's member to a fault about the name of a file or tensor. */
static int blame(struct fault *fault, const char *tensor)
{
    if (fault->code == FAULT_CANCELLED)
        return -1;
    const char *member = fault->has_pointer ? fault->pointer + 1 : "file";
    char pointer[32];
    snprintf(pointer, sizeof(pointer), "/%s/%s", tensor, member);
    return fault_set(fault, fault->code, pointer, "%s.%s: %s", tensor, pointer + strlen(tensor) + 2,
                     fault->text);
}

/* Opens the output of an earlier job, or copies its description if the output was not written. */
static int open_produced(struct tensor_file *file, const struct tensor_file *produced,
                         const struct tensor_spec *ref, const char *path, struct fault *fault)
{
    if (produced->fd < 0) {
        *file = *produced;
        file->path = path;
        print_path(file->shown, path);
        if (tensor_spec_format(ref) == FILE_FORMAT_RAW && file->format != FILE_FORMAT_RAW) {
            file->format = FILE_FORMAT_RAW; /* the job describes all bytes, including the header */
            file->header = (struct npy_header){.rank = 0};
        }
        if (!file_format_is_archive(tensor_spec_format(ref)))
            return 0;
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: must be an archive, but an earlier job writes it in another format",
                         file->shown);
    }
    /* Both descriptors share one file offset, which is not used. */
    int fd = fcntl(produced->fd, F_DUPFD_CLOEXEC, 0);
    if (fd < 0)
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    return tensor_file_adopt(file, fd, path, tensor_spec_format(ref), ref->tensor, fault);
}

static int open_tensor(struct tensor_file *file, const struct produced *produced,
                       const struct tensor_spec *ref, const char *path, struct fault *fault)
{
    const struct tensor_file *found = NULL;

    if (produced && produced_find(produced, path, &found))
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    if (found)
        return open_produced(file, found, ref, path, fault);
    return tensor_file_open(file, path, tensor_spec_format(ref), ref->tensor, fault);
}

/* Gives a raw file the type, shape and strides that the job has. */
static int describe_raw(struct tensor_file *file, const struct tensor_spec *ref,
                        const struct dtype *dtype, struct fault *fault)
{
    struct npy_header header = {.rank = ref->desc.rank, .data_offset = ref->offset};

    memcpy(header.shape, ref->desc.shape, sizeof(header.shape));
    npy_set_dtype(&header, dtype->kind, dtype->size);
    return tensor_file_set_raw(file, &header, ref->desc.has_strides ? ref->desc.strides : NULL,
                               fault);
}

/* Like describe_raw(); a fault has the pointer "/shape". */
static int describe_shape(struct tensor_file *file, const struct tensor_spec *ref,
                          const struct dtype *dtype, struct fault *fault)
{
    if (describe_raw(file, ref, dtype, fault) == 0)
        return 0;
    const struct fault bare = *fault;
    return fault_set(fault, bare.code, "/shape", "%s", bare.text);
}

/* Describes the tensor that the job makes: a new file of zeros, into which the result is placed. */
static int describe_made(struct resolved *r, const struct dtype *dtype, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->dst;
    struct tensor_file *made = &r->before;
    off_t end;

    made->format = tensor_spec_format(ref);
    print_path(made->shown, r->dst_path);
    if (describe_shape(made, ref, dtype, fault))
        return -1;
    if (made->format == FILE_FORMAT_NPY)
        made->header.data_offset = NPY_FORMAT_SIZE;
    if (__builtin_add_overflow(made->header.data_offset, made->header.data_size, &end))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/shape", "%s: the shape exceeds 2^63 bytes",
                         made->shown);
    made->stat.st_size = end;
    return 0;
}

/* Describes a tensor in a buffer: the job describes the tensor, and the buffer has a size. */
static int describe_buffer(struct tensor_file *file, const struct buffer_spec *buffer,
                           const struct tensor_spec *ref, const struct dtype *dtype,
                           struct fault *fault)
{
    char shape[PRINT_TEXT_MAX];

    *file = (struct tensor_file){
        .fd = -1, .format = FILE_FORMAT_RAW, .stat.st_size = (off_t)buffer->bytes};
    snprintf(file->shown, sizeof(file->shown), "buffer %s", buffer->name);
    if (ref->desc.rank == 0)
        return 0;
    if (describe_shape(file, ref, dtype, fault))
        return -1;
    uint64_t size = file->header.data_size;
    if (ref->offset <= buffer->bytes && size <= buffer->bytes - ref->offset)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, "/buffer",
                     "%s has %" PRIu64 " B, but %" PRIu64 " B from offset %" PRIu64
                     " on are needed for shape %s of %" PRIu32 "-byte elements",
                     buffer->name, buffer->bytes, size, ref->offset,
                     print_shape(shape, file->header.rank, file->header.shape),
                     file->header.item_size);
}

static int check_type(const struct resolved *r, struct fault *fault)
{
    const struct npy_header *header = &r->src.header;
    const struct tensor_desc *desc = &r->wire.src.desc;
    uint32_t size = (desc->type & 0xff) / 8, parts = npy_parts(header);

    if (size != header->item_size / parts)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src/type",
                         "src.type: %s has elements of %" PRIu32
                         " B, those of %s (%s) have %" PRIu32 " B",
                         element_type_name(desc->type), size, r->src.shown,
                         dtype_of_header(header)->name, header->item_size);
    if (parts > 1 && (desc->quant.count > 0 || desc->quant.has_frac_bits))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                         "src: elements of %" PRIu32
                         " bytes (%s) cannot have quantisation parameters",
                         header->item_size, dtype_of_header(header)->name);
    if (header->rank > MLI_MAX_RANK &&
        ((desc->quant.count > 0 && desc->quant.axis >= 0) ||
         (r->job->dst.desc.quant.count > 0 && r->job->dst.desc.quant.axis >= 0)))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                         "src: a tensor of %" PRIu32
                         " dimensions cannot have parameters along an axis; at most 4 dimensions "
                         "can",
                         header->rank);
    bool real = desc->type == MLI_EL_FP_16 || desc->type == MLI_EL_FP_32;
    if (r->job->common.op == JOB_OP_PERMUTE && real)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/src/type",
                         "src.type: no permute kernel moves %s; use \"op\": \"mov\"",
                         element_type_name(desc->type));
    if (tensor_desc_check(desc, fault)) {
        fault_prefix(fault, "/src");
        return -1;
    }
    return 0;
}

/* Returns the dtype of a raw source or a buffer. */
static const struct dtype *raw_dtype(const struct tensor_spec *ref)
{
    return ref->dtype ? dtype_from_name(ref->dtype) : dtype_of_type(ref->desc.type);
}

static int open_src_tensor(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->src;

    if (r->src_buffer)
        return describe_buffer(&r->src, r->src_buffer, ref, raw_dtype(ref), fault);
    if (open_tensor(&r->src, produced, ref, r->src_path, fault))
        return -1;
    return r->src.format == FILE_FORMAT_RAW ? describe_raw(&r->src, ref, raw_dtype(ref), fault) : 0;
}

static int open_src(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->src;
    struct tensor_ref *wire = &r->wire.src;

    if (open_src_tensor(r, produced, fault))
        return blame(fault, "src");
    const struct npy_header *header = &r->src.header;
    if (tensor_desc_copy(&wire->desc, &ref->desc))
        return fault_no_memory(fault);
    wire->where = r->src_buffer ? TENSOR_IN_BUFFER : TENSOR_IN_FD;
    wire->offset = header->data_offset;
    memcpy(wire->memory, ref->memory, sizeof(wire->memory));
    tensor_file_describe(&r->src, &wire->desc);
    if (!wire->desc.has_type)
        wire->desc.type = npy_default_type(header);
    wire->desc.has_type = true;
    return check_type(r, fault);
}

static int check_before(const struct resolved *r, struct fault *fault)
{
    const struct npy_header *src = &r->src.header, *before = &r->before.header;

    if (src->kind != before->kind || src->item_size != before->item_size)
        return fault_set(
            fault, FAULT_INVALID_PARAMS, "/dst/file",
            "dst.file: %s holds %s, but the source holds %s; an update keeps the dtype",
            r->before.shown, dtype_of_header(before)->name, dtype_of_header(src)->name);
    if (before->rank != src->rank)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/file",
                         "dst.file: %s has %" PRIu32 " dimensions, but the source has %" PRIu32,
                         r->before.shown, before->rank, src->rank);
    return 0;
}

/* Checks that the file still has the tensor that an earlier job has made for this job, too. */
static int check_made(const struct resolved *r, struct fault *fault)
{
    const struct tensor_desc *desc = &r->job->dst.desc;
    const struct npy_header *before = &r->before.header;
    char given[PRINT_TEXT_MAX], found[PRINT_TEXT_MAX];

    if (memcmp(before->shape, desc->shape, sizeof(desc->shape)) == 0 &&
        (uint64_t)r->before.stat.st_size == before->data_offset + before->data_size)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/shape",
                     "dst.shape: %s of %" PRIu32 "-byte elements given, but %s has %s in %" PRIu64
                     " B; all parts need the dtype of the first",
                     print_shape(given, desc->rank, desc->shape), before->item_size,
                     r->before.shown, print_shape(found, before->rank, before->shape),
                     (uint64_t)r->before.stat.st_size);
}

/* Returns whether the path still names the open file. */
static bool is_current(const struct tensor_file *file)
{
    struct stat now;

    return stat(file->path, &now) == 0 && now.st_dev == file->stat.st_dev &&
           now.st_ino == file->stat.st_ino;
}

/* Opens the file. Unless outputs are kept, also locks it, and opens it again if another job has
 * replaced it before the lock: no other job can update it until this process closes it. */
static int open_updated(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    for (;;) {
        if (open_tensor(&r->before, produced, &r->job->dst, r->dst_path, fault))
            return blame(fault, "dst");
        if (!produced && regular_lock(r->before.fd, fault))
            return -1;
        if (produced || is_current(&r->before))
            return 0;
        tensor_file_close(&r->before);
    }
}

static int open_before(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct tensor_spec *ref = &r->job->dst;
    const struct dtype *dtype = dtype_of_header(&r->src.header);

    if (r->dst_buffer)
        return describe_buffer(&r->before, r->dst_buffer, ref, dtype, fault) ? blame(fault, "dst")
                                                                             : 0;
    if (tensor_spec_makes(ref))
        return describe_made(r, dtype, fault) ? blame(fault, "dst") : 0;
    if (!ref->update)
        return 0;
    if (open_updated(r, produced, fault))
        return -1;
    if (r->before.format == FILE_FORMAT_RAW && ref->desc.rank == 0) {
        /* Reads the file as raw bytes, even if an earlier job has written a tensor to it. */
        r->before.header = (struct npy_header){.rank = 0};
        return 0;
    }
    if (r->before.format == FILE_FORMAT_RAW && describe_raw(&r->before, ref, dtype, fault))
        return blame(fault, "dst");
    return check_before(r, fault) || (ref->part && check_made(r, fault)) ? -1 : 0;
}

/* A raw golden file has exactly the content of the output: the elements of a .npy output without
 * its header, or the whole raw output. */
static int describe_raw_expect(struct resolved *r, struct fault *fault)
{
    struct npy_header header = r->whole.header;

    if (tensor_file_content(&r->expect) != tensor_file_content(&r->whole))
        return 0; /* rank 0: compare_outlines() reports the sizes */
    if (r->whole.format != FILE_FORMAT_RAW)
        header.data_offset = 0;
    return tensor_file_set_raw(&r->expect, &header, r->whole.strides, fault);
}

static bool is_there(const char *path, const struct produced *produced)
{
    const struct tensor_file *found = NULL;

    return (produced && (produced_find(produced, path, &found) || found)) ||
           access(path, F_OK) == 0 || errno != ENOENT;
}

/* Returns whether --update-golden can create the file: its directory exists, and its name is not a
 * symbolic link. */
static bool can_be_written(const char *path)
{
    struct stat status;
    struct place place;

    return lstat(path, &status) && errno == ENOENT && place_of(path, &place);
}

/* A missing golden file is usual for a new job: the message names --update-golden. */
static int complain_golden(const char *path, const struct produced *produced, struct fault *fault)
{
    struct fault why = *fault;

    if (fault->code == FAULT_CANCELLED || is_there(path, produced) || !can_be_written(path))
        return -1;
    return fault_set(fault, why.code, why.pointer, "%s; `mlictl batch --update-golden` writes it",
                     why.text);
}

static int open_expect(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    if (r->job->expect.kind != EXPECT_FILE)
        return 0;
    if (produced && produced->without_golden && !is_there(r->expect_path, produced))
        return 0; /* --update-golden will write the golden file */
    if (open_tensor(&r->expect, produced, &r->job->expect.golden, r->expect_path, fault)) {
        blame(fault, "expect");
        return file_format_is_archive(tensor_spec_format(&r->job->expect.golden))
                   ? -1
                   : complain_golden(r->expect_path, produced, fault);
    }
    if (r->expect.format == FILE_FORMAT_RAW && describe_raw_expect(r, fault))
        return blame(fault, "expect");
    return 0;
}

/* Reads the parameters that the job expects. */
static int read_wanted(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    const struct expectation *expect = &r->job->expect;
    const struct tensor_file *found = NULL;

    if (!expect->has_params)
        return 0;
    r->has_wanted = !r->wanted_path || !produced || !produced->without_golden ||
                    is_there(r->wanted_path, produced);
    if (!r->has_wanted)
        return 0; /* --update-golden will write the file */
    if (!r->wanted_path)
        return tensor_desc_copy(&r->wanted, &expect->golden.desc) ? fault_no_memory(fault) : 0;
    if (produced && produced_find(produced, r->wanted_path, &found))
        return fault_set(fault, FAULT_IO_ERROR, "/expect/params", "%s", strerror(errno));
    if (found && found->fd < 0)
        r->has_wanted = false; /* an earlier job will write the file */
    else if (params_load(&r->wanted, r->wanted_path, found ? found->fd : -1, fault)) {
        const struct fault why = *fault;

        fault_set(fault, why.code, "/expect/params", "expect.params: %s", why.text);
        return complain_golden(r->wanted_path, produced, fault);
    }
    return 0;
}

static int check_output(const char *output, const char *member, const char *input, const char *what,
                        struct fault *fault)
{
    if (!output || !input || strcmp(output, "-") == 0 || !place_same_file(output, input))
        return 0;
    char pointer[32], shown[PRINT_PATH_MAX];
    snprintf(pointer, sizeof(pointer), "/dst/%s", member);
    return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                     "dst.%s: %s is the same file as %s; an output must be a file of its own",
                     member, print_path(shown, output), what);
}

static int check_distinct(const struct resolved *r, const struct job_file *file,
                          struct fault *fault)
{
    const struct {
        const char *path, *what;
    } inputs[] = {{r->src_path, "src.file"},
                  {r->expect_path, "expect.file"},
                  {r->wanted_path, "expect.params"},
                  {file->is_file ? file->path : NULL, "the job file"}};
    for (size_t i = 0; i < sizeof(inputs) / sizeof(inputs[0]); i++) {
        if (check_output(r->dst_path, "file", inputs[i].path, inputs[i].what, fault) ||
            check_output(r->params_path, "params", inputs[i].path, inputs[i].what, fault))
            return -1;
    }
    return check_output(r->params_path, "params", r->dst_path, "dst.file", fault);
}

static int make_path(char **out, const struct job_file *file, const char *path, struct fault *fault)
{
    if (!path)
        return 0;
    *out = job_file_path(file, path);
    return *out ? 0 : fault_no_memory(fault);
}

static int make_paths(struct resolved *r, const struct job_file *file, struct fault *fault)
{
    const struct job_spec *job = r->job;

    if (make_path(&r->src_path, file, job->src.file, fault) ||
        make_path(&r->dst_path, file, job->dst.file, fault) ||
        make_path(&r->params_path, file, job->dst.params, fault) ||
        make_path(&r->expect_path, file, job->expect.golden.file, fault) ||
        make_path(&r->wanted_path, file, job->expect.golden.params, fault))
        return -1;
    return 0;
}

/* Copies the members that a job has both in a job file and on the wire, but not the tensors. */
static int begin_wire(struct resolved *r, struct fault *fault)
{
    const char *name = r->job->common.name;

    r->wire.common = r->job->common;
    r->wire.common.name = name ? strdup(name) : NULL;
    return name && !r->wire.common.name ? fault_no_memory(fault) : 0;
}

/* Checks the size of the request, which contains the per-axis parameters. */
static int check_wire(const struct resolved *r, struct fault *fault)
{
    struct jsonw w;
    struct fault why;

    jsonw_init(&w);
    job_wire_write(&w, NULL, &r->wire);
    const char *text = jsonw_text(&w);
    int status = 0;

    if (!text)
        status = fault_no_memory(fault);
    else if (json_check(text, w.length, &rpc_request_limits, &why) < 0)
        status = fault_set(fault, FAULT_INVALID_PARAMS, "/src",
                           "src: one request cannot hold its parameters: %s", why.text);
    jsonw_finish(&w);
    return status;
}

static int begin_outputs(struct resolved *r, const struct produced *produced, struct fault *fault)
{
    int (*begin)(struct output *, const char *, const char *, struct fault *) =
        produced && produced->memory ? output_init_memory : output_init;

    if (r->dst_buffer)
        return 0;
    if (begin(&r->output, r->dst_path, "/dst/file", fault))
        return -1;
    return r->params_path ? begin(&r->params, r->params_path, "/dst/params", fault) : 0;
}

int resolved_plan(struct resolved *r, const struct job_file *file, const struct job_spec *job,
                  const struct produced *produced, struct fault *fault)
{
    static const struct tensor_file closed = {.fd = -1};
    static const struct output unbegun = {.fd = -1, .directory = -1};

    *r = (struct resolved){.job = job,
                           .src = closed,
                           .before = closed,
                           .expect = closed,
                           .whole = closed,
                           .output = unbegun,
                           .params = unbegun};
    job_init(&r->wire);
    if (job->src.buffer)
        r->src_buffer = &file->list.buffers[job->src.buffer_index];
    if (job->dst.buffer)
        r->dst_buffer = &file->list.buffers[job->dst.buffer_index];
    if (make_paths(r, file, fault) || begin_wire(r, fault) || open_src(r, produced, fault) ||
        check_distinct(r, file, fault) || open_before(r, produced, fault) ||
        resolved_find_layout(r, fault) || open_expect(r, produced, fault) ||
        read_wanted(r, produced, fault) || check_wire(r, fault))
        return -1;
    return 0;
}

int resolved_init(struct resolved *r, const struct job_file *file, const struct job_spec *job,
                  const struct produced *produced, struct fault *fault)
{
    return resolved_plan(r, file, job, produced, fault) || begin_outputs(r, produced, fault) ? -1
                                                                                             : 0;
}

int resolved_produce(const struct resolved *r, struct produced *produced, struct fault *fault)
{
    if (r->job->expect.kind == EXPECT_ERROR || r->dst_buffer)
        return 0;
    static const struct tensor_file params = {.fd = -1, .format = FILE_FORMAT_RAW};
    int error = produced_add(produced, r->dst_path, &r->whole, -1);
    if (!error && r->params_path)
        error = produced_add(produced, r->params_path, &params, -1);
    return error ? fault_set(fault, FAULT_IO_ERROR, NULL, "cannot keep the output: %s",
                             strerror(-error))
                 : 0;
}

void resolved_finish(struct resolved *r)
{
    output_finish(&r->output);
    output_finish(&r->params);
    tensor_file_close(&r->src);
    tensor_file_close(&r->before);
    tensor_file_close(&r->expect);
    job_finish(&r->wire);
    free(r->src_path);
    free(r->dst_path);
    free(r->params_path);
    free(r->expect_path);
    free(r->wanted_path);
    tensor_desc_finish(&r->wanted);
    *r = (struct resolved){.output = {.fd = -1, .directory = -1}};
}
