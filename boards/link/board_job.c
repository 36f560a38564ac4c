/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a resolved job on a board: sends the source, unless it is on the board already; moves;
 * fetches the destination. Sends and fetches per-axis parameters in the same steps. A function that
 * returns int returns 0, or -1 with the fault.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boards/link/board_link.h"
#include "cli/file/calls.h"
#include "cli/job/explained.h"
#include "cli/term/clock_ns.h"
#include "mli_explain.h"
#include "mli_helpers_api.h"
#include "proto/wire/xxh64.h"

/* One side of a job: bytes [range.begin, range.end) behind the first element, in a buffer. */
struct board_side {
    mli_byte_range range;
    uint16_t buffer;
    int64_t offset; /* offset of the first element in the buffer */
    bool temporary; /* true: free the buffer when the job ends */
    uint8_t *bytes; /* bytes of the range; owned; null for a buffer of the job file */
    struct board_cached *cached;
};

struct board_job {
    struct board_link *link;
    const struct resolved *r;
    mli_explanation move;
    struct board_side src, dst;
    struct quant own;   /* parameters of the result, per axis */
    uint16_t params;    /* buffer with the parameters of both sides; or SERIAL_NO_BUFFER */
    uint32_t src_count; /* entries of the source's parameters */
};

static uint64_t digest_of(const void *bytes, size_t size)
{
    struct xxh64 x;

    xxh64_init(&x);
    xxh64_add(&x, bytes, size);
    return xxh64_value(&x);
}

/* Returns the entry with these bytes, or null. */
static struct board_cached *find_cached(struct board_cache *cache, const void *bytes, size_t size)
{
    const uint64_t digest = digest_of(bytes, size);

    for (size_t i = 0; i < BOARD_CACHE_MAX; i++) {
        struct board_cached *entry = &cache->list[i];

        if (entry->buffer == SERIAL_NO_BUFFER || entry->digest != digest || entry->bytes != size)
            continue;
        entry->used = ++cache->clock;
        return entry;
    }
    return NULL;
}

/* Frees the entry that was not used for the longest time. Returns it, or null if all are pinned. */
static struct board_cached *evict(struct board_cache *cache, struct board *board,
                                  struct fault *fault)
{
    struct board_cached *oldest = NULL;

    for (size_t i = 0; i < BOARD_CACHE_MAX; i++) {
        struct board_cached *entry = &cache->list[i];

        if (entry->buffer != SERIAL_NO_BUFFER && !entry->pinned &&
            (!oldest || entry->used < oldest->used))
            oldest = entry;
    }
    if (!oldest || board_free(board, oldest->buffer, fault))
        return NULL;
    oldest->buffer = SERIAL_NO_BUFFER;
    return oldest;
}

static struct board_cached *find_room(struct board_cache *cache, struct board *board)
{
    struct fault ignored;

    for (size_t i = 0; i < BOARD_CACHE_MAX; i++) {
        if (cache->list[i].buffer == SERIAL_NO_BUFFER)
            return &cache->list[i];
    }
    return evict(cache, board, &ignored);
}

/*
 * Hands a buffer with these bytes over to the cache. Frees an old entry if all are in use, or
 * the buffer itself if all are pinned. Returns its entry, or null if it was freed.
 */
static struct board_cached *add_cached(struct board_cache *cache, struct board *board,
                                       uint16_t buffer, const void *bytes, size_t size)
{
    struct board_cached *entry = find_room(cache, board);
    struct fault ignored;

    if (!entry) {
        (void)board_free(board, buffer, &ignored);
        return NULL;
    }
    *entry = (struct board_cached){.buffer = buffer,
                                   .bytes = size,
                                   .digest = digest_of(bytes, size),
                                   .crc = serial_crc32(0, bytes, size),
                                   .used = ++cache->clock};
    return entry;
}

