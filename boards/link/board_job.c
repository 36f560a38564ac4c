/* SPDX-License-Identifier: BSD-3-Clause */
/* A resolved job on a board. */
#include "boards/link/board_job.h"

#include <inttypes.h>
#include <string.h>

#include "cli/term/clock_ns.h"
#include "mli_helpers_api.h"

enum { BITS_PER_BYTE = 8 };

/* Checks */

static bool is_float(mli_element_type type)
{
    return type == MLI_EL_FP_16 || type == MLI_EL_FP_32;
}

static int check(const struct board_link *link, const struct resolved *r, struct fault *fault)
{
    const struct serial_hello *hello = &link->board.hello;
    const struct job *job = &r->wire;

    if (job->common.channels > hello->channels)
        return fault_set(fault, FAULT_LIMIT, "/channels",
                         "channels: %" PRIu32 " given, but the board %s has %u",
                         job->common.channels, hello->board, hello->channels);
    if (*job->src.memory || *job->dst.memory)
        return fault_set(fault, FAULT_INVALID_PARAMS,
                         *job->src.memory ? "/src/memory" : "/dst/memory",
                         "memory: \"%s\" given, but the board %s at a serial line has no named "
                         "memories; leave the member out",
                         *job->src.memory ? job->src.memory : job->dst.memory, hello->board);
    if (job->common.op == JOB_OP_PERMUTE && is_float(job->src.desc.type)) {
        fault_set(fault, FAULT_REFUSED, "/src/type", "src.type: no permute kernel moves %s",
                  element_type_name(job->src.desc.type));
        fault->status = MLI_STATUS_NOT_SUPPORTED;
        return -1;
    }
    return 0;
}

/* Ranges */

