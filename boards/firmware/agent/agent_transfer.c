/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/firmware/agent/agent.h"

#include <string.h>

#include "mli_explain.h"
#include "mli_kernels_api.h"

enum {
    STOP_MS = 1000,
    NS_PER_MS = 1000 * 1000,
    POLLS_PER_MS = 1000 /* without a clock, this many polls count as a millisecond */
};

/* The running transfers: the completion callback gets only a number. */
static struct agent_transfers *current;

void agent_transfers_init(struct agent_transfers *transfers, uint64_t (*now_ns)(void))
{
    memset(transfers, 0, sizeof(*transfers));
    transfers->now_ns = now_ns;
    current = transfers;
}

static uint64_t now(const struct agent_transfers *transfers)
{
    return transfers->now_ns ? transfers->now_ns() : 0;
}

static void on_end(int32_t cookie)
{
    struct agent_transfer *transfer = &current->list[(uint32_t)cookie % AGENT_TRANSFERS_MAX];

    transfer->end_ns = now(current);
    transfer->callbacks++;
}

/* Tensors */

static bool is_sa(mli_element_type type)
{
    return type == MLI_EL_SA_8 || type == MLI_EL_SA_32;
}

/* Points the per-axis parameters to their three arrays in a buffer. Returns false if they are not
 * inside it. */
static bool take_params(struct agent_memory *memory, const struct serial_tensor *from,
                        mli_tensor *tensor)
{
    const uint64_t count = from->params_count, halves = sizeof(int16_t) * count;
    uint8_t *at =
        agent_memory_at(memory, from->params_buffer, from->params_offset, 2 * halves + count);

    if (!at || ((uintptr_t)at & 1) || count == 0)
        return false;
    tensor->el_params.sa.dim = from->axis;
    tensor->el_params.sa.scale.mem.pi16 = (int16_t *)(void *)at;
    tensor->el_params.sa.scale.capacity = (uint32_t)halves;
    tensor->el_params.sa.zero_point.mem.pi16 = (int16_t *)(void *)(at + halves);
    tensor->el_params.sa.zero_point.capacity = (uint32_t)halves;
    tensor->el_params.sa.scale_frac_bits.mem.pi8 = (int8_t *)(at + 2 * halves);
    tensor->el_params.sa.scale_frac_bits.capacity = (uint32_t)count;
    return true;
}

/* Makes libmli's tensor. Returns false if a buffer does not exist or is too small. */
static bool take_tensor(struct agent_memory *memory, const struct serial_tensor *from,
                        mli_tensor *tensor)
{
    const struct agent_buffer *buffer = agent_memory_buffer(memory, from->buffer);

    memset(tensor, 0, sizeof(*tensor));
    if (!buffer)
        return false;
    /* The first elements, which the move does not read, may be outside of the buffer. */
    tensor->data.mem.pi8 =
        (int8_t *)((uintptr_t)memory->base + buffer->begin + (uintptr_t)from->offset);
    tensor->data.capacity = from->capacity;
    tensor->rank = from->rank;
    tensor->el_type = (mli_element_type)from->type;
    memcpy(tensor->shape, from->shape, sizeof(tensor->shape));
    memcpy(tensor->mem_stride, from->stride, sizeof(tensor->mem_stride));
    if (!is_sa(tensor->el_type)) {
        tensor->el_params.fx.frac_bits = from->frac_bits;
        return true;
    }
    if (from->axis != SERIAL_NO_AXIS)
        return take_params(memory, from, tensor);
    tensor->el_params.sa.dim = -1;
    tensor->el_params.sa.scale.mem.i16 = from->scale;
    tensor->el_params.sa.zero_point.mem.i16 = from->zero_point;
    tensor->el_params.sa.scale_frac_bits.mem.i8 = from->scale_frac_bits;
    return true;
}

/* Describes a destination after the move. */
static void describe(const mli_tensor *tensor, struct serial_tensor *out)
{
    out->type = (uint16_t)tensor->el_type;
    out->rank = (uint8_t)tensor->rank;
    memcpy(out->shape, tensor->shape, sizeof(out->shape));
    memcpy(out->stride, tensor->mem_stride, sizeof(out->stride));
    out->axis = SERIAL_NO_AXIS;
    if (!is_sa(tensor->el_type)) {
        out->frac_bits = tensor->el_params.fx.frac_bits;
    } else if (tensor->el_params.sa.dim >= 0) {
        out->axis = (uint8_t)tensor->el_params.sa.dim;
    } else {
        out->scale = tensor->el_params.sa.scale.mem.i16;
        out->zero_point = tensor->el_params.sa.zero_point.mem.i16;
        out->scale_frac_bits = tensor->el_params.sa.scale_frac_bits.mem.i8;
    }
}

