/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * libmli_client against a hostile service: the bytes choose what the service sends, with
 * descriptors or without, and what the program calls meanwhile. Every call returns, a failed call
 * gives a code and a message, and no descriptor stays open. The service's end of the connection is
 * closed for writing, so that a call that waits ends when the connection ends, if not before.
 *
 * Input: flags, the length of the calls, the calls, then the lines of the service.
 */
#include <inttypes.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "mli_client.h"
#include "proto/wire/frame.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"

enum { LINES_MAX = 64, CALLS_MAX = 24, FILE_BYTES = 64, TIMEOUT_MS = 200, TICKETS = 8 };

static mli_client *client;
static int file;
static mli_client_ticket tickets[TICKETS];
static unsigned ticket_count;

/* Usual replies and notifications; %u is the id of a request. */
static const char *const replies[] = {
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"pong\":true}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"job\":1,\"dst\":{\"type\":\"fx8\",\"shape\":[2,3]"
    ","
    "\"strides\":[3,1],\"frac_bits\":0},\"cost\":{\"bytes\":6,\"channels\":1,\"engine\":"
    "\"threads\","
    "\"ns_queued\":1,\"ns_moving\":2}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"job\":2,\"dst\":{\"type\":\"sa8\",\"shape\":[2],"
    "\"strides\":[1],\"axis\":0,\"scale\":[1,2],\"zero_point\":[3,4],\"scale_frac_bits\":[5,6]},"
    "\"cost\":{\"bytes\":2,\"channels\":1,\"engine\":\"t\",\"ns_queued\":1,\"ns_moving\":2}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"job\":3,\"state\":\"queued\"}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"prepared\":1,\"bytes\":4,\"dst\":{\"type\":"
    "\"fx8\","
    "\"shape\":[2,2],\"strides\":[2,1],\"frac_bits\":0}}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"fds\":1,\"result\":{\"buffer\":1,\"size\":64,\"access\":"
    "\"write\",\"sealed\":true}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"result\":{\"jobs\":[{\"job\":1,\"state\":\"done\"}],"
    "\"more\":true}}",
    "{\"jsonrpc\":\"2.0\",\"id\":%u,\"error\":{\"code\":-32000,\"message\":\"no\",\"data\":{"
    "\"name\":"
    "\"REFUSED\",\"status\":\"MLI_STATUS_BAD_FUNC_CFG\",\"pointer\":\"/cfg/offset/0\"}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"hello\",\"params\":{\"protocol\":1,\"version\":\"0\","
    "\"client\":1,\"limits\":{\"jobs\":%u,\"job_bytes\":1,\"buffers\":1,\"buffer_bytes\":1,"
    "\"prepared\":1}}}",
    "{\"jsonrpc\":\"2.0\",\"method\":\"event\",\"params\":{\"event\":\"done\",\"time_ns\":%u,"
    "\"dropped\":0,\"job\":{\"job\":1,\"state\":\"done\",\"client\":1,\"uid\":0,\"priority\":0,"
    "\"channels\":1,\"bytes\":4,\"bytes_done\":4,\"detached\":false,\"ns_queued\":1,"
    "\"ns_moving\":2}}}",
};

enum { REPLIES = sizeof replies / sizeof replies[0] };

/*
 * Sends a line: a usual reply, a usual reply in which bytes of the input replace a piece, or bytes
 * of the input.
 */
static void send_line(int socket, struct fuzz_reader *reader)
{
    const uint8_t how = fuzz_u8(reader);
    char line[1024];
    int length = 0, fds[2] = {file, file};
    size_t size;
    const uint8_t *piece;
    const uint32_t count = (how & 48) == 48 ? 1 + (how >> 6 & 1) : 0;

    if (how & 8) {
        piece = fuzz_piece(reader, 255, &size);
        memcpy(line, piece, size);
        length = (int)size;
    } else {
        _Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"")
            length = snprintf(line, sizeof line - 1, replies[fuzz_below(reader, REPLIES)],
                              (unsigned)fuzz_below(reader, 12));
        _Pragma("GCC diagnostic pop") if (how & 4)
        { /* overwrites a piece of the line with bytes of the input */
            const uint32_t at = fuzz_below(reader, (uint32_t)length);

            piece = fuzz_piece(reader, 16, &size);
            size = size < (size_t)length - at ? size : (size_t)length - at;
            memcpy(line + at, piece, size);
        }
    }
    if (!(how & 128))
        line[length++] = '\n';
    (void)fd_send(socket, line, (size_t)length, fds, length > 0 ? count : 0);
}

static void check_error(int code, const mli_client_error *error)
{
    FUZZ_ASSERT(code <= 0);
    if (code == 0)
        return;
    FUZZ_ASSERT(error->code == code && error->name[0] && error->message[0]);
    FUZZ_ASSERT(memchr(error->message, '\0', sizeof error->message));
    FUZZ_ASSERT(memchr(error->name, '\0', sizeof error->name));
    FUZZ_ASSERT(memchr(error->pointer, '\0', sizeof error->pointer));
}

static void on_event(mli_client *from, const mli_client_event *event, void *user)
{
    (void)user;
    FUZZ_ASSERT(from == client && memchr(event->job.name, '\0', sizeof event->job.name));
}

static void on_done(mli_client *from, mli_client_ticket ticket, const mli_client_result *result,
                    const mli_client_error *error, void *user)
{
    (void)user;
    FUZZ_ASSERT(from == client && ticket && !result != !error);
}

static void make_job(mli_client_job *job)
{
    mli_client_job_init(job);
    job->src = (mli_tensor){.rank = 2, .shape = {2, 3}, .el_type = MLI_EL_FX_8};
    job->src_memory.fd = job->dst_memory.fd = file;
    job->dst_memory.offset = 32;
}