int board_cache_alloc(struct board_cache *cache, struct board *board, uint64_t bytes,
                      uint16_t *buffer, struct fault *fault)
{
    struct fault ignored;

    while (board_alloc(board, bytes, buffer, fault)) {
        const bool full =
            board->result == SERIAL_RESULT_NO_MEMORY || board->result == SERIAL_RESULT_NO_SLOT;

        if (board->lost || !full || !evict(cache, board, &ignored))
            return -1;
    }
    return 0;
}

/* Parameters per axis of a job on a board. */

enum {
    PARAMS_BYTES = 5, /* parameters of one index of the axis: scale, zero point, fractional bits */
    BITS_PER_BYTE = 8
};

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

/* Prepares the parameters of the result: `own`, which the caller frees, and `src_count`. */
static int params_init(struct board_job *job, struct fault *fault)
{
    if (explained_own_parameters(job->r, &job->own, fault))
        return -1;
    job->src_count = job->own.axis < 0 ? 0 : job->r->wire.src.desc.quant.count;
    const uint32_t kept = job->own.axis < 0 ? 0 : job->r->wire.common.cfg.dst_offset[job->own.axis];
    return job_preset_params(&job->own, &job->r->wire.dst.desc.quant, kept, fault);
}

/* Writes parameters as the board has them: three arrays, little-endian. */
static void put_params(uint8_t *out, const struct quant *quant)
{
    for (uint32_t i = 0; i < quant->count; i++) {
        uint8_t *scale = out + 2 * (size_t)i, *zero = scale + 2 * (size_t)quant->count;

        scale[0] = (uint8_t)quant->scale[i];
        scale[1] = (uint8_t)((uint16_t)quant->scale[i] >> BITS_PER_BYTE);
        zero[0] = (uint8_t)quant->zero_point[i];
        zero[1] = (uint8_t)((uint16_t)quant->zero_point[i] >> BITS_PER_BYTE);
        out[4 * (size_t)quant->count + i] = (uint8_t)quant->scale_frac_bits[i];
    }
}

static void get_params(struct quant *quant, const uint8_t *in)
{
    for (uint32_t i = 0; i < quant->count; i++) {
        const uint8_t *scale = in + 2 * (size_t)i, *zero = scale + 2 * (size_t)quant->count;

        quant->scale[i] = (int16_t)(scale[0] | scale[1] << BITS_PER_BYTE);
        quant->zero_point[i] = (int16_t)(zero[0] | zero[1] << BITS_PER_BYTE);
        quant->scale_frac_bits[i] = (int8_t)in[4 * (size_t)quant->count + i];
    }
}

/* Returns the offset of the destination's parameters, which follow the source's parameters. */
static uint32_t params_dst_at(const struct board_job *job)
{
    return (job->src_count * PARAMS_BYTES + 1) & ~UINT32_C(1);
}

/* Sends the parameters of both sides, if they are per axis. */
static int params_send(struct board_job *job, struct fault *fault)
{
    const uint32_t at = params_dst_at(job);
    const size_t size = at + (size_t)job->own.count * PARAMS_BYTES;
    struct board *board = &job->link->board;

    if (job->own.axis < 0)
        return 0;
    uint8_t *bytes = calloc(1, size);
    if (!bytes)
        return fault_no_memory(fault);
    put_params(bytes, &job->r->wire.src.desc.quant);
    put_params(bytes + at, &job->own);
    int status = board_cache_alloc(&job->link->cache, board, size, &job->params, fault);
    if (status == 0)
        status = board_write(board, job->params, 0, bytes, size, fault);
    free(bytes);
    return status;
}

/* Reads the parameters of the result, if they are per axis, into `own`. */
static int params_fetch(struct board_job *job, struct fault *fault)
{
    const size_t size = (size_t)job->own.count * PARAMS_BYTES;

    if (job->own.axis < 0)
        return 0;
    uint8_t *bytes = malloc(size);
    if (!bytes)
        return fault_no_memory(fault);
    const int status =
        board_read(&job->link->board, job->params, params_dst_at(job), bytes, size, fault);
    if (status == 0)
        get_params(&job->own, bytes);
    free(bytes);
    return status;
}

