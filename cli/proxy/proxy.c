/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/proxy/proxy.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/term/cancel.h"
#include "proto/wire/fdpass.h"

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

void request_close(struct proxy *proxy, struct proxy_request *request)
{
    fd_close_all(request->fds, request->count);
    proxy->bytes -= request->size;
    request->count = 0;
    request->size = 0;
}

void proxy_finish(struct proxy *proxy)
{
    for (size_t i = 0; i < proxy->count; i++)
        request_close(proxy, &proxy->requests[i]);
    request_close(proxy, &proxy->intake.request);
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

/* A daemon that reads no more may still have something to say: its end is seen when it is read. */
static short daemon_events(const struct proxy *proxy)
{
    short events = downward_open(proxy) ? POLLIN : 0;
    return out_empty(&proxy->to_daemon) || proxy->to_daemon.broken ? events : events | POLLOUT;
}

/* What waited for memory or for a reader goes on, as far as it can. */
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
        return PROXY_FAILED;
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

/* The last words to the client, as long as it listens. */
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
