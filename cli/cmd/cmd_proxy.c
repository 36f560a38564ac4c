/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl proxy, the remote end of `mlictl -H`: converts between inline payload ("Inline payload" in
 * PROTOCOL.md) on standard input and output, and descriptors on the daemon's socket.
 *
 *     stdin  -> lines; payload bytes are written to memfds -> daemon, with the memfds
 *     stdout <- lines; the bytes of those memfds           <- daemon
 *
 * Memory is bounded: the memfds of all requests under way have at most 1 GiB, lines wait in
 * buffers of a fixed size, and while one side does not read, the proxy stops reading from the
 * other side.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cmd/command.h"
#include "cli/file/calls.h"
#include "cli/link/daemon_link.h"
#include "cli/term/cancel.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"
#include "proto/wire/frame.h"
#include "proto/wire/inline_payload.h"
#include "proto/wire/rpc.h"

enum {
    PROXY_WAITING_MAX = 256 * 1024, /* maximum number of unsent bytes to one side; above this, the
                                       proxy does not read from the other side */
    PROXY_REQUESTS_MAX = 1024       /* maximum number of pending requests with payload */
};

/* A request with its payload in memfds. */
struct proxy_request {
    struct rpc_id id;
    uint32_t count;
    int fds[PROTO_FDS_MAX];
    struct inline_payload payload;
    uint64_t size; /* total size of all memfds */
};

/* The request that is being received. */
struct proxy_intake {
    bool active;
    bool refused; /* true: drop the payload, then send the fault as the reply */
    struct fault fault;
    struct proxy_request request;
    char *line; /* the line for the daemon; owned */
    size_t length;
    uint32_t index;
    uint64_t offset;
};

struct proxy {
    int input, output, daemon;
    struct frame from_client, from_daemon;
    struct out to_client, to_daemon;
    struct proxy_intake intake;
    struct proxy_request *requests; /* pending requests, unordered */
    size_t count;
    uint64_t bytes; /* bytes in the memfds of `requests` and `intake` */
    bool greeted;   /* true: the greeting was sent to the client, which may send requests now */
    bool leaving;   /* true: the stream from the client is broken; send the last reply and end */
};

/* The reason why a proxy ends. */
enum proxy_end { PROXY_GOES_ON, PROXY_CLIENT_GONE, PROXY_DAEMON_GONE, PROXY_FAILED };

/* The direction from the client to the daemon. */

/* The text is valid JSON: every string ends, every bracket closes. `end` is checked anyway. */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\')
            at++;
    }
    return at < end ? at + 1 : end;
}

/* Returns the comma or bracket that ends the member. */
static const char *skip_member(const char *at, const char *end)
{
    int depth = 0;

    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (depth == 0 && (*at == ',' || *at == '}'))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    }
    return end;
}

static bool is_key(const char *at, const char *end, const char *key)
{
    at += strspn(at, " \t\r\n");
    size_t length = strlen(key);
    return (size_t)(end - at) > length + 2 && at[0] == '"' && memcmp(at + 1, key, length) == 0 &&
           at[length + 1] == '"';
}

/*
 * Copies the text of an object that is valid JSON to `out` (as long as the text) without its
 * members `key`, which is plain ASCII. Returns the length of the copy.
 */
static size_t cut_member(const char *text, size_t length, const char *key, char *out)
{
    const char *end = text + length;
    const char *at = memchr(text, '{', length);
    size_t written = 0;
    out[written++] = '{';
    at = at ? at + 1 : end;
    while (at < end && *at != '}') {
        const char *next = skip_member(at, end);
        if (!is_key(at, end, key)) {
            if (written > 1)
                out[written++] = ',';
            memcpy(out + written, at, (size_t)(next - at));
            written += (size_t)(next - at);
        }
        at = next < end && *next == ',' ? next + 1 : next;
    }
    out[written++] = '}';

    return written;
}

/* Prints why the proxy cannot continue. Returns PROXY_FAILED. */
static enum proxy_end proxy_failed(const char *why)
{
    print_error("proxy: %s", why);
    return PROXY_FAILED;
}

static enum proxy_end answer(struct proxy *proxy, const struct rpc_id *id,
                             const struct fault *fault)
{
    struct jsonw w;

    jsonw_init(&w);
    rpc_write_error(&w, id, fault);
    const char *text = jsonw_text(&w);
    int error = text ? out_add(&proxy->to_client, text, w.length) : -ENOMEM;
    jsonw_finish(&w);
    return error ? proxy_failed(strerror(-error)) : PROXY_GOES_ON;
}

