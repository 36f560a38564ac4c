/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_clients.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/frame.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"
#include "tests/fuzz/fuzz.h"

enum {
    FILE_BYTES = 96,
    PARAMS_MAX = 4096,
    LINE_MAX = PARAMS_MAX + 256,
    REPLY_ROOM = PROTO_REPLY_MAX
};

/* The params of a request; each member is written separately. */
struct params {
    char text[PARAMS_MAX];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct params *params, const char *format,
                                                      ...)
{
    va_list arguments;

    va_start(arguments, format);
    params->length += (size_t)vsnprintf(params->text + params->length,
                                        sizeof params->text - params->length, format, arguments);
    va_end(arguments);
    FUZZ_ASSERT(params->length < sizeof params->text);
}

void fuzz_client_init(struct fuzz_client *client, int socket)
{
    *client = (struct fuzz_client){.fd = socket, .exact = true};
    FUZZ_ASSERT(frame_init(&client->in, REPLY_ROOM) == 0);
}

void fuzz_client_close(struct fuzz_client *client)
{
    if (client->fd < 0)
        return;
    close(client->fd);
    frame_finish(&client->in);
    client->fd = -1;
}

/* With MLI_FUZZ_TRACE=1, prints a line that is sent ('>') or received ('<'). */
static void trace(const struct fuzz_client *client, char direction, const char *line, size_t length)
{
    static int wanted = -1;

    if (wanted < 0)
        wanted = getenv("MLI_FUZZ_TRACE") != NULL;
    if (wanted)
        fprintf(stderr, "client %d %c %.*s%s", client->fd, direction, (int)length, line,
                direction == '<' ? "\n" : "");
}

/*
 * Sends bytes with descriptors. If the socket does not take all bytes at once, the client counts as
 * one that has sent wrong lines.
 */
static void send_bytes(struct fuzz_client *client, const char *bytes, size_t length, const int *fds,
                       size_t count)
{
    trace(client, '>', bytes, length);
    if (client->fd >= 0 && length > 0 &&
        fd_send(client->fd, bytes, length, fds, count) != (ssize_t)length)
        client->exact = false;
}

static void send_request(struct fuzz_client *client, const char *method, const char *params,
                         const int *fds, size_t count)
{
    char line[LINE_MAX];
    int length;

    if (client->last + 1 == FUZZ_REQUESTS_MAX)
        return;
    client->last++;
    length =
        snprintf(line, sizeof line,
                 "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\",\"fds\":%zu,\"params\":%s}\n",
                 client->last, method, count, params);
    FUZZ_ASSERT(length > 0 && (size_t)length < sizeof line);
    client->missing[client->last] = true;
    client->pending++;
    send_bytes(client, line, (size_t)length, fds, count);
}

void fuzz_client_call(struct fuzz_client *client, const char *method, const char *params)
{
    send_request(client, method, params, NULL, 0);
}

static int make_file(unsigned flags)
{
    const int fd = memfd_create("fuzz", MFD_CLOEXEC | (flags & 1 ? MFD_ALLOW_SEALING : 0));
    char bytes[FILE_BYTES];

    FUZZ_ASSERT(fd >= 0);
    for (int i = 0; i < FILE_BYTES; i++)
        bytes[i] = (char)i;
    if (flags & 2)
        FUZZ_ASSERT(ftruncate(fd, FILE_BYTES) == 0); /* sparse */
    else
        FUZZ_ASSERT(write(fd, bytes, sizeof bytes) == FILE_BYTES);
    return fd;
}

/* Shortens a file that the service has mapped, unless it was sealed. */
static void shorten(int fd, off_t size)
{
    FUZZ_ASSERT(ftruncate(fd, size) == 0 || errno == EPERM);
}

/* Writes a reference to a job: a number or a name. */
static void add_ref(struct params *params, struct fuzz_reader *reader)
{
    const uint8_t which = fuzz_u8(reader);

    if (which & 128)
        add(params, "\"n%d\"", which % 3);
    else
        add(params, "%d", which % 24);
}

static void add_refs(struct params *params, struct fuzz_reader *reader, const char *key)
{
    const uint32_t count = 1 + fuzz_below(reader, 4);

    add(params, ",\"%s\":[", key);
    for (uint32_t i = 0; i < count; i++) {
        add(params, i ? "," : "");
        add_ref(params, reader);
    }
    add(params, "]");
}

