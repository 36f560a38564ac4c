/* SPDX-License-Identifier: BSD-3-Clause */
/* From the daemon to the client. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/proxy/proxy.h"
#include "proto/wire/fdpass.h"

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

/* The reply with its member "inline", and the bytes behind it. Returns 0 or -errno. */
static int add_with_bytes(struct proxy *proxy, const struct proxy_request *request,
                          const char *line, size_t length)
{
    char text[INLINE_TEXT_MAX];
    const struct inline_item *items = request->payload.items;
    int written = snprintf(text, sizeof(text), ",\"inline\":[");
    while (length > 0 && line[length - 1] != '}')
        length--;
    for (uint32_t i = 0; i < request->count; i++)
        written += snprintf(text + written, sizeof(text) - (size_t)written, "%s%" PRIu64,
                            i ? "," : "", items[i].back ? items[i].size : 0);
    written += snprintf(text + written, sizeof(text) - (size_t)written, "]}\n");
    if (out_add(&proxy->to_client, line, length - 1) ||
        out_add(&proxy->to_client, text, (size_t)written))
        return -ENOMEM;
    for (uint32_t i = 0; i < request->count; i++) {
        if (items[i].back && out_file(&proxy->to_client, request->fds[i], items[i].size, 1))
            return -ENOMEM;
    }
    proxy->to_client.cut = 0;
    int error = out_flush(&proxy->to_client, proxy->output);
    return error ? error : out_keep(&proxy->to_client);
}

static enum proxy_end take_line(struct proxy *proxy, const char *line, size_t length)
{
    struct rpc_reply reply;
    int error = 0;
    struct proxy_request *request = NULL;
    bool known = rpc_reply_parse(line, length, &reply) == 0;
    if (known && reply.notification == RPC_NOT_A_NOTIFICATION && reply.id.kind != RPC_ID_NULL)
        request = find(proxy, &reply.id);
    if (known && reply.fds > 0)
        error = -EPROTO; /* no method that we let through is answered with one */
    else if (request && reply.ok)
        error = add_with_bytes(proxy, request, line, length);
    else if (out_add(&proxy->to_client, line, length) || out_add(&proxy->to_client, "\n", 1))
        error = -ENOMEM;
    if (request) {
        request_close(proxy, request);
        *request = proxy->requests[--proxy->count];
    }
    rpc_reply_finish(&reply);
    proxy->greeted = true;
    return error ? PROXY_FAILED : PROXY_GOES_ON;
}

bool downward_open(const struct proxy *proxy)
{
    const struct out *out = &proxy->to_client;
    return out_waiting(out) < PROXY_WAITING_MAX && out->mark_begin == out->mark_end;
}

enum proxy_end downward_receive(struct proxy *proxy)
{
    size_t room = 0, count = 0, length;
    int fds[PROTO_FDS_MAX];
    const char *line;
    enum proxy_end end = PROXY_GOES_ON;
    char *bytes = frame_room(&proxy->from_daemon, &room);
    if (!bytes)
        return PROXY_FAILED;
    ssize_t got = fd_recv(proxy->daemon, bytes, room, fds, &count);
    if (got == -EAGAIN || got == -EINTR)
        return PROXY_GOES_ON;
    if (got <= 0)
        return PROXY_DAEMON_GONE;
    frame_commit(&proxy->from_daemon, (size_t)got);
    if (count > 0) {
        fd_close_all(fds, count);
        return PROXY_FAILED;
    }
    while (end == PROXY_GOES_ON && frame_next(&proxy->from_daemon, &line, &length))
        end = take_line(proxy, line, length);
    return end;
}