/* Sends the fault and ends, because the length of the payload after the line is unknown. */
static enum proxy_end give_up(struct proxy *proxy, const struct rpc_id *id, struct fault *fault)
{
    if (fault->code == FAULT_INVALID_PARAMS)
        fault->code = FAULT_INVALID_REQUEST;
    proxy->leaving = true;
    return answer(proxy, id, fault);
}

/* Reads "id"; an invalid id becomes null. */
static void read_id(const struct json *root, struct rpc_id *id)
{
    struct json value = json_member(root, "id");
    const char *text;
    struct fault ignored;
    struct json quiet = value;

    quiet.fault = &ignored;
    *id = (struct rpc_id){.kind = RPC_ID_NULL};
    if (json_is_int(&value) && json_int(&quiet, INT64_MIN, INT64_MAX, &id->number) == 0) {
        id->kind = RPC_ID_INT;
    } else if (json_is_string(&value) && json_string(&quiet, PROTO_NAME_MAX, &text) == 0) {
        id->kind = RPC_ID_STRING;
        strcpy(id->text, text);
    }
}

/* Methods that share memory with the client, which is impossible over a stream. */
static bool is_refused(const struct json *root)
{
    static const char *const refused[] = {"job.prepare", "buffer.register", "buffer.alloc"};
    struct json method = json_member(root, "method");
    struct fault ignored;
    const char *text;

    method.fault = &ignored;
    if (!json_is_string(&method) || json_text(&method, PROTO_LINE_MAX, &text))
        return false;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        if (strcmp(text, refused[i]) == 0)
            return true;
    }
    return false;
}

/* The reply to a detached job comes before the output exists, so it cannot have a payload. */
static bool is_premature(const struct json *root, const struct inline_payload *payload)
{
    struct json params = json_member(root, "params"), detach = {0};
    struct fault ignored;
    bool detached = false, back = false;

    if (json_is_object(&params))
        detach = json_member(&params, "detach");
    detach.fault = &ignored;
    for (uint32_t i = 0; i < payload->count; i++)
        back = back || payload->items[i].back;
    return back && json_present(&detach) && json_bool(&detach, &detached) == 0 && detached;
}

/* Reads "fds" and "inline", which must agree on the number of descriptors. */
static int read_payload(const struct json *root, struct proxy_request *request)
{
    struct json fds = json_member(root, "fds"), inlines = json_member(root, "inline");
    int64_t count = 0;

    if (json_object(root, NULL) || inline_payload_read(&inlines, &request->payload) ||
        (json_present(&fds) && json_int(&fds, 0, PROTO_FDS_MAX, &count)))
        return -1;
    if (request->payload.count != (uint32_t)count)
        return json_complain(&inlines, "\"fds\" is %u, but %u descriptors are described",
                             (unsigned)count, request->payload.count);
    for (uint32_t i = 0; i < request->payload.count; i++)
        request->size += request->payload.items[i].size;
    return 0;
}

