/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/cancel.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

/* Nothing reads this pipe: after the first byte, every poll() reports it as readable. */
static int pipe_ends[2] = {-1, -1};
static atomic_bool cancelled; /* lock-free, so that signal handlers may set it */
static struct timespec first;

/* One ^C may arrive twice: from the terminal and from a parent process such as timeout(1). */
enum { SAME_MS = 200 };

static bool is_second(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!cancelled)
        first = now;
    return (now.tv_sec - first.tv_sec) * 1000 + (now.tv_nsec - first.tv_nsec) / 1000000 > SAME_MS;
}

static void note(int number)
{
    int error = errno;
    /* The user does not want to wait: let the second signal kill the program. */
    if (is_second()) {
        signal(number, SIG_DFL);
        raise(number);
    }
    cancelled = true;
    /* If the pipe is full, it is readable already. */
    while (write(pipe_ends[1], "", 1) < 0 && errno == EINTR)
        ;
    errno = error;
}

int cancel_init(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    if (pipe2(pipe_ends, O_CLOEXEC | O_NONBLOCK))
        return -errno;
    /* Without SA_RESTART, a signal interrupts a write() that waits for a reader. */
    struct sigaction action = {.sa_handler = note};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        sigaddset(&action.sa_mask, signals[i]); /* handlers share state: run one at a time */
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        struct sigaction before;
        /* Keep ignoring signals that nohup or a background shell ignores. */
        if (sigaction(signals[i], NULL, &before) || before.sa_handler == SIG_IGN)
            continue;
        if (sigaction(signals[i], &action, NULL))
            return -errno;
    }
    return 0;
}

bool cancel_requested(void)
{
    return cancelled;
}

int cancel_fd(void)
{
    return pipe_ends[0];
}

int cancel_fault(struct fault *fault)
{
    return fault_set(fault, FAULT_CANCELLED, NULL, "cancelled");
}

void cancel_hold(sigset_t *old)
{
    static const int faults[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL};
    sigset_t held;
    sigfillset(&held);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        sigdelset(&held, faults[i]);
    pthread_sigmask(SIG_SETMASK, &held, old);
}

void cancel_admit(const sigset_t *old)
{
    pthread_sigmask(SIG_SETMASK, old, NULL);
}
