/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/service/request_flow.h"

#include <err.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "bench/moves/bench_clock.h"
#include "proto/wire/frame.h"

enum { BATCH_FDS = PROTO_FDS_MAX, ID_DIGITS = sizeof FLOW_ID - 1, ID_BASE = 1000000000 };

static char input[256 * 1024];

static void send_all(int socket, const char *bytes, size_t length, const int *fds, size_t count)
{
    for (size_t done = 0; done < length;) {
        const ssize_t sent = fd_send(socket, bytes + done, length - done, fds, done ? 0 : count);

        if (sent < 0)
            errx(1, "send: %s", strerror((int)-sent));
        done += (size_t)sent;
    }
}

const char *flow_call(int socket, const char *line, const int *fds, size_t fd_count)
{
    static char reply[64 * 1024];
    size_t length = 0;

    send_all(socket, line, strlen(line), fds, fd_count);
    for (;;) {
        if (length == sizeof reply - 1 || recv(socket, reply + length, 1, 0) != 1)
            errx(1, "no reply to %s", line);
        if (reply[length++] != '\n')
            continue;
        reply[length] = '\0';
        length = 0;
        if (strstr(reply, "\"error\""))
            errx(1, "%s -> %s", line, reply);
        if (strstr(reply, "\"result\""))
            return reply;
    }
}

void flow_init(struct flow *flow, int socket, unsigned depth)
{
    flow->socket = socket;
    flow->depth = depth;
    flow->length = strlen(flow->line);
    flow->sent = flow->answered = 0;
    flow->reply_bytes = 0;
}

/* Appends the next line to a batch. */
static size_t put(struct flow *flow, char *out)
{
    char *id;
    char digits[ID_DIGITS + 1];

    memcpy(out, flow->line, flow->length);
    id = memmem(out, flow->length, FLOW_ID, ID_DIGITS);
    snprintf(digits, sizeof digits, "%u", (unsigned)(ID_BASE + flow->sent % ID_BASE));
    if (id)
        memcpy(id, digits, ID_DIGITS);
    flow->sent++;
    return flow->length;
}

void flow_fill(struct flow *flow)
{
    static char output[FLOW_DEPTH_MAX * FLOW_LINE_MAX];
    const size_t at_once = flow->fd_count ? BATCH_FDS / flow->fd_count : flow->depth;

    while (flow->sent - flow->answered < flow->depth) {
        int fds[BATCH_FDS];
        size_t length = 0, count = 0;

        for (size_t i = 0; i < at_once && flow->sent - flow->answered < flow->depth; i++) {
            length += put(flow, output + length);
            for (size_t k = 0; k < flow->fd_count; k++)
                fds[count++] = flow->fds[k];
        }
        send_all(flow->socket, output, length, fds, count);
    }
}

void flow_receive(struct flow *flow)
{
    const ssize_t got = recv(flow->socket, input, sizeof input - 1, 0);

    if (got <= 0)
        errx(1, "the connection ended: %s", got < 0 ? strerror(errno) : "closed");
    flow->reply_bytes += (size_t)got;
    if (memmem(input, (size_t)got, "\"error\"", 7))
        errx(1, "%.*s", (int)got, input);
    for (char *at = input; (at = memchr(at, '\n', (size_t)(input + got - at))); at++)
        flow->answered++;
}

double flow_run(struct flow *flow, uint64_t count)
{
    const uint64_t target = flow->answered + count;
    const double begin = clock_ns();
    double end;

    while (flow->answered < target) {
        flow_fill(flow);
        flow_receive(flow);
    }
    end = clock_ns();
    while (flow->answered < flow->sent)
        flow_receive(flow);
    return end - begin;
}