/* The source and the destination of a job on a board. */

enum { UNWRITTEN = 0xa5 }; /* a byte that the move must overwrite */

static size_t size_of(const struct board_side *side)
{
    return (size_t)(side->range.end - side->range.begin);
}

/* Reads bytes of a file. Bytes beyond the end of the file become zeros. */
static int read_file(int fd, uint8_t *out, size_t size, uint64_t offset, const char *pointer,
                     struct fault *fault)
{
    const ssize_t got = read_bytes(fd, out, size, (off_t)offset);

    if (got < 0)
        return fault_set(fault, FAULT_IO_ERROR, pointer, "%s: %s", pointer + 1, strerror(errno));
    memset(out + got, 0, size - (size_t)got);
    return 0;
}

static int check_size(const struct board_job *job, const struct board_side *side,
                      const char *pointer, struct fault *fault)
{
    const struct serial_hello *hello = &job->link->board.hello;

    if (side->range.end - side->range.begin <= hello->memory_bytes)
        return 0;
    return fault_set(fault, FAULT_NO_ROOM, pointer,
                     "%s: the job needs %" PRIu64 " B of it on the board %s, which has %" PRIu64
                     " B for tensors; move a part of the tensor",
                     pointer + 1, side->range.end - side->range.begin, hello->board,
                     hello->memory_bytes);
}

/* Loads the bytes of a source or destination that is in a file. */
static int load(struct board_job *job, struct board_side *side, int fd, uint64_t first,
                const char *pointer, struct fault *fault)
{
    if (check_size(job, side, pointer, fault))
        return -1;
    side->offset = -(int64_t)side->range.begin;
    side->bytes = malloc(size_of(side) > 0 ? size_of(side) : 1);
    if (!side->bytes)
        return fault_no_memory(fault);
    return fd < 0 ? 0
                  : read_file(fd, side->bytes, size_of(side), first + side->range.begin, pointer,
                              fault);
}

/* Uses a copy of the source that is on the board, after checking that it is intact. */
static int reuse(struct board_job *job, struct board_cached *entry, struct fault *fault)
{
    struct board *board = &job->link->board;
    uint32_t crc;

    entry->pinned = true;
    job->src.cached = entry;
    job->src.buffer = entry->buffer;
    if (board_digest(board, entry->buffer, 0, entry->bytes, &crc, fault))
        return -1;
    if (crc == entry->crc)
        return 0;
    return fault_set(fault, FAULT_IO_ERROR, "/src",
                     "src: its copy on the board %s has changed: an earlier transfer has written "
                     "outside of its destination",
                     board->hello.board);
}

/* Sends the source to the board, unless the board has it already. */
static int side_place_source(struct board_job *job, struct fault *fault)
{
    const struct resolved *r = job->r;
    struct board_side *src = &job->src;
    struct board *board = &job->link->board;

    if (r->src_buffer) {
        src->buffer = (uint16_t)r->wire.src.buffer;
        src->offset = (int64_t)r->wire.src.offset;
        return 0;
    }
    if (load(job, src, r->src.fd, r->wire.src.offset, "/src", fault))
        return -1;
    struct board_cached *known = find_cached(&job->link->cache, src->bytes, size_of(src));
    if (known)
        return reuse(job, known, fault);
    if (board_cache_alloc(&job->link->cache, board, size_of(src), &src->buffer, fault))
        return -1;
    src->temporary = true;
    board->progress.total += size_of(src);
    if (board_write(board, src->buffer, 0, src->bytes, size_of(src), fault))
        return -1;
    src->temporary = false;
    src->cached = add_cached(&job->link->cache, board, src->buffer, src->bytes, size_of(src));
    if (!src->cached)
        return fault_set(fault, FAULT_INTERNAL, NULL, "the board has no room for the source");
    src->cached->pinned = true;
    return 0;
}

