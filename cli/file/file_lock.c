/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/file_lock.h"

#include <errno.h>
#include <poll.h>
#include <sys/file.h>

#include "cli/term/cancel.h"

enum { PAUSE_MIN_MS = 1, PAUSE_MAX_MS = 16 };

/* A blocking flock() would go on after a signal, or miss one that comes just before it. */
int lock_wait(int fd, struct fault *fault)
{
    int pause = PAUSE_MIN_MS;
    while (flock(fd, LOCK_EX | LOCK_NB) && (errno == EWOULDBLOCK || errno == EINTR)) {
        struct pollfd cancelled = {.fd = cancel_fd(), .events = POLLIN};
        poll(&cancelled, 1, pause);
        if (cancel_requested())
            return cancel_fault(fault);
        pause = pause < PAUSE_MAX_MS ? 2 * pause : PAUSE_MAX_MS;
    }
    return 0;
}
