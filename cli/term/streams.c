/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/streams.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/term/cancel.h"
#include "cli/term/print.h"

enum { PARTING_MS = 1000 };

struct stream {
    int fd;
    bool given_up;
};

/* Waits until the descriptor accepts bytes. Returns false one second after a cancel. */
static bool wait_for_room(struct stream *stream)
{
    while (!stream->given_up) {
        bool parting = cancel_requested();
        struct pollfd polled[] = {{.fd = stream->fd, .events = POLLOUT},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        int ready = poll(polled, parting ? 1 : 2, parting ? PARTING_MS : -1);
        if (ready > 0 && polled[0].revents)
            return true;
        stream->given_up = ready == 0 || (ready < 0 && errno != EINTR);
        if (ready < 0 && stream->given_up && stream->fd == STDOUT_FILENO)
            print_note_error(errno);
    }
    return false;
}

/* Writes at most PIPE_BUF bytes at a time: a pipe that polls as writable has room for them, so that
 * write() does not block. */
static ssize_t put(void *cookie, const char *bytes, size_t size)
{
    struct stream *stream = cookie;
    size_t done = 0;
    while (done < size) {
        if (!wait_for_room(stream)) {
            errno = EINTR;
            break;
        }
        size_t want = size - done < PIPE_BUF ? size - done : PIPE_BUF;
        ssize_t written = write(stream->fd, bytes + done, want);
        if (written > 0)
            done += (size_t)written;
        else if (written == 0 || (errno != EINTR && errno != EAGAIN)) {
            if (stream->fd == STDOUT_FILENO)
                print_note_error(written == 0 ? EIO : errno);
            break;
        }
    }
    return (ssize_t)done;
}

static FILE *open_stream(struct stream *stream)
{
    static const cookie_io_functions_t functions = {.write = put};
    return fopencookie(stream, "w", functions);
}

int streams_init(void)
{
    static struct stream output = {.fd = STDOUT_FILENO}, error = {.fd = STDERR_FILENO};
    FILE *out = open_stream(&output), *err = open_stream(&error);
    if (!out || !err)
        return -ENOMEM;
    setvbuf(out, NULL, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF, BUFSIZ);
    setvbuf(err, NULL, _IONBF, 0);
    stdout = out;
    stderr = err;
    return 0;
}