static bool is_dense(const struct board_job *job)
{
    return job->move.plan.bytes == size_of(&job->dst);
}

/*
 * Makes a buffer for the destination, with the old bytes if the move does not overwrite all of
 * them.
 */
static int side_place_destination(struct board_job *job, struct fault *fault)
{
    const struct resolved *r = job->r;
    struct board_side *dst = &job->dst;
    struct board *board = &job->link->board;
    const bool keeps = !is_dense(job) && r->before.fd >= 0;

    if (r->dst_buffer) {
        dst->buffer = (uint16_t)r->wire.dst.buffer;
        dst->offset = (int64_t)r->wire.dst.offset;
        return 0;
    }
    if (load(job, dst, keeps ? r->output.fd : -1, r->wire.dst.offset, "/dst", fault) ||
        board_cache_alloc(&job->link->cache, board, size_of(dst), &dst->buffer, fault))
        return -1;
    dst->temporary = true;
    board->progress.total += (keeps ? 2 : 1) * (uint64_t)size_of(dst);
    if (keeps)
        return board_write(board, dst->buffer, 0, dst->bytes, size_of(dst), fault);
    return board_fill(board, dst->buffer, 0, size_of(dst), is_dense(job) ? UNWRITTEN : 0, fault);
}

/* Writes the destination into the output, and keeps it on the board as a source of later jobs. */
static int side_fetch_destination(struct board_job *job, struct fault *fault)
{
    const struct resolved *r = job->r;
    struct board_side *dst = &job->dst;
    struct board *board = &job->link->board;

    if (!dst->temporary)
        return 0;
    if (board_read(board, dst->buffer, 0, dst->bytes, size_of(dst), fault))
        return -1;
    if (write_bytes(r->output.fd, dst->bytes, size_of(dst),
                    (off_t)(r->wire.dst.offset + dst->range.begin)))
        return fault_set(fault, FAULT_IO_ERROR, "/dst", "dst: cannot write: %s", strerror(errno));
    dst->temporary = false;
    (void)add_cached(&job->link->cache, board, dst->buffer, dst->bytes, size_of(dst));
    return 0;
}

/* Frees the memory of a side, and its buffer on the board if the buffer is temporary. */
static void side_free(struct board_job *job, struct board_side *side)
{
    struct fault ignored;

    if (side->cached)
        side->cached->pinned = false;
    if (side->temporary)
        (void)board_free(&job->link->board, side->buffer, &ignored);
    free(side->bytes);
}

/* Checks */

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
    return 0;
}

/* Ranges */

/* Finds the bytes that the move reads and writes. */
static int explain(struct board_job *job, struct fault *fault)
{
    if (explained_move(&job->move, job->r, job->r->result.data.capacity, &job->own, fault))
        return -1;
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
        out->params_offset = is_src ? 0 : params_dst_at(job);
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
    const uint64_t bytes = r->src.header.data_size;
    mli_tensor src = {0};

    tensor_desc_to_mli(&r->wire.src.desc, &src);
    src.data.capacity = bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
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
    memcpy(dst->shape, layout->shape, sizeof(layout->shape));
    memcpy(dst->strides, layout->stride, sizeof(layout->stride));
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

    board->shielded = true; /* send the requests that clean up even after ^C or the deadline */
    side_free(job, &job->src);
    side_free(job, &job->dst);
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

    if (check(job->link, job->r, fault) || params_init(job, fault) || explain(job, fault) ||
        side_place_source(job, fault) || side_place_destination(job, fault) ||
        params_send(job, fault) || transfer(job, &layout, &status, fault) ||
        side_fetch_destination(job, fault) || params_fetch(job, fault))
        return -1;
    return fill_result(job, &layout, &status, result, fault);
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
