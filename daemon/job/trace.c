/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/base/log.h"
#include "daemon/base/seam.h"
#include "proto/wire/chrome_trace.h"

enum { PIECE = 64 * 1024, PAUSE_MS = 1000 };

struct trace {
    int fd; /* -1: the trace has stopped */
    off_t written;
    struct chrome_trace chrome;
    struct textw text; /* trace events that are not written yet */
    uv_timer_t timer;  /* writes the text; is active while `text` is not empty */
};

static void stop(struct trace *trace, int error)
{

    log_one_text(LOG_WARNING, "the trace stops", "error", strerror(error));
    close(trace->fd);
    trace->fd = -1;
    uv_timer_stop(&trace->timer);
    textw_finish(&trace->text);
}

/* Writes the text. Returns 0 or -errno. */
static int write_all(int fd, const char *bytes, size_t length)
{
    while (length > 0) {
        ssize_t got = write(fd, bytes, length);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EIO;
        bytes += got;
        length -= (size_t)got;
    }
    return 0;
}

static int truncate_file(int fd, off_t size)
{
    int status;

    do
        status = ftruncate(fd, size);
    while (status < 0 && errno == EINTR);
    return status;
}

/*
 * Writes the gathered events. If only a part of them can be written, removes this part from the
 * file, so that the file ends with a whole event.
 */
static void flush(struct trace *trace)
{
    int error =
        trace->text.failed ? -ENOMEM : write_all(trace->fd, trace->text.data, trace->text.length);

    uv_timer_stop(&trace->timer);
    if (error < 0) {
        if (truncate_file(trace->fd, trace->written) < 0)
            error = -errno;
        stop(trace, -error);
        return;
    }
    trace->written += (off_t)trace->text.length;
    textw_reset(&trace->text);
}

static void on_timer(uv_timer_t *timer)
{
    flush(timer->data);
}

static int open_file(const char *path)
{
    /* O_NONBLOCK: opening a pipe would wait for a reader. */
    const int flags = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    struct stat st;
    int fd, error = 0;

    do
        fd = open(path, flags, 0600);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return errno == ENXIO || errno == EISDIR ? -EEXIST : -errno;
    if (fstat(fd, &st) < 0 ||
        (S_ISREG(st.st_mode) && (fchmod(fd, 0600) < 0 || truncate_file(fd, 0) < 0)))
        error = -errno;
    else if (!S_ISREG(st.st_mode))
        error = -EEXIST;
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

int trace_create(struct uv_loop_s *loop, const char *path, struct trace **out)
{
    struct trace *trace = seam.calloc(1, sizeof *trace);

    *out = NULL;
    if (!trace)
        return -ENOMEM;
    trace->fd = open_file(path);
    if (trace->fd < 0) {
        const int error = trace->fd;

        free(trace);
        return error;
    }
    uv_timer_init(loop, &trace->timer); /* cannot fail */
    trace->timer.data = trace;
    uv_unref((uv_handle_t *)&trace->timer);
    textw_init(&trace->text);
    chrome_trace_init(&trace->chrome);
    chrome_trace_begin(&trace->chrome, "mlid", &trace->text);
    uv_timer_start(&trace->timer, on_timer, PAUSE_MS, 0);
    *out = trace;
    return 0;
}

void trace_event(struct trace *trace, const struct event *event)
{
    if (!trace || trace->fd < 0)
        return;
    chrome_trace_event(&trace->chrome, event, &trace->text);
    if (trace->text.failed || trace->text.length >= PIECE)
        flush(trace);
    else if (trace->text.length > 0 && !uv_is_active((uv_handle_t *)&trace->timer))
        uv_timer_start(&trace->timer, on_timer, PAUSE_MS, 0);
}

static void on_closed(uv_handle_t *timer)
{
    free(timer->data);
}

void trace_destroy(struct trace *trace)
{
    if (!trace)
        return;
    if (trace->fd >= 0) {
        chrome_trace_end(&trace->chrome, &trace->text);
        flush(trace);
    }
    if (trace->fd >= 0)
        close(trace->fd);
    textw_finish(&trace->text);
    uv_close((uv_handle_t *)&trace->timer, on_closed);
}