static void add_place(struct params *params, struct fuzz_reader *reader, int fd)
{
    const uint8_t how = fuzz_u8(reader);

    if (how & 128)
        add(params, "\"buffer\":%d", how & 3);
    else
        add(params, "\"fd\":%d", fd);
    if (how & 64)
        add(params, ",\"offset\":%" PRIu64, fuzz_number(reader) & ((UINT64_C(1) << 52) - 1));
    if (how & 32)
        add(params, ",\"memory\":\"%s\"", how & 16 ? "vccm" : "dccm");
}

/* Adds members that job.submit, job.prepare and job.start share. */
static void add_options(struct params *params, struct fuzz_reader *reader, bool prepare)
{
    const uint8_t which = fuzz_u8(reader);

    if (which & 1)
        add(params, ",\"priority\":%d", (int)fuzz_below(reader, 3) - 1);
    if (prepare)
        return;
    if (which & 2)
        add(params, ",\"detach\":true");
    if (which & 4)
        add_refs(params, reader, "after");
    if (which & 8)
        add(params, ",\"timeout_ms\":%u", 1 + fuzz_below(reader, 3));
}

static void add_job(struct params *params, struct fuzz_reader *reader, bool prepare)
{
    static const char *const types[] = {"fx8", "fx16", "sa8", "fp32"};
    const uint8_t which = fuzz_u8(reader);

    add(params, "{\"op\":\"%s\",\"src\":{", which & 1 ? "permute" : "mov");
    add_place(params, reader, 0);
    add(params, ",\"type\":\"%s\",\"shape\":[%u,%u]},\"dst\":{", types[which >> 1 & 3],
        1 + fuzz_below(reader, 5), 1 + fuzz_below(reader, 5));
    add_place(params, reader, 1);
    add(params, "}");
    if (which & 8)
        add(params, ",\"cfg\":{\"perm_dim\":[1,0]}");
    if (which & 16)
        add(params, ",\"channels\":%u", 1 + fuzz_below(reader, 4));
    if (which & 32)
        add(params, ",\"name\":\"n%u\"", fuzz_below(reader, 3));
    add_options(params, reader, prepare);
    add(params, "}");
}

static void send_job(struct fuzz_client *client, struct fuzz_reader *reader, const char *method)
{
    const uint8_t flags = fuzz_u8(reader);
    const int src = make_file(flags), dst = flags & 4 ? dup(src) : make_file(flags >> 3);
    struct params params = {.length = 0};

    add_job(&params, reader, strcmp(method, "job.prepare") == 0);
    send_request(client, method, params.text, (int[]){src, dst}, 2);
    if (flags & 128)
        shorten(flags & 64 ? src : dst, 3);
    close(src);
    close(dst);
}

static void start_job(struct fuzz_client *client, struct fuzz_reader *reader)
{
    struct params params = {.length = 0};

    add(&params, "{\"prepared\":%u", fuzz_below(reader, 4));
    add_options(&params, reader, false);
    add(&params, "}");
    fuzz_client_call(client, "job.start", params.text);
}

static void wait_for_jobs(struct fuzz_client *client, struct fuzz_reader *reader)
{
    struct params params = {.length = 0};
    const uint8_t how = fuzz_u8(reader);

    add(&params, "{\"timeout_ms\":%d", how & 16 ? 1 : 0);
    if (how & 1) {
        add(&params, ",\"job\":");
        add_ref(&params, reader);
    } else if (how & 2) {
        add(&params, ",\"all\":true");
    } else {
        add_refs(&params, reader, "jobs");
    }
    add(&params, "}");
    fuzz_client_call(client, "job.wait", params.text);
}

static void ask_of_job(struct fuzz_client *client, struct fuzz_reader *reader, const char *method)
{
    struct params params = {.length = 0};

    add(&params, "{\"job\":");
    add_ref(&params, reader);
    add(&params, "}");
    fuzz_client_call(client, method, params.text);
}

static void call_buffers(struct fuzz_client *client, struct fuzz_reader *reader)
{
    struct params params = {.length = 0};
    const uint8_t how = fuzz_u8(reader);
    int fd;

    switch (how & 3) {
    case 0:
        add(&params, "{\"size\":%u%s}", 1 + fuzz_below(reader, 200),
            how & 4 ? ",\"memory\":\"vccm\"" : "");
        fuzz_client_call(client, "buffer.alloc", params.text);
        break;
    case 1:
        fd = make_file(how >> 2);
        send_request(client, "buffer.register", "{\"fd\":0}", &fd, 1);
        if (how & 128)
            shorten(fd, 1);
        close(fd);
        break;
    case 2:
        add(&params, "{\"buffer\":%u}", fuzz_below(reader, 4));
        fuzz_client_call(client, "buffer.release", params.text);
        break;
    default:
        fuzz_client_call(client, "buffer.list", "{}");
    }
}

