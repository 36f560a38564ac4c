/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/proxy/proxy.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "proto/wire/fdpass.h"

enum { INLINE_TEXT_MAX = 512 };

void proxy_request_close(struct proxy *proxy, struct proxy_request *request)
{
    fd_close_all(request->fds, request->count);
    proxy->bytes -= request->size;
    request->count = 0;
    request->size = 0;
}

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

enum proxy_end proxy_failed(const char *why)
{
    print_error("proxy: %s", why);
    return PROXY_FAILED;
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
        error = -EPROTO; /* no method that the proxy admits has descriptors in its reply */
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
        end = take_line(proxy, line, length);
    return end;
}

enum { PARTING_MS = 10000 };

int proxy_init(struct proxy *proxy, int input, int output, int daemon)
{
    *proxy = (struct proxy){.input = input, .output = output, .daemon = daemon};
    proxy->requests = calloc(PROXY_REQUESTS_MAX, sizeof(*proxy->requests));
    if (!proxy->requests || frame_init(&proxy->from_client, PROTO_LINE_MAX) ||
        frame_init(&proxy->from_daemon, PROTO_REPLY_MAX))
        return -ENOMEM;
    return 0;
}

void proxy_finish(struct proxy *proxy)
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

/* A daemon that no longer reads may still send: its end is noticed when reading. */
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

/* Sends what is left; ends if the client does not read for PARTING_MS. */
static void part(struct proxy *proxy)
{
    while (flush(proxy) != PROXY_CLIENT_GONE && !out_empty(&proxy->to_client)) {
        struct pollfd polled[] = {{.fd = proxy->output, .events = POLLOUT},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        if (poll(polled, 2, PARTING_MS) <= 0 || polled[1].revents)
            return;
    }
}

enum proxy_end proxy_run(struct proxy *proxy)
{
    enum proxy_end end = PROXY_GOES_ON;

    while (end == PROXY_GOES_ON && !(proxy->leaving && out_empty(&proxy->to_client)))
        end = turn(proxy);
    if (end == PROXY_DAEMON_GONE)
        part(proxy);
    return end == PROXY_GOES_ON ? PROXY_FAILED : end;
}
