/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/link/serial_board.h"

#include <inttypes.h>
#include <string.h>

#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

enum {
    CHUNK_MIN = 64,
    CLEAN_CALLS = 32,   /* calls without a retry, after which chunks grow again */
    FILL_MAX = 8 << 20, /* bytes that a board fills or sums up in one call */
    FILL_MS = 10000,    /* for that */
    WAIT_MS = 50,       /* that the agent waits in one call */
    STUCK_MS = 2000,    /* for the end of a cancelled transfer */
    HEADER_BYTES = 10   /* of the payload of write, before the bytes */
};

int board_alloc(struct board *board, uint64_t bytes, uint16_t *buffer, struct fault *fault)
{
    struct serial_packet *packet = board_request(board, SERIAL_ALLOC);
    struct serial_reader reader;

    serial_put_u64(packet, bytes);
    serial_put_u32(packet, 0);
    if (board_call(board, 0, &reader, fault)) {
        if (board->result == SERIAL_RESULT_NO_MEMORY && !board->lost)
            fault_set(fault, FAULT_NO_ROOM, NULL,
                      "%s: no room for %" PRIu64 " B in the %" PRIu64
                      " B for tensors of the board %s; use smaller tensors",
                      board->line.where, bytes, board->hello.memory_bytes, board->hello.board);
        return -1;
    }
    *buffer = serial_get_u16(&reader);
    (void)serial_get_u64(&reader); /* its address */
    return serial_reader_done(&reader) ? 0 : board_unreadable(board, fault);
}

int board_free(struct board *board, uint16_t buffer, struct fault *fault)
{
    struct serial_reader reader;

    serial_put_u16(board_request(board, SERIAL_FREE), buffer);
    return board_call(board, 0, &reader, fault);
}

/* Adapts the size of chunks to the errors of the line. */
static void adapt(struct board *board, uint64_t retries)
{
    const size_t most = (size_t)board->hello.payload_max - 16;

    board->clean = board->retries > retries ? 0 : board->clean + 1;
    if (board->retries > retries && board->chunk / 2 >= CHUNK_MIN)
        board->chunk /= 2;
    if (board->clean < CLEAN_CALLS)
        return;
    board->clean = 0;
    board->chunk = 2 * board->chunk < most ? 2 * board->chunk : most;
}

static void advance(struct board *board, size_t bytes)
{
    struct board_progress *progress = &board->progress;

    progress->done += bytes;
    if (progress->show)
        progress->show(progress->context, progress->done, progress->total);
}

/*
 * Sends the request that `put` makes for up to board->chunk bytes, in smaller chunks if the line
 * loses them. Writing and reading twice does no harm. Sets *size to the bytes of the request.
 */
static int call_chunk(struct board *board,
                      void (*put)(struct board *board, const void *job, size_t size),
                      const void *job, size_t *size, struct serial_reader *reader,
                      struct fault *fault)
{
    const size_t left = *size;

    for (;;) {
        const uint64_t retries = board->retries;
        const bool last = board->chunk / 2 < CHUNK_MIN;

        *size = left < board->chunk ? left : board->chunk;
        put(board, job, *size);
        const int status =
            last ? board_call(board, 0, reader, fault) : board_try(board, reader, fault);
        if (status < 0)
            return -1;
        adapt(board, status ? retries - 1 : retries);
        if (status == 0)
            return 0;
    }
}

/* Bytes of a buffer to write or read. */
struct bytes {
    uint16_t buffer;
    uint64_t offset;
    const uint8_t *from;
};

static void put_write(struct board *board, const void *job, size_t size)
{
    const struct bytes *bytes = job;
    struct serial_packet *packet = board_request(board, SERIAL_WRITE);

    serial_put_u16(packet, bytes->buffer);
    serial_put_u64(packet, bytes->offset);
    serial_put_bytes(packet, bytes->from, size);
}

static void put_read(struct board *board, const void *job, size_t size)
{
    const struct bytes *bytes = job;
    struct serial_packet *packet = board_request(board, SERIAL_READ);

    serial_put_u16(packet, bytes->buffer);
    serial_put_u64(packet, bytes->offset);
    serial_put_u16(packet, (uint16_t)size);
}

