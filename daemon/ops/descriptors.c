/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/reaper.h"
#include "proto/wire/frame.h"
#include "proto/wire/wire_limits.h"

enum {
    /* For each client: its socket, and the descriptors of unfinished lines. */
    DESCRIPTORS_PER_CLIENT = 1 + 2 * PROTO_FDS_MAX,
    DESCRIPTORS_TO_SPARE = 64 + FD_RECV_MAX /* descriptors of mlid itself, and of one message */
};

unsigned descriptors_allow(const struct config *config)
{
    const rlim_t wanted =
        (rlim_t)config->clients * DESCRIPTORS_PER_CLIENT + REAPER_FDS_OF_ALL + DESCRIPTORS_TO_SPARE;
    struct rlimit limit;
    struct log_line line;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
        return (unsigned)wanted;
    limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_cur < wanted && log_begin(&line, LOG_WARNING, "too few descriptors")) {
        log_uint(&line, "allowed", limit.rlim_cur);
        log_uint(&line, "wanted", wanted);
        log_end(&line);
    }
    return (unsigned)limit.rlim_cur;
}

static void ignore(uv_poll_t *poll, int status, int events)
{
    (void)poll;
    (void)status;
    (void)events;
}

static void free_handle(uv_handle_t *handle)
{
    free(handle);
}

/* Watches a descriptor for a moment, so that libuv enlarges its table up to this descriptor. */
static int watch_once(uv_loop_t *loop, int fd)
{
    uv_poll_t *poll = malloc(sizeof *poll);
    int error = poll ? uv_poll_init(loop, poll, fd) : -ENOMEM;

    if (error < 0) {
        free(poll);
        return error;
    }
    error = uv_poll_start(poll, UV_READABLE, ignore);
    uv_close((uv_handle_t *)poll, free_handle);
    return error;
}

int descriptors_reserve(uv_loop_t *loop, unsigned count)
{
    void *room = malloc(2 * (count + 2) * sizeof(void *)); /* libuv rounds up to a power of two */
    const int low = room ? eventfd(0, EFD_CLOEXEC) : -1;

    free(room);
    if (low < 0)
        return -errno;
    const int high = fcntl(low, F_DUPFD_CLOEXEC, (int)count - 1);
    const int error = high < 0 ? -errno : watch_once(loop, high);

    if (high >= 0)
        close(high);
    close(low);
    return error;
}