static int call_job(struct fuzz_reader *reader, mli_client_error *error)
{
    const uint8_t how = fuzz_u8(reader);
    mli_client_result result = {0};
    mli_client_prepared prepared = {0};
    mli_client_job job;
    uint64_t number;
    int code;

    make_job(&job);
    if (how & 1) {
        code = mli_client_submit(client, &job, &result, error);
        mli_client_result_free(&result);
    } else if (how & 2) {
        code = mli_client_submit_async(client, &job, how & 16 ? on_done : NULL, NULL,
                                       &tickets[ticket_count % TICKETS], error);
        ticket_count += code == 0 && !(how & 16);
    } else if (how & 4) {
        code = mli_client_submit_detached(client, &job, &number, error);
    } else {
        code = mli_client_prepare(client, &job, &prepared, error);
        if (code == 0)
            check_error(mli_client_prepared_release(client, &prepared, error), error);
    }
    return code;
}

static int call_ticket(struct fuzz_reader *reader, mli_client_error *error)
{
    const mli_client_ticket ticket = tickets[fuzz_below(reader, TICKETS)];
    const uint8_t how = fuzz_u8(reader);
    mli_client_result result = {0};
    int code = 0;

    (void)mli_client_done(client, ticket);
    if (how & 1) {
        code = mli_client_wait(client, ticket, how & 2 ? 0 : TIMEOUT_MS, &result, error);
        if (code == 0)
            mli_client_result_free(&result);
    } else if (how & 2) {
        mli_client_forget(client, ticket);
    } else {
        code = mli_client_wait_pending(client, how & 4 ? 0 : TIMEOUT_MS, error);
    }
    return code;
}

static int call_buffer(struct fuzz_reader *reader, mli_client_error *error)
{
    mli_client_buffer buffer = {.fd = -1};
    int code =
        fuzz_u8(reader) & 1
            ? mli_client_buffer_alloc(client, FILE_BYTES, &buffer, error)
            : mli_client_buffer_register(client, file, 0, MLI_CLIENT_ANY_ACCESS, &buffer, error);

    if (code == 0) {
        if (buffer.address) /* the last byte of the service's file */
            ((volatile char *)buffer.address)[FILE_BYTES - 1] = 1;
        check_error(mli_client_buffer_release(client, &buffer, error), error);
    }
    return code;
}

static int ask(struct fuzz_reader *reader, mli_client_error *error)
{
    static mli_client_stats stats;
    mli_client_job_info info, *jobs = NULL;
    mli_client_greeting greeting;
    mli_client_info service;
    enum mli_client_state state;
    enum mli_client_phase phase;
    const mli_client_query query = {.limit = 3};
    const mli_client_ref ref = {.number = 1};
    char *line = NULL;
    size_t count = 0;
    bool more;
    int code;

    switch (fuzz_below(reader, 11)) {
    case 0:
        return mli_client_greet(client, &greeting, error);
    case 1:
        return mli_client_ping(client, error);
    case 2:
        return mli_client_get_info(client, &service, error);
    case 3:
        return mli_client_get_stats(client, &stats, error);
    case 4:
        return mli_client_status(client, ref, &info, error);
    case 5:
        return mli_client_cancel(client, ref, &state, error);
    case 6:
        return mli_client_wait_jobs(client, &ref, 1, 0, error);
    case 7:
        return mli_client_drain(client, true, &phase, error);
    case 8:
        code = mli_client_list(client, &query, &jobs, &count, &more, error);
        free(code == 0 ? jobs : NULL);
        return code;
    case 9:
        return mli_client_subscribe(client, 15, MLI_CLIENT_SCOPE_ALL, 0, on_event, NULL, error);
    default:
        code =
            mli_client_call(client, "any.method", "{}", NULL, 0, TIMEOUT_MS, &line, &count, error);
        if (code == 0)
            FUZZ_ASSERT(line[count] == '\0' && strlen(line) == count);
        free(code == 0 ? line : NULL);
        return code;
    }
}

static void call(struct fuzz_reader *reader)
{
    mli_client_error error;
    int code;

    memset(&error, 0x5a, sizeof error);
    switch (fuzz_below(reader, 6)) {
    case 0:
        code = call_job(reader, &error);
        break;
    case 1:
        code = call_ticket(reader, &error);
        break;
    case 2:
        code = call_buffer(reader, &error);
        break;
    case 3:
        code = mli_client_dispatch(client, &error);
        break;
    case 4:
        code = mli_client_flush(client, &error);
        break;
    default:
        code = ask(reader, &error);
    }
    check_error(code, &error);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size), calls;
    const unsigned flags = fuzz_u8(&reader) & MLI_CLIENT_INLINE;
    size_t length;
    const uint8_t *bytes = fuzz_piece(&reader, 255, &length);
    mli_client_error error;
    const int before = scratch_count_fds();
    int ends[2];

    calls = fuzz_reader_init(bytes, length);
    ticket_count = 0;
    memset(tickets, 0, sizeof tickets);
    file = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_ASSERT(file >= 0 && ftruncate(file, FILE_BYTES) == 0);
    FUZZ_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    FUZZ_ASSERT(mli_client_adopt(ends[0], flags, &client, &error) == 0);
    mli_client_set_timeout(client, TIMEOUT_MS);
    for (int i = 0; i < LINES_MAX && fuzz_left(&reader) > 0; i++)
        send_line(ends[1], &reader);
    (void)shutdown(ends[1], SHUT_WR);
    for (int i = 0; i < CALLS_MAX && fuzz_left(&calls) > 0; i++)
        call(&calls);
    mli_client_close(client);
    close(ends[1]);
    close(file);
    FUZZ_ASSERT(scratch_count_fds() == before);
    return 0;
}