/* Returns whether bytes [begin, end) behind a tensor's first element are inside its buffer. */
static bool is_inside(struct agent_memory *memory, const struct serial_tensor *tensor,
                      mli_byte_range range)
{
    const struct agent_buffer *buffer = agent_memory_buffer(memory, tensor->buffer);

    if (range.begin == range.end)
        return true;
    if (range.begin > INT64_MAX || range.end > INT64_MAX || tensor->offset > INT64_MAX / 2 ||
        tensor->offset < INT64_MIN / 2)
        return false;
    return tensor->offset + (int64_t)range.begin >= 0 &&
           tensor->offset + (int64_t)range.end <= (int64_t)buffer->bytes;
}

/* Checks what the move accesses, so that a wrong request cannot harm the agent. */
static enum serial_result check(struct agent_memory *memory, const struct serial_move *move,
                                const mli_tensor *src, const mli_tensor *dst, mli_status *status)
{
    static mli_explanation explanation; /* too large for the stack of a small board */

    *status = mli_mov_explain(src, &move->cfg, dst, &explanation);
    if (*status != MLI_STATUS_OK)
        return SERIAL_RESULT_REFUSED;
    if (is_inside(memory, &move->src, explanation.read) &&
        is_inside(memory, &move->dst, explanation.written))
        return SERIAL_RESULT_DONE;
    return SERIAL_RESULT_NO_BUFFER;
}

/* Transfers */

static mli_status permute(const mli_tensor *src, const mli_mov_cfg_t *cfg, mli_tensor *dst)
{
    mli_permute_cfg permutation;

    memcpy(permutation.perm_dim, cfg->perm_dim, sizeof(permutation.perm_dim));
    switch (src->el_type) {
    case MLI_EL_FX_8:
        return mli_krn_permute_fx8(src, &permutation, dst);
    case MLI_EL_FX_16:
        return mli_krn_permute_fx16(src, &permutation, dst);
    case MLI_EL_SA_8:
        return mli_krn_permute_sa8(src, &permutation, dst);
    default:
        return mli_krn_permute_sa32(src, &permutation, dst);
    }
}

static mli_status run_sync(const struct serial_move *move, struct agent_transfer *transfer,
                           const mli_tensor *src, mli_tensor *dst)
{
    const mli_status status = move->op == SERIAL_OP_PERMUTE
                                  ? permute(src, &move->cfg, dst)
                                  : mli_mov_tensor_sync(src, &move->cfg, dst);

    transfer->sync = true;
    transfer->end_ns = now(current);
    transfer->status.stage = MLI_MOV_DONE;
    transfer->status.code = status;
    /* After MLI_STATUS_DMA_ERROR the transfer exists and has this status; after any other error the
       move was refused, so there is no transfer. */
    return status == MLI_STATUS_DMA_ERROR ? MLI_STATUS_OK : status;
}

static mli_status run_async(const struct serial_move *move, struct agent_transfer *transfer,
                            const mli_tensor *src, mli_tensor *dst)
{
    const int32_t cookie = (int32_t)(transfer - current->list);
    mli_status status = mli_mov_acquire_handle(move->channels, &transfer->handle);

    if (status != MLI_STATUS_OK)
        return status;
    if (move->mode == SERIAL_MODE_CALLBACK)
        status = mli_mov_registercallback(&transfer->handle, on_end, cookie);
    if (status == MLI_STATUS_OK)
        status = mli_mov_prepare(&transfer->handle, src, &move->cfg, dst);
    if (status == MLI_STATUS_OK) {
        transfer->begin_ns = now(current);
        status = mli_mov_start(&transfer->handle, src, &move->cfg, dst);
    }
    if (status != MLI_STATUS_OK)
        (void)mli_mov_release_handle(&transfer->handle);
    return status;
}

static struct agent_transfer *find_free(struct agent_transfers *transfers, uint8_t *number)
{
    for (uint8_t i = 0; i < AGENT_TRANSFERS_MAX; i++) {
        if (!transfers->list[i].used) {
            *number = i;
            return &transfers->list[i];
        }
    }
    return NULL;
}

