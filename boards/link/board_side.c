/* SPDX-License-Identifier: BSD-3-Clause */
/* The source and the destination of a job on a board. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "boards/link/board_job.h"

enum { UNWRITTEN = 0xa5 }; /* a byte that the move must overwrite */

static size_t size_of(const struct board_side *side)
{
    return (size_t)(side->range.end - side->range.begin);
}

/* Reads bytes of a file. Bytes behind its end become zeros. */
static int read_file(int fd, uint8_t *out, size_t size, uint64_t offset, const char *pointer,
                     struct fault *fault)
{
    while (size > 0) {
        const ssize_t got = pread(fd, out, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return fault_set(fault, FAULT_IO_ERROR, pointer, "%s: %s", pointer + 1,
                             strerror(errno));
        if (got == 0) {
            memset(out, 0, size);
            break;
        }
        out += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
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

/* Loads the bytes of a side that is in a file. */
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

int board_side_place_source(struct board_job *job, struct fault *fault)
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
    struct board_cached *known = board_cache_find(&job->link->cache, src->bytes, size_of(src));
    if (known)
        return reuse(job, known, fault);
    if (board_cache_alloc(&job->link->cache, board, size_of(src), &src->buffer, fault))
        return -1;
    src->temporary = true;
    board->progress.total += size_of(src);
    if (board_write(board, src->buffer, 0, src->bytes, size_of(src), fault))
        return -1;
    src->temporary = false;
    src->cached = board_cache_add(&job->link->cache, board, src->buffer, src->bytes, size_of(src));
    if (!src->cached)
        return fault_set(fault, FAULT_INTERNAL, NULL, "the board has no room for the source");
    src->cached->pinned = true;
    return 0;
}

static bool is_dense(const struct board_job *job)
{
    return job->move.plan.bytes == size_of(&job->dst);
}

int board_side_place_destination(struct board_job *job, struct fault *fault)
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

int board_side_fetch_destination(struct board_job *job, struct fault *fault)
{
    const struct resolved *r = job->r;
    struct board_side *dst = &job->dst;
    struct board *board = &job->link->board;

    if (!dst->temporary)
        return 0;
    if (board_read(board, dst->buffer, 0, dst->bytes, size_of(dst), fault))
        return -1;
    for (size_t done = 0; done < size_of(dst);) {
        const ssize_t put = pwrite(r->output.fd, dst->bytes + done, size_of(dst) - done,
                                   (off_t)(r->wire.dst.offset + dst->range.begin + done));

        if (put < 0 && errno != EINTR)
            return fault_set(fault, FAULT_IO_ERROR, "/dst", "dst: %s", strerror(errno));
        done += put > 0 ? (size_t)put : 0;
    }
    dst->temporary = false;
    (void)board_cache_add(&job->link->cache, board, dst->buffer, dst->bytes, size_of(dst));
    return 0;
}

void board_side_free(struct board_job *job, struct board_side *side)
{
    struct fault ignored;

    if (side->cached)
        side->cached->pinned = false;
    if (side->temporary)
        (void)board_free(&job->link->board, side->buffer, &ignored);
    free(side->bytes);
}
