/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "boards/link/serial_board.h"
#include "cli/file/calls.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

enum {
    DAMAGES_PER_RETRY = 4,
    RETRIES = 10,     /* retries of a request */
    TRY_RETRIES = 2,  /* retries of a request before it is sent in smaller chunks */
    GREET_MS = 250,   /* time between two hello requests */
    SERIAL_MS = 4000, /* timeout of the first reply of a board on a serial line */
    QEMU_MS = 30000,  /* timeout of the first reply of a board that boots in QEMU */
    CHUNK = SERIAL_PAYLOAD_MAX - 16
};

/* Text that is no frame: the console of a boot loader or of a crash. */

static void note_text(struct board *board, uint8_t byte)
{
    const bool space = byte == '\n' || byte == '\r' || byte == ' ';

    if (byte != 0 && !space && !isprint(byte))
        return;
    if (space && (board->shown_size == 0 || board->shown[board->shown_size - 1] == ' '))
        return;
    if (byte == 0)
        return;
    if (board->shown_size == sizeof(board->shown) - 1)
        memmove(board->shown, board->shown + 1, --board->shown_size);
    board->shown[board->shown_size++] = space ? ' ' : (char)byte;
    board->shown[board->shown_size] = '\0';
}

/* Sending and receiving */

/* Bytes of a buffer to write or read. */
struct bytes {
    uint16_t buffer;
    uint64_t offset;
    const uint8_t *from;
};

static void add_to_frame(void *context, const uint8_t *bytes, size_t size)
{
    struct board *board = context;

    memcpy(board->frame + board->frame_size, bytes, size);
    board->frame_size += size;
}

/* Begins a request; the caller puts its payload into the packet. */
static struct serial_packet *request(struct board *board, enum serial_request kind)
{
    serial_packet_begin(&board->request, (uint8_t)kind, ++board->sequence,
                        kind == SERIAL_HELLO ? 0 : board->hello.boot);
    return &board->request;
}

static int send_frame(struct board *board, uint64_t until_ns, struct fault *fault)
{
    board->bytes_sent += board->frame_size;
    return board_line_send(&board->line, board->frame, board->frame_size, until_ns, board->shielded,
                           fault);
}

enum arrival { ARRIVED, TOO_LATE, DAMAGED, FAILED };

/* Returns what a received packet means for the pending request. */
static bool is_reply(const struct board *board)
{
    return board->reply.kind == (board->request.bytes[0] | SERIAL_REPLY) &&
           board->reply.sequence == board->sequence && board->reply.size > 0;
}

/* Decodes received bytes until the reply is complete. */
static enum arrival take_bytes(struct board *board)
{
    while (board->received_begin < board->received_end) {
        const uint8_t byte = board->received[board->received_begin++];

        note_text(board, byte);
        if (serial_decode(&board->in, byte, &board->reply) != SERIAL_PACKET)
            continue;
        board->shown_size = 0;
        board->shown[0] = '\0';
        board->echo |= board->reply.kind == board->request.bytes[0];
        if (board->reply.kind == SERIAL_DAMAGED)
            return DAMAGED;
        if (is_reply(board))
            return ARRIVED;
    }
    return TOO_LATE;
}

static enum arrival receive_reply(struct board *board, uint64_t until_ns, struct fault *fault)
{
    for (;;) {
        const enum arrival arrival = take_bytes(board);

        if (arrival != TOO_LATE)
            return arrival;
        const ssize_t got =
            board_line_receive(&board->line, board->received, sizeof(board->received), until_ns,
                               board->shielded, fault);
        if (got <= 0)
            return got == 0 ? TOO_LATE : FAILED;
        board->received_begin = 0;
        board->received_end = (size_t)got;
        board->bytes_received += (size_t)got;
    }
}

/* Returns a part of a message about a line on which no agent answers. */
static const char *hint(const struct board *board)
{
    if (board->echo)
        return "the line sends back what it gets: a loop, or a console that waits for commands";
    return board->shown_size > 0 ? "the line carries text, but no agent answers"
                                 : "check power, cable and baud, and that the agent runs";
}

static int explain_silence(struct board *board, uint32_t ms, struct fault *fault)
{
    const char *name = *board->hello.board ? board->hello.board : "no agent";
    const bool greeted = *board->hello.board;

    board->lost = true;
    if (greeted)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: the board %s does not answer for %" PRIu32
                         " ms (%s): it hangs, or the line is cut; reset the board%s%.60s%s",
                         board->line.where, name, ms, serial_request_name(board->request.bytes[0]),
                         board->shown_size ? ". Its last text: \"" : "", board->shown,
                         board->shown_size ? "\"" : "");
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "%s: %s answers for %" PRIu32 " ms: %s%s%.60s%s", board->line.where, name, ms,
                     hint(board), board->shown_size ? ": \"" : "", board->shown,
                     board->shown_size ? "\"" : "");
}