static uint32_t capacity_of(uint64_t bytes)
{
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static uint64_t source_bytes(const struct resolved *r)
{
    return r->src.header.data_size;
}

/* Finds the bytes that the move reads and writes. Addresses are invented: no data is read. */
static int explain(struct board_job *job, struct fault *fault)
{
    enum { SRC_ADDRESS = 1 << 12 };
    const struct resolved *r = job->r;
    mli_tensor src = {0}, dst = {0};

    tensor_desc_to_mli(&r->wire.src.desc, &src);
    src.data.mem.pi8 = (int8_t *)(uintptr_t)SRC_ADDRESS;
    src.data.capacity = capacity_of(source_bytes(r));
    dst.data.mem.pi8 = (int8_t *)((uintptr_t)1 << (sizeof(uintptr_t) * BITS_PER_BYTE - 1));
    dst.data.capacity = r->result.data.capacity;
    memcpy(dst.mem_stride, r->result.mem_stride, sizeof(dst.mem_stride));
    if (job->own.axis >= 0) {
        const uint32_t halves = job->own.count * (uint32_t)sizeof(int16_t);

        dst.el_params.sa.scale.mem.pi16 = job->own.scale;
        dst.el_params.sa.scale.capacity = halves;
        dst.el_params.sa.zero_point.mem.pi16 = job->own.zero_point;
        dst.el_params.sa.zero_point.capacity = halves;
        dst.el_params.sa.scale_frac_bits.mem.pi8 = job->own.scale_frac_bits;
        dst.el_params.sa.scale_frac_bits.capacity = job->own.count;
    }
    const mli_status status = mli_mov_explain(&src, &r->wire.common.cfg, &dst, &job->move);
    if (status != MLI_STATUS_OK)
        return fault_set_refused(fault, status, mli_last_error());
    job->src.range = job->move.read;
    job->dst.range = job->move.written;
    if (job->src.range.begin == job->src.range.end) /* the move writes only zeros */
        job->src.range = (mli_byte_range){0, job->move.elem};
    return 0;
}

/* The transfer */

static void describe(const struct board_job *job, struct serial_tensor *out,
                     const mli_tensor *tensor, const struct board_side *side)
{
    const bool sa = tensor->el_type == MLI_EL_SA_8 || tensor->el_type == MLI_EL_SA_32;

    *out = (struct serial_tensor){.type = (uint16_t)tensor->el_type,
                                  .rank = (uint8_t)tensor->rank,
                                  .buffer = side->buffer,
                                  .offset = side->offset,
                                  .capacity = tensor->data.capacity,
                                  .axis = SERIAL_NO_AXIS};
    memcpy(out->shape, tensor->shape, sizeof(out->shape));
    memcpy(out->stride, tensor->mem_stride, sizeof(out->stride));
    if (!sa) {
        out->frac_bits = tensor->el_params.fx.frac_bits;
    } else if (job->own.axis >= 0) {
        const bool is_src = side == &job->src;

        out->axis = (uint8_t)(is_src ? tensor->el_params.sa.dim : job->own.axis);
        out->params_buffer = job->params;
        out->params_offset = is_src ? 0 : board_params_dst_at(job);
        out->params_count = is_src ? job->src_count : job->own.count;
    } else {
        out->scale = tensor->el_params.sa.scale.mem.i16;
        out->zero_point = tensor->el_params.sa.zero_point.mem.i16;
        out->scale_frac_bits = tensor->el_params.sa.scale_frac_bits.mem.i8;
    }
}

static struct serial_move describe_move(const struct board_job *job)
{
    const struct resolved *r = job->r;
    const bool permute = r->wire.common.op == JOB_OP_PERMUTE;
    struct serial_move move = {.op = permute ? SERIAL_OP_PERMUTE : SERIAL_OP_MOVE,
                               .mode = permute ? SERIAL_MODE_SYNC : SERIAL_MODE_CALLBACK,
                               .channels = (uint8_t)r->wire.common.channels,
                               .cfg = r->wire.common.cfg};
    mli_tensor src = {0};

    tensor_desc_to_mli(&r->wire.src.desc, &src);
    src.data.capacity = capacity_of(source_bytes(r));
    describe(job, &move.src, &src, &job->src);
    describe(job, &move.dst, &r->result, &job->dst);
    return move;
}

static int judge(const struct board_job *job, const struct serial_status *status,
                 struct fault *fault)
{
    const char *board = job->link->board.hello.board;

    if (status->code == MLI_STATUS_OK)
        return 0;
    if (status->code == MLI_STATUS_CANCELLED)
        return fault_set(fault, FAULT_CANCELLED, NULL, "the job was cancelled");
    return fault_set(fault, FAULT_DMA_ERROR, NULL,
                     "DMA channel %" PRIu32 " of the board %s failed: descriptor %" PRIu32
                     " (%s), row %" PRIu64 "; at least %" PRIu64 " of %" PRIu64 " B are written",
                     status->channel, board, status->descriptor,
                     status->descriptor == 0 ? "copy" : "zero fill", status->row, status->bytes,
                     status->bytes_total);
}

static int transfer(struct board_job *job, struct serial_tensor *layout,
                    struct serial_status *status, struct fault *fault)
{
    const struct serial_move move = describe_move(job);
    struct board *board = &job->link->board;
    uint8_t number;

    if (board_start(board, &move, &number, layout, fault) ||
        board_finish(board, number, status, fault))
        return -1;
    return judge(job, status, fault);
}

/* The result */

static int fill_result(struct board_job *job, const struct serial_tensor *layout,
                       const struct serial_status *status, struct job_result *result,
                       struct fault *fault)
{
    const bool sa = layout->type == MLI_EL_SA_8 || layout->type == MLI_EL_SA_32;
    struct tensor_desc *dst = &result->dst;

    *result = (struct job_result){.job = ++job->link->jobs,
                                  .has_dst = true,
                                  .bytes = job->move.plan.bytes,
                                  .channels = job->r->wire.common.channels,
                                  .ns_moving = status->moving_ns};
    memcpy(result->engine, job->link->board.hello.engine, sizeof(result->engine) - 1);
    dst->has_type = dst->has_strides = true;
    dst->type = (mli_element_type)layout->type;
    dst->rank = dst->stride_count = layout->rank;
    memcpy(dst->shape, layout->shape, sizeof(dst->shape));
    memcpy(dst->strides, layout->stride, sizeof(dst->strides));
    dst->quant.axis = -1;
    if (!sa) {
        dst->quant.has_frac_bits = layout->type == MLI_EL_FX_8 || layout->type == MLI_EL_FX_16;
        dst->quant.frac_bits = layout->frac_bits;
        return 0;
    }
    if (job->own.axis >= 0) {
        dst->quant = job->own; /* the result owns the arrays from now on */
        job->own = (struct quant){.axis = -1};
        return 0;
    }
    if (quant_alloc(&dst->quant, 1))
        return fault_no_memory(fault);
    dst->quant.scale[0] = layout->scale;
    dst->quant.zero_point[0] = layout->zero_point;
    dst->quant.scale_frac_bits[0] = layout->scale_frac_bits;
    return 0;
}

static void finish(struct board_job *job)
{
    struct board *board = &job->link->board;
    struct fault ignored;

    board->shielded = true; /* after ^C or the deadline, too */
    board_side_free(job, &job->src);
    board_side_free(job, &job->dst);
    if (job->params != SERIAL_NO_BUFFER)
        (void)board_free(board, job->params, &ignored);
    board->shielded = false;
    board->deadline_ns = 0;
    quant_alloc(&job->own, 0);
}

static int run(struct board_job *job, struct job_result *result, struct fault *fault)
{
    struct serial_tensor layout;
    struct serial_status status;

    if (check(job->link, job->r, fault) || board_params_init(job, fault) || explain(job, fault) ||
        board_side_place_source(job, fault) || board_side_place_destination(job, fault) ||
        board_params_send(job, fault) || transfer(job, &layout, &status, fault) ||
        board_side_fetch_destination(job, fault) || board_params_fetch(job, fault))
        return -1;
    return fill_result(job, &layout, &status, result, fault);
}

static void count(struct board_link *link, int status, const struct job_result *result,
                  const struct fault *fault)
{
    if (status == 0) {
        link->done++;
        link->bytes_moved += result->bytes;
        histogram_add(&link->moving, result->ns_moving);
    } else if (fault->code == FAULT_CANCELLED) {
        link->cancelled++;
    } else {
        link->failed++;
    }
}

int board_link_run(struct board_link *link, const struct resolved *resolved,
                   struct job_result *result, struct fault *fault)
{
    const uint32_t timeout_ms = resolved->wire.common.timeout_ms;
    struct board_job job = {.link = link, .r = resolved, .params = SERIAL_NO_BUFFER};

    link->board.progress.done = link->board.progress.total = 0;
    link->board.deadline_ns = timeout_ms ? clock_ns() + (uint64_t)timeout_ms * CLOCK_NS_PER_MS : 0;
    const int status = run(&job, result, fault);
    finish(&job);
    count(link, status, result, fault);
    return status;
}