enum serial_result agent_transfer_start(struct agent_transfers *transfers,
                                        struct agent_memory *memory, struct serial_move *move,
                                        uint8_t *number, mli_status *status)
{
    struct agent_transfer *transfer = find_free(transfers, number);
    enum serial_result result;
    mli_tensor src, dst;

    *status = MLI_STATUS_OK;
    if (!transfer)
        return SERIAL_RESULT_NO_SLOT;
    if (move->op > SERIAL_OP_PERMUTE || move->mode > SERIAL_MODE_SYNC ||
        (move->op == SERIAL_OP_PERMUTE && move->mode != SERIAL_MODE_SYNC))
        return SERIAL_RESULT_MALFORMED;
    if (!take_tensor(memory, &move->src, &src) || !take_tensor(memory, &move->dst, &dst))
        return SERIAL_RESULT_NO_BUFFER;
    if (move->op == SERIAL_OP_MOVE) /* the move sets rank and shape of dst */
        dst.rank = 0;
    result = check(memory, move, &src, &dst, status);
    if (result != SERIAL_RESULT_DONE)
        return result;
    memset(transfer, 0, sizeof(*transfer));
    transfer->begin_ns = now(transfers);
    *status = move->mode == SERIAL_MODE_SYNC ? run_sync(move, transfer, &src, &dst)
                                             : run_async(move, transfer, &src, &dst);
    if (*status != MLI_STATUS_OK)
        return SERIAL_RESULT_REFUSED;
    transfer->used = true;
    transfer->buffers[0] = move->src.buffer;
    transfer->buffers[1] = move->dst.buffer;
    transfer->buffers[2] = move->src.params_buffer;
    transfer->buffers[3] = move->dst.params_buffer;
    describe(&dst, &move->dst);
    return SERIAL_RESULT_DONE;
}

struct agent_transfer *agent_transfer_find(struct agent_transfers *transfers, uint8_t number)
{
    if (number >= AGENT_TRANSFERS_MAX || !transfers->list[number].used)
        return NULL;
    return &transfers->list[number];
}

/* Waits at most `wait_ms` for the end; without a clock, about as long. */
static void wait_for_end(const struct agent_transfers *transfers, struct agent_transfer *transfer,
                         uint32_t wait_ms)
{
    const uint64_t begin = now(transfers), polls = (uint64_t)wait_ms * POLLS_PER_MS;

    for (uint64_t i = 0; !transfer->sync && !mli_mov_isdone(&transfer->handle); i++) {
        const bool over = transfers->now_ns
                              ? now(transfers) - begin >= (uint64_t)wait_ms * NS_PER_MS
                              : i >= polls;

        if (over)
            return;
    }
}

/*
 * After the end, waits for the callback, which may still run, and notes the time if the callback
 * did not.
 */
static void note_end(const struct agent_transfers *transfers, struct agent_transfer *transfer)
{
    if (transfer->sync || !mli_mov_isdone(&transfer->handle))
        return;
    (void)mli_mov_wait(&transfer->handle);
    if (transfer->end_ns == 0)
        transfer->end_ns = now(transfers);
}

void agent_transfer_status(struct agent_transfers *transfers, struct agent_transfer *transfer,
                           uint32_t wait_ms, struct serial_status *status)
{
    mli_mov_status_t found = {0};

    wait_for_end(transfers, transfer, wait_ms);
    note_end(transfers, transfer);
    *status = transfer->status;
    if (!transfer->sync && mli_mov_get_status(&transfer->handle, &found) == MLI_STATUS_OK) {
        status->stage = (uint8_t)found.stage;
        status->code = found.code;
        status->bytes = found.bytes;
        status->bytes_total = found.bytes_total;
        status->address = (uintptr_t)found.address;
        status->channel = found.channel;
        status->descriptor = found.descriptor;
        status->row = found.row;
    }
    status->moving_ns =
        transfer->end_ns > transfer->begin_ns ? transfer->end_ns - transfer->begin_ns : 0;
    status->callbacks = transfer->callbacks;
}

void agent_transfer_cancel(struct agent_transfer *transfer)
{
    if (!transfer->sync)
        (void)mli_mov_cancel(&transfer->handle);
}

bool agent_transfer_release(struct agent_transfer *transfer)
{
    if (!transfer->sync && mli_mov_release_handle(&transfer->handle) != MLI_STATUS_OK)
        return false;
    transfer->used = false;
    return true;
}

bool agent_transfers_use(const struct agent_transfers *transfers, uint16_t buffer)
{
    for (size_t i = 0; i < AGENT_TRANSFERS_MAX; i++) {
        const struct agent_transfer *transfer = &transfers->list[i];

        for (size_t k = 0; transfer->used && k < 4; k++) {
            if (transfer->buffers[k] == buffer)
                return true;
        }
    }
    return false;
}

bool agent_transfers_any(const struct agent_transfers *transfers)
{
    for (size_t i = 0; i < AGENT_TRANSFERS_MAX; i++) {
        if (transfers->list[i].used)
            return true;
    }
    return false;
}

bool agent_transfers_stop(struct agent_transfers *transfers)
{
    bool stopped = true;

    for (size_t i = 0; i < AGENT_TRANSFERS_MAX; i++) {
        struct agent_transfer *transfer = &transfers->list[i];

        if (!transfer->used)
            continue;
        agent_transfer_cancel(transfer);
        wait_for_end(transfers, transfer, STOP_MS);
        stopped &= agent_transfer_release(transfer);
    }
    return stopped;
}