/* After a line is lost, all later calls fail. */
static int lose(struct board *board, const struct fault *fault)
{
    if (fault->code != FAULT_CANCELLED && fault->code != FAULT_TIMED_OUT)
        board->lost = true;
    return -1;
}

static int explain_result(struct board *board, struct serial_reader *reader, struct fault *fault)
{
    const char *request = serial_request_name(board->request.bytes[0]);
    char text[SERIAL_TEXT_MAX];

    if (board->result == SERIAL_RESULT_BOOT) {
        board->lost = true;
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: the board %s was reset, and its buffers are gone; run the command "
                         "again",
                         board->line.where, board->hello.board);
    }
    if (board->result == SERIAL_RESULT_REFUSED) {
        const mli_status status = (mli_status)serial_get_u32(reader);

        serial_get_text(reader, text, sizeof(text));
        return fault_set_refused(fault, status, text);
    }
    return fault_set(
        fault, board->result == SERIAL_RESULT_NO_MEMORY ? FAULT_NO_ROOM : FAULT_INTERNAL, NULL,
        "%s: %s: %s", board->line.where, request, serial_result_text((uint8_t)board->result));
}

/* Ends the wait for replies at the job's deadline. */
static uint64_t until(const struct board *board, uint32_t ms)
{
    const uint64_t end = clock_ns() + (uint64_t)ms * CLOCK_NS_PER_MS;

    return board->deadline_ns && board->deadline_ns < end && !board->shielded ? board->deadline_ns
                                                                              : end;
}

static bool is_overdue(const struct board *board)
{
    return board->deadline_ns && !board->shielded && clock_ns() >= board->deadline_ns;
}

static int overdue(struct fault *fault)
{
    return fault_set(fault, FAULT_TIMED_OUT, NULL, "the job was not done within its timeout_ms");
}

/* Makes the frame of the request. */
static int make_frame(struct board *board, struct fault *fault)
{
    board->frame_size = 0;
    if (!serial_packet_end(&board->request))
        return fault_set(fault, FAULT_INTERNAL, NULL, "%s: the request is too long",
                         board->line.where);
    serial_encode(board->request.bytes, board->request.length, add_to_frame, board);
    board->calls++;
    return 0;
}

/*
 * Sends the frame until a reply comes, 1 + `retries` times; more often if the agent reports damaged
 * frames, because the line is alive then. Returns 0, 1 if no reply came, or -1.
 */
static int exchange(struct board *board, uint32_t answer_ms, uint32_t retries, struct fault *fault)
{
    const uint32_t line_ms = board_line_ms(&board->line, board->frame_size + SERIAL_FRAME_MAX);
    uint32_t silences = 0, damages = 0;

    board->result = SERIAL_RESULT_DONE;
    while (silences <= retries && damages <= retries * DAMAGES_PER_RETRY) {
        const uint64_t until_ns = until(board, answer_ms + line_ms);

        board->retries += silences + damages > 0;
        const int status = send_frame(board, until_ns, fault);
        if (status < 0)
            return lose(board, fault);
        const enum arrival arrival = status > 0 ? TOO_LATE : receive_reply(board, until_ns, fault);
        if (arrival == ARRIVED)
            return 0;
        if (arrival == FAILED)
            return lose(board, fault);
        if (is_overdue(board))
            return overdue(fault);
        silences += arrival == TOO_LATE;
        damages += arrival == DAMAGED;
    }
    return 1;
}

static int take_result(struct board *board, struct serial_reader *reader, struct fault *fault)
{
    *reader = serial_reader_init(&board->reply);
    board->result = (enum serial_result)serial_get_u8(reader);
    return board->result == SERIAL_RESULT_DONE ? 0 : explain_result(board, reader, fault);
}

/* Checks that a call may begin. */
static int check_open(const struct board *board, struct fault *fault)
{
    if (board->lost)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: the connection to the board is lost",
                         board->line.where);
    if (!board->shielded && cancel_requested())
        return cancel_fault(fault);
    return is_overdue(board) ? overdue(fault) : 0;
}

/* Sends the last request once more, and waits for its reply. */
static int repeat(struct board *board, uint32_t answer_ms, struct serial_reader *reader,
                  struct fault *fault)
{
    const int status = exchange(board, answer_ms, 0, fault);

    return status ? -1 : take_result(board, reader, fault);
}

