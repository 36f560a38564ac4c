/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/service/service_cases.h"

#include <err.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int make_memfd(size_t size)
{
    const int fd = memfd_create("bench", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, (off_t)size) < 0)
        err(1, "memfd");
    return fd;
}

static void begin_ping(struct flow *flow, int socket)
{
    (void)socket;
    flow->fd_count = 0;
    snprintf(flow->line, sizeof flow->line,
             "{\"jsonrpc\":\"2.0\",\"id\":" FLOW_ID ",\"method\":\"daemon.ping\"}\n");
}

/* Begins requests that transpose 64 by 64 bytes, with file descriptors for both tensors. */
static void begin_submit(struct flow *flow, int socket)
{
    (void)socket;
    for (int i = 0; i < FLOW_FDS_MAX; i++)
        flow->fds[i] = make_memfd(MOVE_BYTES);
    flow->fd_count = FLOW_FDS_MAX;
    snprintf(flow->line, sizeof flow->line,
             "{\"jsonrpc\":\"2.0\",\"id\":" FLOW_ID ",\"method\":\"job.submit\",\"fds\":2,"
             "\"params\":{\"op\":\"mov\",\"src\":{\"fd\":0,\"type\":\"fx8\",\"shape\":[64,64]},"
             "\"cfg\":{\"perm_dim\":[1,0]},\"dst\":{\"fd\":1}}}\n");
}

static void register_buffers(int socket)
{
    for (int i = 0; i < 2; i++) {
        const int fd = make_memfd(BUFFER_BYTES);

        flow_call(socket,
                  "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"buffer.register\",\"fds\":1,"
                  "\"params\":{\"fd\":0}}\n",
                  &fd, 1);
        close(fd);
    }
}

/* Begins the same transpose in registered buffers. */
static void begin_submit_buffers(struct flow *flow, int socket)
{
    register_buffers(socket);
    flow->fd_count = 0;
    snprintf(flow->line, sizeof flow->line,
             "{\"jsonrpc\":\"2.0\",\"id\":" FLOW_ID ",\"method\":\"job.submit\","
             "\"params\":{\"op\":\"mov\",\"src\":{\"buffer\":1,\"type\":\"fx8\","
             "\"shape\":[64,64]},\"cfg\":{\"perm_dim\":[1,0]},\"dst\":{\"buffer\":2}}}\n");
}

/* Begins the same transpose as a prepared job, at other places of the buffers. */
static void prepare_start(struct flow *flow, int socket, const char *name)
{
    char line[FLOW_LINE_MAX];

    register_buffers(socket);
    snprintf(line, sizeof line,
             "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"job.prepare\","
             "\"params\":{%s\"op\":\"mov\",\"src\":{\"buffer\":1,\"type\":\"fx8\","
             "\"shape\":[64,64]},\"cfg\":{\"perm_dim\":[1,0]},\"dst\":{\"buffer\":2}}}\n",
             name);
    flow_call(socket, line, NULL, 0);
    flow->fd_count = 0;
    snprintf(flow->line, sizeof flow->line,
             "{\"jsonrpc\":\"2.0\",\"id\":" FLOW_ID ",\"method\":\"job.start\",\"params\":{"
             "\"prepared\":1,\"src\":{\"offset\":4096},\"dst\":{\"offset\":8192}}}\n");
}

static void begin_start(struct flow *flow, int socket)
{
    prepare_start(flow, socket, "");
}

/* Gives all jobs one name. */
static void begin_named_start(struct flow *flow, int socket)
{
    prepare_start(flow, socket, "\"name\":\"tile\",");
}

static void begin_stats(struct flow *flow, int socket)
{
    (void)socket;
    flow->fd_count = 0;
    snprintf(flow->line, sizeof flow->line,
             "{\"jsonrpc\":\"2.0\",\"id\":" FLOW_ID ",\"method\":\"daemon.stats\"}\n");
}

/* Lists jobs by a filter that no job matches, so that the service checks all records. */
static void begin_list(struct flow *flow, int socket)
{
    (void)socket;
    flow->fd_count = 0;
    snprintf(flow->line, sizeof flow->line,
             "{\"jsonrpc\":\"2.0\",\"id\":" FLOW_ID ",\"method\":\"job.list\","
             "\"params\":{\"states\":[\"failed\"]}}\n");
}

const struct bench_case case_ping = {"ping", "daemon.ping", begin_ping};
const struct bench_case case_submit = {"submit", "job.submit, descriptors", begin_submit};
const struct bench_case case_submit_buffers = {"buffers", "job.submit, buffers",
                                               begin_submit_buffers};
const struct bench_case case_start = {"start", "job.start", begin_start};
const struct bench_case case_named_start = {"named", "job.start, one name", begin_named_start};
const struct bench_case case_stats = {"stats", "daemon.stats", begin_stats};
const struct bench_case case_list = {"list", "job.list, no match", begin_list};
