/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "boards/link/serial_board.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"

enum {
    DAMAGES_PER_RETRY = 4,
    RETRIES = 10,     /* of a request */
    TRY_RETRIES = 2,  /* of a request that can be made shorter */
    GREET_MS = 250,   /* between two hellos */
    SERIAL_MS = 4000, /* for the first answer of a board */
    QEMU_MS = 30000,  /* for the first answer of a board that boots */
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

static void add_to_frame(void *context, const uint8_t *bytes, size_t size)
{
    struct board *board = context;

    memcpy(board->frame + board->frame_size, bytes, size);
    board->frame_size += size;
}

struct serial_packet *board_request(struct board *board, enum serial_request kind)
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

/* Takes received bytes until the reply is complete. */
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

/* Lost lines are lost for all later calls. */
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
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s: the board was lost before",
                         board->line.where);
    if (!board->shielded && cancel_requested())
        return cancel_fault(fault);
    return is_overdue(board) ? overdue(fault) : 0;
}

int board_call(struct board *board, uint32_t extra_ms, struct serial_reader *reader,
               struct fault *fault)
{
    const uint32_t answer_ms = board->line.address.timeout_ms + extra_ms;

    if (check_open(board, fault))
        return -1;
    const int status = make_frame(board, fault) ? -1 : exchange(board, answer_ms, RETRIES, fault);
    if (status > 0)
        return explain_silence(board, answer_ms * (RETRIES + 1), fault);
    return status ? -1 : take_result(board, reader, fault);
}

int board_repeat(struct board *board, uint32_t answer_ms, struct serial_reader *reader,
                 struct fault *fault)
{
    const int status = exchange(board, answer_ms, 0, fault);

    return status ? -1 : take_result(board, reader, fault);
}

int board_try(struct board *board, struct serial_reader *reader, struct fault *fault)
{
    if (check_open(board, fault))
        return -1;
    const int status = make_frame(board, fault)
                           ? -1
                           : exchange(board, board->line.address.timeout_ms, TRY_RETRIES, fault);
    return status ? status : take_result(board, reader, fault);
}

int board_unreadable(struct board *board, struct fault *fault)
{
    board->lost = true;
    return fault_set(fault, FAULT_STREAM_ERROR, NULL,
                     "%s: the reply to %s has another form; the agent is of another version than "
                     "mlictl",
                     board->line.where, serial_request_name(board->request.bytes[0]));
}

/* Opening */

static uint32_t random_number(void)
{
    uint32_t number;

    if (getrandom(&number, sizeof(number), 0) != sizeof(number))
        number = (uint32_t)clock_ns() ^ (uint32_t)getpid();
    return number;
}

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
    return hello->payload_max > 64 ? 0 : board_unreadable(board, fault);
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
        serial_put_u32(board_request(board, SERIAL_HELLO), number);
        status = make_frame(board, fault) ? -1 : exchange(board, GREET_MS, 0, fault);
    } while (status > 0 && clock_ns() < end);
    board->deadline_ns = before;
    if (status)
        return status < 0 ? -1 : explain_silence(board, patience_ms, fault);
    if (take_result(board, &reader, fault))
        return -1;
    if (!serial_hello_get(&reader, &hello))
        return board_unreadable(board, fault);
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
    board_request(board, SERIAL_RESET);
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
