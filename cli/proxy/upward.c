/* SPDX-License-Identifier: BSD-3-Clause */
/* The direction from the client to the daemon. */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/proxy/proxy.h"
#include "proto/wire/fdpass.h"
#include "proto/wire/rpc.h"

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

/* Reads "id"; an unreadable one becomes null. */
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

/* The reply to a detached job comes before its output exists: it cannot have a payload. */
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
        return json_complain(&inlines, "%u descriptors are announced, but %u are described",
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
            return fault_set(fault, FAULT_LIMIT, NULL, "the proxy: memfd_create: %s",
                             strerror(errno));
        request->fds[request->count++] = fd;
        if (set_size(fd, (off_t)request->payload.items[i].size))
            return fault_set(fault, FAULT_LIMIT, NULL, "the proxy: %s", strerror(errno));
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
                  "method: it needs shared memory, which this connection does not support");
    else if (is_premature(root, &intake->request.payload))
        intake->refused = fault_set(&intake->fault, FAULT_INVALID_REQUEST, "/inline",
                                    "inline: \"back\" cannot be combined with \"detach\": the "
                                    "reply comes before the job has ended") != 0;
    else
        intake->refused = make_memfds(&intake->request, &intake->fault) != 0;
    return PROXY_GOES_ON;
}

static enum proxy_end take_line(struct proxy *proxy, const char *line, size_t length)
{
    struct json root;
    struct fault fault;
    enum proxy_end end;

    /* The daemon refuses invalid JSON with the right fault. */
    if (json_parse(line, length, &rpc_request_limits, &root, &fault))
        return out_add(&proxy->to_daemon, line, length) || out_add(&proxy->to_daemon, "\n", 1)
                   ? proxy_failed("out of memory")
                   : PROXY_GOES_ON;
    struct json fds = json_member(&root, "fds"), inlines = json_member(&root, "inline");
    if (json_is_object(&root) &&
        (json_present(&fds) || json_present(&inlines) || is_refused(&root)))
        end = begin(proxy, &root, line, length);
    else
        end = out_add(&proxy->to_daemon, line, length) || out_add(&proxy->to_daemon, "\n", 1)
                  ? proxy_failed("out of memory")
                  : PROXY_GOES_ON;
    json_free(&root);
    return end;
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
                intake->refused = fault_set(&intake->fault, FAULT_LIMIT, NULL, "the proxy: %s",
                                            strerror(written ? errno : EIO)) != 0;
        }
        intake->offset += size;
    }
    return true;
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

/* A request beyond the limit of memory waits until those before it have ended. */
static bool has_room(const struct proxy *proxy)
{
    return proxy->bytes <= INLINE_BYTES_MAX || proxy->count == 0;
}

bool upward_open(const struct proxy *proxy)
{
    return proxy->greeted && !proxy->leaving && has_room(proxy) &&
           proxy->count < PROXY_REQUESTS_MAX &&
           out_waiting(&proxy->to_daemon) < PROXY_WAITING_MAX &&
           out_waiting(&proxy->to_client) < PROXY_WAITING_MAX;
}

enum proxy_end upward_handle(struct proxy *proxy)
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
            end = take_line(proxy, line, length);
        }
    }
    return end;
}

enum proxy_end upward_receive(struct proxy *proxy)
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