/* Like board_call(), with `retries` retries. Returns 1 if no reply came. */
static int try_call(struct board *board, uint32_t answer_ms, uint32_t retries,
                    struct serial_reader *reader, struct fault *fault)
{
    if (check_open(board, fault))
        return -1;
    const int status = make_frame(board, fault) ? -1 : exchange(board, answer_ms, retries, fault);
    return status ? status : take_result(board, reader, fault);
}

int board_call(struct board *board, uint32_t extra_ms, struct serial_reader *reader,
               struct fault *fault)
{
    const uint32_t answer_ms = board->line.address.timeout_ms + extra_ms;
    const int status = try_call(board, answer_ms, RETRIES, reader, fault);

    return status > 0 ? explain_silence(board, answer_ms * (RETRIES + 1), fault) : status;
}

/* Fills the fault for a reply whose form is not the expected one. Returns -1. */
static int unreadable(struct board *board, struct fault *fault)
{
    board->lost = true;
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "%s: the reply to %s has another form; the agent is of another version than "
                     "mlictl",
                     board->line.where, serial_request_name(board->request.bytes[0]));
}

/* Opening */

static int check_hello(struct board *board, struct fault *fault)
{
    const struct serial_hello *hello = &board->hello;

    if (hello->version != SERIAL_VERSION || board->reply.version != SERIAL_VERSION)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: the agent of %s speaks version %d of the protocol, mlictl version "
                         "%d; load the agent of this release",
                         board->line.where, hello->board, hello->version, SERIAL_VERSION);
    if (hello->flags & SERIAL_HELLO_BIG_ENDIAN)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: the board %s is big-endian; mlictl moves little-endian tensors only",
                         board->line.where, hello->board);
    if (hello->channels == 0)
        return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                         "%s: the engine \"%s\" of the board %s has no channel", board->line.where,
                         hello->engine, hello->board);
    board->chunk = hello->payload_max < CHUNK + 16 ? (size_t)hello->payload_max - 16 : CHUNK;
    return hello->payload_max > 64 ? 0 : unreadable(board, fault);
}

int board_greet(struct board *board, struct fault *fault)
{
    const uint64_t before = board->deadline_ns;
    const uint32_t patience_ms =
        board->line.address.kind == BOARD_QEMU
            ? QEMU_MS
            : SERIAL_MS + 2 * board_line_ms(&board->line, SERIAL_PAYLOAD_MAX);
    const uint64_t end = clock_ns() + (uint64_t)patience_ms * CLOCK_NS_PER_MS;
    const uint32_t number = random_number();
    struct serial_reader reader;
    struct serial_hello hello;
    int status;

    board->deadline_ns = 0;
    do {
        serial_put_u32(request(board, SERIAL_HELLO), number);
        status = make_frame(board, fault) ? -1 : exchange(board, GREET_MS, 0, fault);
    } while (status > 0 && clock_ns() < end);
    board->deadline_ns = before;
    if (status)
        return status < 0 ? -1 : explain_silence(board, patience_ms, fault);
    if (take_result(board, &reader, fault))
        return -1;
    if (!serial_hello_get(&reader, &hello))
        return unreadable(board, fault);
    board->hello = hello;
    return check_hello(board, fault);
}

int board_open(struct board *board, const char *url, struct fault *fault)
{
    struct board_address address;
    struct serial_reader reader;

    memset(board, 0, sizeof(*board));
    board->line.fd = board->line.errors = -1;
    board->sequence = (uint16_t)random_number();
    serial_decoder_init(&board->in);
    if (board_address_parse(&address, url, fault) ||
        board_line_open(&board->line, &address, fault) || board_greet(board, fault))
        return -1;
    request(board, SERIAL_RESET);
    if (board_call(board, 4 * board->line.address.timeout_ms, &reader, fault) == 0)
        return board_set_engine(board, *address.engine ? address.engine : NULL, address.channels,
                                fault);
    if (board->result != SERIAL_RESULT_BUSY)
        return -1;
    return fault_set(fault, FAULT_CHANNEL_STUCK, NULL,
                     "%s: a transfer of an earlier command does not end: a channel is stuck; reset "
                     "the board",
                     board->line.where);
}

void board_close(struct board *board)
{
    board_line_close(&board->line);
    board->lost = true;
}

enum {
    CHUNK_MIN = 64,
    CLEAN_CALLS = 32,   /* calls without a retry, after which chunks grow again */
    FILL_MAX = 8 << 20, /* bytes to fill, or for a CRC-32, in one request */
    FILL_MS = 10000,    /* time added to the timeout of long requests */
    WAIT_MS = 50,       /* time that the agent waits in one request */
    STUCK_MS = 2000,    /* timeout of the end of a cancelled transfer */
    HEADER_BYTES = 10   /* bytes of a write request's payload before the data */
};