static void subscribe(struct fuzz_client *client, struct fuzz_reader *reader)
{
    static const char *const scopes[] = {"connection", "user", "all"};
    struct params params = {.length = 0};
    const uint8_t how = fuzz_u8(reader);

    add(&params, "{\"events\":[%s%s%s],\"scope\":\"%s\"}", how & 1 ? "\"done\"" : "",
        (how & 3) == 3 ? "," : "", how & 2 ? "\"queued\"" : "", scopes[how % 3]);
    fuzz_client_call(client, "events.subscribe", params.text);
}

static void call_daemon(struct fuzz_client *client, struct fuzz_reader *reader)
{
    static const char *const calls[][2] = {
        {"daemon.ping", "{}"},
        {"daemon.info", "{}"},
        {"daemon.stats", "{}"},
        {"daemon.drain", "{\"wait\":false}"},
        {"daemon.drain", "{}"},
        {"daemon.resume", "{}"},
        {"job.list", "{}"},
        {"job.list", "{\"states\":[\"done\"],\"limit\":2}"},
        {"job.release", "{\"prepared\":1}"},
        {"daemon.pong", "{}"},
    };
    const uint32_t which = fuzz_below(reader, sizeof calls / sizeof calls[0]);

    fuzz_client_call(client, calls[which][0], calls[which][1]);
}

/* Sends bytes of the input, with descriptors that need not belong to any line. */
static void send_garbage(struct fuzz_client *client, struct fuzz_reader *reader)
{
    const uint8_t count = fuzz_u8(reader);
    size_t size;
    const char *bytes = (const char *)fuzz_piece(reader, 255, &size);
    int fds[4];

    client->exact = false;
    for (int i = 0; i < count % 4; i++)
        fds[i] = make_file(count);
    send_bytes(client, bytes, size, fds, count % 4);
    fd_close_all(fds, count % 4);
    if (count & 128)
        (void)shutdown(client->fd, SHUT_WR);
}

void fuzz_client_request(struct fuzz_client *client, struct fuzz_reader *reader)
{
    switch (fuzz_u8(reader) & 15) {
    case 0:
        send_garbage(client, reader);
        break;
    case 1:
        send_job(client, reader, "job.prepare");
        break;
    case 2:
    case 3:
        start_job(client, reader);
        break;
    case 4:
    case 5:
        wait_for_jobs(client, reader);
        break;
    case 6:
        ask_of_job(client, reader, "job.cancel");
        break;
    case 7:
        ask_of_job(client, reader, "job.status");
        break;
    case 8:
        call_buffers(client, reader);
        break;
    case 9:
        subscribe(client, reader);
        break;
    case 10:
        call_daemon(client, reader);
        break;
    default:
        send_job(client, reader, "job.submit");
    }
}

static void take_reply(struct fuzz_client *client, const char *line, size_t length)
{
    struct rpc_reply reply;
    int fds[PROTO_FDS_MAX];

    trace(client, '<', line, length);
    FUZZ_ASSERT(rpc_reply_parse(line, length, &reply) == 0);
    FUZZ_ASSERT(frame_take_fds(&client->in, reply.fds, fds) == 0);
    fd_close_all(fds, reply.fds);
    if (!reply.ok && reply.notification == RPC_NOT_A_NOTIFICATION)
        fuzz_check_fault(&reply.error);
    client->greeted = client->greeted || reply.notification == RPC_HELLO;
    if (reply.id.kind == RPC_ID_INT && client->exact) {
        FUZZ_ASSERT(reply.id.number >= 1 && reply.id.number <= client->last);
        FUZZ_ASSERT(client->missing[reply.id.number]);
        client->missing[reply.id.number] = false;
        client->pending--;
    }
    rpc_reply_finish(&reply);
}

/* Receives once. Returns false if no bytes have come. */
static bool receive(struct fuzz_client *client)
{
    int fds[PROTO_FDS_MAX];
    size_t room, count, length;
    char *into = frame_room(&client->in, &room);
    const char *line;
    ssize_t got;

    FUZZ_ASSERT(into);
    got = fd_recv(client->fd, into, room, fds, &count);
    if (got == 0) {
        /* the service must not close the connection of such a client */
        FUZZ_ASSERT(!client->exact || !client->greeted);
        client->exact = false;
    }
    if (got <= 0)
        return false;
    FUZZ_ASSERT(frame_push_fds(&client->in, fds, count) == 0);
    frame_commit(&client->in, (size_t)got);
    while (frame_next(&client->in, &line, &length))
        take_reply(client, line, length);
    return true;
}

void fuzz_client_receive(struct fuzz_client *client)
{
    while (client->fd >= 0 && receive(client))
        ;
}