int board_write(struct board *board, uint16_t buffer, uint64_t offset, const void *from,
                size_t size, struct fault *fault)
{
    struct serial_reader reader;

    for (size_t done = 0, part; done < size; done += part) {
        const struct bytes bytes = {buffer, offset + done, (const uint8_t *)from + done};

        part = size - done;
        if (call_chunk(board, put_write, &bytes, &part, &reader, fault))
            return -1;
        advance(board, part);
    }
    return 0;
}

int board_read(struct board *board, uint16_t buffer, uint64_t offset, void *to, size_t size,
               struct fault *fault)
{
    struct serial_reader reader;

    for (size_t done = 0, part; done < size; done += part) {
        const struct bytes bytes = {.buffer = buffer, .offset = offset + done};

        part = size - done;
        if (call_chunk(board, put_read, &bytes, &part, &reader, fault))
            return -1;
        const uint8_t *found = serial_get_bytes(&reader, part);
        if (!found || !serial_reader_done(&reader))
            return board_unreadable(board, fault);
        memcpy((uint8_t *)to + done, found, part);
        advance(board, part);
    }
    return 0;
}

int board_fill(struct board *board, uint16_t buffer, uint64_t offset, uint64_t size, uint8_t value,
               struct fault *fault)
{
    struct serial_reader reader;

    for (uint64_t part; size > 0; size -= part, offset += part) {
        struct serial_packet *packet = board_request(board, SERIAL_FILL);

        part = size < FILL_MAX ? size : FILL_MAX;
        serial_put_u16(packet, buffer);
        serial_put_u64(packet, offset);
        serial_put_u64(packet, part);
        serial_put_u8(packet, value);
        if (board_call(board, part > SERIAL_PAYLOAD_MAX ? FILL_MS : 0, &reader, fault))
            return -1;
    }
    return 0;
}

int board_digest(struct board *board, uint16_t buffer, uint64_t offset, uint64_t size,
                 uint32_t *crc, struct fault *fault)
{
    struct serial_reader reader;

    *crc = 0;
    for (uint64_t part; size > 0; size -= part, offset += part) {
        struct serial_packet *packet = board_request(board, SERIAL_DIGEST);

        part = size < FILL_MAX ? size : FILL_MAX;
        serial_put_u16(packet, buffer);
        serial_put_u64(packet, offset);
        serial_put_u64(packet, part);
        serial_put_u32(packet, *crc);
        if (board_call(board, part > SERIAL_PAYLOAD_MAX ? FILL_MS : 0, &reader, fault))
            return -1;
        *crc = serial_get_u32(&reader);
        if (!serial_reader_done(&reader))
            return board_unreadable(board, fault);
    }
    return 0;
}

/* Transfers */

static int release(struct board *board, uint8_t transfer, struct fault *fault)
{
    struct serial_reader reader;

    serial_put_u8(board_request(board, SERIAL_RELEASE), transfer);
    return board_call(board, 0, &reader, fault);
}

/* Waits for the end of a synchronous move after the deadline or ^C, and forgets it. `fault` keeps
 * the reason, or names a stuck channel. Returns -1. */
static int end_sync(struct board *board, struct fault *fault)
{
    struct serial_reader reader;
    struct fault other;

    board->shielded = true;
    if (board_repeat(board, STUCK_MS, &reader, &other) == 0) {
        (void)release(board, serial_get_u8(&reader), &other);
    } else if (board->result == SERIAL_RESULT_DONE) {
        board->lost = true;
        fault_set(fault, FAULT_CHANNEL_STUCK, NULL,
                  "%s: a synchronous move does not end, and the agent of the board %s hangs in it: "
                  "a channel is stuck; reset the board",
                  board->line.where, board->hello.board);
    }
    board->shielded = false;
    return -1;
}

int board_start(struct board *board, const struct serial_move *move, uint8_t *transfer,
                struct serial_tensor *dst, struct fault *fault)
{
    struct serial_reader reader;

    serial_move_put(board_request(board, SERIAL_START), move);
    /* A permute, and a synchronous move, replies at its end. */
    if (board_call(board, move->mode == SERIAL_MODE_SYNC ? FILL_MS : 0, &reader, fault)) {
        const bool begun = fault->code == FAULT_TIMED_OUT || fault->code == FAULT_CANCELLED;

        return begun && move->mode == SERIAL_MODE_SYNC && !board->lost ? end_sync(board, fault)
                                                                       : -1;
    }
    *transfer = serial_get_u8(&reader);
    if (!serial_tensor_get(&reader, dst) || !serial_reader_done(&reader))
        return board_unreadable(board, fault);
    return 0;
}