static int make_memfds(struct proxy_request *request, struct fault *fault)
{
    for (uint32_t i = 0; i < request->payload.count; i++) {
        int fd = memfd_create("mlictl-proxy", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
            return fault_set(fault, FAULT_LIMIT, NULL, "the proxy cannot create a memfd: %s",
                             strerror(errno));
        request->fds[request->count++] = fd;
        if (set_size(fd, (off_t)request->payload.items[i].size))
            return fault_set(fault, FAULT_LIMIT, NULL, "the proxy cannot resize a memfd: %s",
                             strerror(errno));
    }
    return 0;
}

/* Begins a request whose line is followed by a payload. */
static enum proxy_end begin(struct proxy *proxy, const struct json *root, const char *line,
                            size_t length)
{
    struct proxy_intake *intake = &proxy->intake;

    *intake = (struct proxy_intake){.active = true};
    read_id(root, &intake->request.id);
    if (read_payload(root, &intake->request)) {
        intake->active = false;
        return give_up(proxy, &intake->request.id, root->fault);
    }
    intake->line = malloc(length + 2);
    if (!intake->line)
        return proxy_failed("out of memory");
    intake->length = cut_member(line, length, "inline", intake->line);
    intake->line[intake->length++] = '\n';
    proxy->bytes += intake->request.size;
    intake->refused = is_refused(root);
    if (intake->refused)
        fault_set(&intake->fault, FAULT_INVALID_REQUEST, "/method",
                  "method: this connection has no shared memory, which the method needs");
    else if (is_premature(root, &intake->request.payload))
        intake->refused = fault_set(&intake->fault, FAULT_INVALID_REQUEST, "/inline",
                                    "inline: \"back\" cannot be combined with \"detach\": the "
                                    "reply comes before the job has ended") != 0;
    else
        intake->refused = make_memfds(&intake->request, &intake->fault) != 0;
    return PROXY_GOES_ON;
}

static enum proxy_end take_line_upward(struct proxy *proxy, const char *line, size_t length)
{
    struct json root;
    struct fault fault;

    /* The daemon refuses invalid JSON with the right fault. */
    if (json_parse(line, length, &rpc_request_limits, &root, &fault) == 0) {
        struct json fds = json_member(&root, "fds"), inlines = json_member(&root, "inline");
        const bool special = json_is_object(&root) &&
                             (json_present(&fds) || json_present(&inlines) || is_refused(&root));
        const enum proxy_end end = special ? begin(proxy, &root, line, length) : PROXY_GOES_ON;

        json_free(&root);
        if (special)
            return end;
    }
    return out_add(&proxy->to_daemon, line, length) || out_add(&proxy->to_daemon, "\n", 1)
               ? proxy_failed("out of memory")
               : PROXY_GOES_ON;
}

/* Writes received payload to the memfds. Returns whether the request is complete. */
static bool take_bytes(struct proxy *proxy)
{
    struct proxy_intake *intake = &proxy->intake;
    const struct inline_payload *payload = &intake->request.payload;

    while (intake->index < payload->count) {
        uint64_t left = payload->items[intake->index].bytes - intake->offset;
        const char *bytes;
        if (left == 0) {
            intake->index++;
            intake->offset = 0;
            continue;
        }
        size_t size = frame_take_bytes(&proxy->from_client,
                                       left < SIZE_MAX ? (size_t)left : SIZE_MAX, &bytes);
        if (size == 0)
            return false;
        for (size_t done = 0; done < size && !intake->refused;) {
            ssize_t written = pwrite(intake->request.fds[intake->index], bytes + done, size - done,
                                     (off_t)(intake->offset + done));
            if (written > 0)
                done += (size_t)written;
            else if (written == 0 || errno != EINTR)
                intake->refused = fault_set(&intake->fault, FAULT_LIMIT, NULL,
                                            "the proxy cannot write a memfd: %s",
                                            strerror(written ? errno : EIO)) != 0;
        }
        intake->offset += size;
    }
    return true;
}

/* Closes the memfds of a request. */
static void proxy_request_close(struct proxy *proxy, struct proxy_request *request)
{
    fd_close_all(request->fds, request->count);
    proxy->bytes -= request->size;
    request->count = 0;
    request->size = 0;
}

/* Sends a complete request to the daemon, or its fault to the client. */
static enum proxy_end forward(struct proxy *proxy)
{
    struct proxy_intake *intake = &proxy->intake;
    struct proxy_request *request = &intake->request;
    enum proxy_end end = PROXY_GOES_ON;
    bool back = false;

    if (intake->refused) {
        end = answer(proxy, &request->id, &intake->fault);
    } else if ((request->count > 0 &&
                out_attach(&proxy->to_daemon, request->fds, request->count)) ||
               out_add(&proxy->to_daemon, intake->line, intake->length)) {
        end = proxy_failed("out of memory");
    } else {
        /* Descriptors that cannot be sent now are duplicated into the queue. */
        if (out_flush(&proxy->to_daemon, proxy->daemon) || out_keep(&proxy->to_daemon))
            end = proxy_failed("out of memory");
        for (uint32_t i = 0; i < request->payload.count; i++)
            back = back || request->payload.items[i].back;
    }
    free(intake->line);
    intake->line = NULL;
    intake->active = false;
    if (back && end == PROXY_GOES_ON)
        proxy->requests[proxy->count++] = *request;
    else
        proxy_request_close(proxy, request);
    return end;
}

/* A request that exceeds the memory limit waits until all earlier requests have ended. */
static bool has_room(const struct proxy *proxy)
{
    return proxy->bytes <= INLINE_BYTES_MAX || proxy->count == 0;
}

/* Returns whether the proxy has memory for more requests. */
static bool upward_open(const struct proxy *proxy)
{
    return proxy->greeted && !proxy->leaving && has_room(proxy) &&
           proxy->count < PROXY_REQUESTS_MAX &&
           out_waiting(&proxy->to_daemon) < PROXY_WAITING_MAX &&
           out_waiting(&proxy->to_client) < PROXY_WAITING_MAX;
}

/* Handles the lines that were read, while memory is available. */
static enum proxy_end upward_handle(struct proxy *proxy)
{
    const char *line;
    size_t length;
    enum proxy_end end = PROXY_GOES_ON;

    while (end == PROXY_GOES_ON && upward_open(proxy)) {
        if (proxy->intake.active) {
            if (!take_bytes(proxy))
                break;
            end = forward(proxy);
        } else {
            if (!frame_next(&proxy->from_client, &line, &length))
                break;
            end = take_line_upward(proxy, line, length);
        }
    }
    return end;
}

/* Reads from the client once and handles what has been read. */
static enum proxy_end upward_receive(struct proxy *proxy)
{
    size_t room = 0;

    /* Empty the buffer first: a full buffer does not mean that the line is too long. */
    enum proxy_end end = upward_handle(proxy);
    if (end != PROXY_GOES_ON || !upward_open(proxy))
        return end;
    char *bytes = frame_room(&proxy->from_client, &room);
    if (!bytes) {
        struct fault fault;
        const struct rpc_id nobody = {.kind = RPC_ID_NULL};
        fault_set(&fault, FAULT_STREAM_ERROR, NULL, "the line is longer than %d bytes",
                  PROTO_LINE_MAX);
        return give_up(proxy, &nobody, &fault);
    }
    ssize_t got = read(proxy->input, bytes, room);
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return PROXY_GOES_ON;
    if (got <= 0)
        return PROXY_CLIENT_GONE;
    frame_commit(&proxy->from_client, (size_t)got);
    return upward_handle(proxy);
}

enum { INLINE_TEXT_MAX = 512 };

static struct proxy_request *find(struct proxy *proxy, const struct rpc_id *id)
{
    for (size_t i = 0; i < proxy->count; i++) {
        const struct rpc_id *other = &proxy->requests[i].id;
        if (other->kind == id->kind &&
            (id->kind == RPC_ID_STRING ? strcmp(other->text, id->text) == 0
                                       : other->number == id->number))
            return &proxy->requests[i];
    }
    return NULL;
}

/* Sends the reply with a member "inline", then the payload. Returns 0 or -errno. */
static int add_with_bytes(struct proxy *proxy, const struct proxy_request *request,
                          const char *line, size_t length)
{
    char text[INLINE_TEXT_MAX];
    const struct inline_item *items = request->payload.items;
    struct phrase phrase = phrase_init(text, sizeof(text));

    while (length > 0 && line[length - 1] != '}')
        length--;
    phrase_add(&phrase, ",\"inline\":[");
    for (uint32_t i = 0; i < request->count; i++)
        phrase_add(&phrase, "%s%" PRIu64, i ? "," : "", items[i].back ? items[i].size : 0);
    phrase_add(&phrase, "]}\n");
    if (out_add(&proxy->to_client, line, length - 1) ||
        out_add(&proxy->to_client, text, phrase.length))
        return -ENOMEM;
    for (uint32_t i = 0; i < request->count; i++) {
        if (items[i].back && out_file(&proxy->to_client, request->fds[i], items[i].size, 1))
            return -ENOMEM;
    }
    proxy->to_client.cut = 0;
    int error = out_flush(&proxy->to_client, proxy->output);
    return error ? error : out_keep(&proxy->to_client);
}

static enum proxy_end take_line_proxy(struct proxy *proxy, const char *line, size_t length)
{
    struct rpc_reply reply;
    int error = 0;
    struct proxy_request *request = NULL;
    bool known = rpc_reply_parse(line, length, &reply) == 0;

    if (known && reply.notification == RPC_NOT_A_NOTIFICATION && reply.id.kind != RPC_ID_NULL)
        request = find(proxy, &reply.id);
    if (known && reply.fds > 0)
        error = -EPROTO; /* the proxy admits no method whose reply has descriptors */
    else if (request && reply.ok)
        error = add_with_bytes(proxy, request, line, length);
    else if (out_add(&proxy->to_client, line, length) || out_add(&proxy->to_client, "\n", 1))
        error = -ENOMEM;
    if (request) {
        proxy_request_close(proxy, request);
        *request = proxy->requests[--proxy->count];
    }
    rpc_reply_finish(&reply);
    proxy->greeted = true;
    return error ? proxy_failed(strerror(-error)) : PROXY_GOES_ON;
}

static bool downward_open(const struct proxy *proxy)
{
    const struct out *out = &proxy->to_client;

    return out_waiting(out) < PROXY_WAITING_MAX && out->mark_begin == out->mark_end;
}

static enum proxy_end downward_receive(struct proxy *proxy)
{
    size_t room = 0, count = 0, length;
    int fds[PROTO_FDS_MAX];
    const char *line;
    enum proxy_end end = PROXY_GOES_ON;
    char *bytes = frame_room(&proxy->from_daemon, &room);

    if (!bytes)
        return proxy_failed("out of memory");
    ssize_t got = fd_recv(proxy->daemon, bytes, room, fds, &count);
    if (got == -EAGAIN || got == -EINTR)
        return PROXY_GOES_ON;
    if (got <= 0)
        return PROXY_DAEMON_GONE;
    frame_commit(&proxy->from_daemon, (size_t)got);
    if (count > 0) {
        fd_close_all(fds, count);
        return proxy_failed("the daemon sent unexpected descriptors");
    }
    while (end == PROXY_GOES_ON && frame_next(&proxy->from_daemon, &line, &length))
        end = take_line_proxy(proxy, line, length);
    return end;
}

enum { PARTING_MS = 10000 };

/* Takes ownership of `daemon`. Returns 0 or -ENOMEM; call proxy_finish() in both cases. */
static int proxy_init(struct proxy *proxy, int input, int output, int daemon)
{
    *proxy = (struct proxy){.input = input, .output = output, .daemon = daemon};
    proxy->requests = calloc(PROXY_REQUESTS_MAX, sizeof(*proxy->requests));
    if (!proxy->requests || frame_init(&proxy->from_client, PROTO_LINE_MAX) ||
        frame_init(&proxy->from_daemon, PROTO_REPLY_MAX))
        return -ENOMEM;
    return 0;
}

static void proxy_finish(struct proxy *proxy)
{
    for (size_t i = 0; i < proxy->count; i++)
        proxy_request_close(proxy, &proxy->requests[i]);
    proxy_request_close(proxy, &proxy->intake.request);
    free(proxy->intake.line);
    free(proxy->requests);
    out_finish(&proxy->to_client);
    out_finish(&proxy->to_daemon);
    if (proxy->from_client.buffer)
        frame_finish(&proxy->from_client);
    if (proxy->from_daemon.buffer)
        frame_finish(&proxy->from_daemon);
    close(proxy->daemon);
}

static enum proxy_end flush(struct proxy *proxy)
{
    int error;

    do {
        proxy->to_client.cut = 0;
        error = out_flush(&proxy->to_client, proxy->output);
    } while (error == 0 && proxy->to_client.cut);
    if (error || proxy->to_client.broken)
        return PROXY_CLIENT_GONE;
    if (out_flush(&proxy->to_daemon, proxy->daemon))
        return PROXY_DAEMON_GONE;
    return PROXY_GOES_ON;
}

/* Returns the events to poll for. A daemon that no longer reads may still send: the proxy then
 * only reads, until the end of the stream. */
static short daemon_events(const struct proxy *proxy)
{
    short events = downward_open(proxy) ? POLLIN : 0;

    return out_empty(&proxy->to_daemon) || proxy->to_daemon.broken ? events : events | POLLOUT;
}

/* Continues with requests that waited for memory or for a reader. */
static enum proxy_end settle(struct proxy *proxy)
{
    enum proxy_end end;
    bool was_open;
    size_t before, after = proxy->from_client.end - proxy->from_client.begin;

    do {
        before = after;
        was_open = upward_open(proxy);
        end = upward_handle(proxy);
        if (end == PROXY_GOES_ON)
            end = flush(proxy);
        after = proxy->from_client.end - proxy->from_client.begin;
    } while (end == PROXY_GOES_ON && (after < before || (!was_open && upward_open(proxy))));
    return end;
}

static enum proxy_end turn(struct proxy *proxy)
{
    struct pollfd polled[] = {
        {.fd = proxy->input, .events = upward_open(proxy) ? POLLIN : 0},
        {.fd = proxy->output, .events = out_empty(&proxy->to_client) ? 0 : POLLOUT},
        {.fd = proxy->daemon, .events = daemon_events(proxy)},
        {.fd = cancel_fd(), .events = POLLIN}};

    if (poll(polled, 4, -1) < 0 && errno != EINTR)
        return proxy_failed(strerror(errno));
    if (polled[3].revents)
        return PROXY_CLIENT_GONE;
    if ((polled[1].revents & (POLLERR | POLLNVAL)) || (polled[0].revents & (POLLERR | POLLNVAL)))
        return PROXY_CLIENT_GONE;
    enum proxy_end end = PROXY_GOES_ON;
    if (polled[0].revents & POLLIN)
        end = upward_receive(proxy);
    else if (polled[0].revents & POLLHUP)
        end = PROXY_CLIENT_GONE;
    if (end == PROXY_GOES_ON && polled[2].revents && downward_open(proxy))
        end = downward_receive(proxy);
    return end == PROXY_GOES_ON ? settle(proxy) : end;
}

/* Sends the remaining bytes; stops if the client does not read for PARTING_MS. */
static void part(struct proxy *proxy)
{
    while (flush(proxy) != PROXY_CLIENT_GONE && !out_empty(&proxy->to_client)) {
        struct pollfd polled[] = {{.fd = proxy->output, .events = POLLOUT},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        if (poll(polled, 2, PARTING_MS) <= 0 || polled[1].revents)
            return;
    }
}

/* Runs until the client or the daemon closes its connection, or ^C. Returns the reason. */
static enum proxy_end proxy_run(struct proxy *proxy)
{
    enum proxy_end end = PROXY_GOES_ON;

    while (end == PROXY_GOES_ON && !(proxy->leaving && out_empty(&proxy->to_client)))
        end = turn(proxy);
    if (end == PROXY_DAEMON_GONE)
        part(proxy);
    return end == PROXY_GOES_ON ? PROXY_FAILED : end;
}

static const struct option options_table[] = {
    DAEMON_SOCKET_OPTION,
    OPTIONS_COMMON,
};

/* Sends the reason for a failed connection to the client, as a message of the protocol. */
static enum exit_code explain(const mli_client_error *error)
{
    struct jsonw w;
    struct fault fault;
    const struct rpc_id nobody = {.kind = RPC_ID_NULL};

    fault_set(&fault, FAULT_STREAM_ERROR, NULL, "%s", error->message);
    jsonw_init(&w);
    rpc_write_error(&w, &nobody, &fault);
    if (jsonw_text(&w))
        fwrite(w.data, 1, w.length, stdout);
    jsonw_finish(&w);
    return EXIT_CODE_LOST;
}

/* Sets O_NONBLOCK. *before gets the old flags, to be restored because processes share them. */
static int set_mode(int fd, int *before)
{
    *before = fcntl(fd, F_GETFL);
    return *before < 0 ? -1 : fcntl(fd, F_SETFL, *before | O_NONBLOCK);
}

static enum exit_code code_of(enum proxy_end end)
{
    switch (end) {
    case PROXY_CLIENT_GONE:
        return cancel_requested() ? EXIT_CODE_STOPPED : EXIT_CODE_DONE;
    case PROXY_DAEMON_GONE:
        return EXIT_CODE_LOST;
    default:
        return EXIT_CODE_FAILED;
    }
}

static enum exit_code run(const struct options *options)
{
    struct proxy proxy;
    mli_client_error error;
    int daemon, input_mode, output_mode = -1;
    enum exit_code code = EXIT_CODE_FAILED;

    if (isatty(STDIN_FILENO))
        return print_invalid("standard input is a terminal; let mlictl -H ssh://... start proxy");
    if (mli_client_open_socket(options_get(options, "socket"), cancel_fd(), &daemon, &error))
        return explain(&error);
    if (proxy_init(&proxy, STDIN_FILENO, STDOUT_FILENO, daemon))
        print_error("out of memory");
    else if (set_mode(STDIN_FILENO, &input_mode) || set_mode(STDOUT_FILENO, &output_mode))
        print_error("cannot change the mode of standard input or output: %s", strerror(errno));
    else
        code = code_of(proxy_run(&proxy));
    proxy_finish(&proxy);
    if (output_mode >= 0) {
        fcntl(STDOUT_FILENO, F_SETFL, output_mode & ~O_NONBLOCK);
        fcntl(STDIN_FILENO, F_SETFL, input_mode);
    }
    return code;
}

const struct command cmd_proxy = {
    .name = "proxy",
    .arguments = "",
    .summary = "connect mlictl -H to a daemon",
    .details = "Uses the inline form of the protocol on standard input and output.\n",
    .options = options_table,
    .examples = {{"run by mlictl -H ssh://board", "ssh board mlictl proxy"}},
    .run = run,
};