int board_alloc(struct board *board, uint64_t bytes, uint16_t *buffer, struct fault *fault)
{
    struct serial_packet *packet = request(board, SERIAL_ALLOC);
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
    (void)serial_get_u64(&reader); /* address of the buffer */
    return serial_reader_done(&reader) ? 0 : unreadable(board, fault);
}

int board_free(struct board *board, uint16_t buffer, struct fault *fault)
{
    struct serial_reader reader;

    serial_put_u16(request(board, SERIAL_FREE), buffer);
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
 * Sends one request, which `put` writes, for up to board->chunk bytes. If the line loses requests,
 * sends smaller ones; to write or read the same bytes twice does no harm. Sets *size to the number
 * of bytes that the answered request was for.
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
            last ? board_call(board, 0, reader, fault)
                 : try_call(board, board->line.address.timeout_ms, TRY_RETRIES, reader, fault);
        if (status < 0)
            return -1;
        adapt(board, status ? retries - 1 : retries);
        if (status == 0)
            return 0;
    }
}

static void put_write(struct board *board, const void *job, size_t size)
{
    const struct bytes *bytes = job;
    struct serial_packet *packet = request(board, SERIAL_WRITE);

    serial_put_u16(packet, bytes->buffer);
    serial_put_u64(packet, bytes->offset);
    serial_put_bytes(packet, bytes->from, size);
}

static void put_read(struct board *board, const void *job, size_t size)
{
    const struct bytes *bytes = job;
    struct serial_packet *packet = request(board, SERIAL_READ);

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
            return unreadable(board, fault);
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
        struct serial_packet *packet = request(board, SERIAL_FILL);

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
        struct serial_packet *packet = request(board, SERIAL_DIGEST);

        part = size < FILL_MAX ? size : FILL_MAX;
        serial_put_u16(packet, buffer);
        serial_put_u64(packet, offset);
        serial_put_u64(packet, part);
        serial_put_u32(packet, *crc);
        if (board_call(board, part > SERIAL_PAYLOAD_MAX ? FILL_MS : 0, &reader, fault))
            return -1;
        *crc = serial_get_u32(&reader);
        if (!serial_reader_done(&reader))
            return unreadable(board, fault);
    }
    return 0;
}

/* Transfers */

static int release(struct board *board, uint8_t transfer, struct fault *fault)
{
    struct serial_reader reader;

    serial_put_u8(request(board, SERIAL_RELEASE), transfer);
    return board_call(board, 0, &reader, fault);
}

/* Waits until the board has ended a synchronous move, after its deadline or ^C, and ignores the
 * result. `fault` keeps the reason, or names a channel that does not end. Returns -1. */
static int end_sync(struct board *board, struct fault *fault)
{
    struct serial_reader reader;
    struct fault other;

    board->shielded = true;
    if (repeat(board, STUCK_MS, &reader, &other) == 0) {
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

    serial_move_put(request(board, SERIAL_START), move);
    /* The reply to a permute or a synchronous move is sent at its end. */
    if (board_call(board, move->mode == SERIAL_MODE_SYNC ? FILL_MS : 0, &reader, fault)) {
        const bool begun = fault->code == FAULT_TIMED_OUT || fault->code == FAULT_CANCELLED;

        return begun && move->mode == SERIAL_MODE_SYNC && !board->lost ? end_sync(board, fault)
                                                                       : -1;
    }
    *transfer = serial_get_u8(&reader);
    if (!serial_tensor_get(&reader, dst) || !serial_reader_done(&reader))
        return unreadable(board, fault);
    return 0;
}

static int ask_status(struct board *board, enum serial_request kind, uint8_t transfer,
                      struct serial_status *status, struct fault *fault)
{
    struct serial_packet *packet = request(board, kind);
    struct serial_reader reader;

    serial_put_u8(packet, transfer);
    if (kind == SERIAL_WAIT)
        serial_put_u16(packet, WAIT_MS);
    if (board_call(board, kind == SERIAL_WAIT ? WAIT_MS : 0, &reader, fault))
        return -1;
    return serial_status_get(&reader, status) ? 0 : unreadable(board, fault);
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

    serial_put_u8(request(board, SERIAL_STATS), (uint8_t)channel);
    if (board_call(board, 0, &reader, fault))
        return -1;
    return serial_stats_get(&reader, stats) ? 0 : unreadable(board, fault);
}

int board_set_engine(struct board *board, const char *spec, uint32_t channels, struct fault *fault)
{
    struct serial_packet *packet = request(board, SERIAL_ENGINE);
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
    return serial_reader_done(&reader) ? 0 : unreadable(board, fault);
}