static int ask_status(struct board *board, enum serial_request kind, uint8_t transfer,
                      struct serial_status *status, struct fault *fault)
{
    struct serial_packet *packet = board_request(board, kind);
    struct serial_reader reader;

    serial_put_u8(packet, transfer);
    if (kind == SERIAL_WAIT)
        serial_put_u16(packet, WAIT_MS);
    if (board_call(board, kind == SERIAL_WAIT ? WAIT_MS : 0, &reader, fault))
        return -1;
    return serial_status_get(&reader, status) ? 0 : board_unreadable(board, fault);
}

/* Cancels a transfer and waits for its end; `fault` keeps the reason, or names a stuck channel. */
static void give_up(struct board *board, uint8_t transfer, struct fault *fault)
{
    const uint64_t end = clock_ns() + (uint64_t)STUCK_MS * CLOCK_NS_PER_MS;
    struct serial_status status;
    struct fault other;

    if (board->lost)
        return;
    board->shielded = true;
    int failed = ask_status(board, SERIAL_CANCEL, transfer, &status, &other);
    while (!failed && status.stage != MLI_MOV_DONE && clock_ns() < end)
        failed = ask_status(board, SERIAL_WAIT, transfer, &status, &other);
    if (!failed && status.stage == MLI_MOV_DONE) {
        (void)release(board, transfer, &other);
    } else if (!failed) {
        board->lost = true;
        fault_set(fault, FAULT_CHANNEL_STUCK, NULL,
                  "%s: the transfer was cancelled, but channel %" PRIu32
                  " of the board %s is stuck; reset the board",
                  board->line.where, status.channel, board->hello.board);
    }
    board->shielded = false;
}

int board_finish(struct board *board, uint8_t transfer, struct serial_status *status,
                 struct fault *fault)
{
    do {
        if (ask_status(board, SERIAL_WAIT, transfer, status, fault)) {
            give_up(board, transfer, fault);
            return -1;
        }
    } while (status->stage != MLI_MOV_DONE);
    return release(board, transfer, fault);
}

/* Engines */

int board_stats(struct board *board, uint32_t channel, mli_mov_channel_stats *stats,
                struct fault *fault)
{
    struct serial_reader reader;

    serial_put_u8(board_request(board, SERIAL_STATS), (uint8_t)channel);
    if (board_call(board, 0, &reader, fault))
        return -1;
    return serial_stats_get(&reader, stats) ? 0 : board_unreadable(board, fault);
}

int board_set_engine(struct board *board, const char *spec, uint32_t channels, struct fault *fault)
{
    struct serial_packet *packet = board_request(board, SERIAL_ENGINE);
    struct serial_reader reader;
    char name[SERIAL_NAME_MAX];

    if (spec && strlen(spec) >= SERIAL_SPEC_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "--engine: at most %d characters are allowed", SERIAL_SPEC_MAX - 1);
    serial_put_u8(packet, (uint8_t)channels);
    serial_put_text(packet, spec ? spec : "");
    if (board_call(board, 0, &reader, fault)) {
        if (board->result == SERIAL_RESULT_REFUSED && !board->lost) {
            const struct fault bare = *fault;

            fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--engine %.100s: %s: %s",
                      spec ? spec : "(default)", board->line.where, bare.text);
        }
        return -1;
    }
    board->hello.channels = serial_get_u8(&reader);
    serial_get_text(&reader, name, sizeof(name));
    memcpy(board->hello.engine, name, sizeof(name));
    return serial_reader_done(&reader) ? 0 : board_unreadable(board, fault);
}

int board_engine_at(struct board *board, uint32_t index, char out[SERIAL_NAME_MAX],
                    struct fault *fault)
{
    struct serial_reader reader;

    serial_put_u8(board_request(board, SERIAL_ENGINES), (uint8_t)index);
    if (board_call(board, 0, &reader, fault))
        return -1;
    serial_get_text(&reader, out, SERIAL_NAME_MAX);
    return serial_reader_done(&reader) ? 0 : board_unreadable(board, fault);
}
