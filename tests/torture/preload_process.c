/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of calls for descriptors, sockets, processes, threads and time. */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <semaphore.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/torture/preload.h"

WRAP(int, dup, (int fd), (fd), -1, EMFILE_)
WRAP(int, dup3, (int fd, int other, int flags), (fd, other, flags), -1, EINTR_)
WRAP(int, pipe2, (int ends[2], int flags), (ends, flags), -1, NEW_FD_)
WRAP(int, eventfd, (unsigned value, int flags), (value, flags), -1, NEW_FD_)
WRAP(int, epoll_create1, (int flags), (flags), -1, NEW_FD_)
WRAP(int, epoll_ctl, (int at, int operation, int fd, struct epoll_event *event),
     (at, operation, fd, event), -1, operation == EPOLL_CTL_DEL ? 0U : ENOMEM_ | ENOSPC_)
WRAP(int, epoll_wait, (int at, struct epoll_event *events, int room, int timeout),
     (at, events, room, timeout), -1, EINTR_)
WRAP(int, epoll_pwait,
     (int at, struct epoll_event *events, int room, int timeout, const sigset_t *signals),
     (at, events, room, timeout, signals), -1, EINTR_)
WRAP(int, poll, (struct pollfd * fds, nfds_t count, int timeout), (fds, count, timeout), -1,
     timeout == 0 ? ENOMEM_ : ENOMEM_ | EINTR_)

/*
 * Of all commands of fcntl(), only those that make a descriptor can fail because no descriptor is
 * free.
 */
static unsigned fcntl_kinds(int command)
{
    return command == F_DUPFD || command == F_DUPFD_CLOEXEC ? EMFILE_ : 0U;
}

#define FCNTL_WRAPPER(name)                                                                        \
    int name(int fd, int command, ...)                                                             \
    {                                                                                              \
        NEXT(name);                                                                                \
        va_list args;                                                                              \
        va_start(args, command);                                                                   \
        void *argument = va_arg(args, void *);                                                     \
        va_end(args);                                                                              \
        const int error = choose(#name, fcntl_kinds(command));                                     \
        if (error == 0)                                                                            \
            return next(fd, command, argument);                                                    \
        errno = error;                                                                             \
        return -1;                                                                                 \
    }
FCNTL_WRAPPER(fcntl)
FCNTL_WRAPPER(fcntl64)

WRAP(int, socket, (int domain, int type, int protocol), (domain, type, protocol), -1, NEW_FD_)
WRAP(int, socketpair, (int domain, int type, int protocol, int ends[2]),
     (domain, type, protocol, ends), -1, NEW_FD_)
WRAP(int, bind, (int fd, const struct sockaddr *address, socklen_t size), (fd, address, size), -1,
     ENOMEM_ | EIO_)
WRAP(int, listen, (int fd, int backlog), (fd, backlog), -1, ENOMEM_)
WRAP(int, accept4, (int fd, struct sockaddr *address, socklen_t *size, int flags),
     (fd, address, size, flags), -1, NEW_FD_ | EINTR_)
WRAP(int, setsockopt, (int fd, int level, int option, const void *value, socklen_t size),
     (fd, level, option, value, size), -1, ENOMEM_)

/* If connect() does not wait, it is not interrupted. */
int connect(int fd, const struct sockaddr *address, socklen_t size)
{
    NEXT(connect);
    const int waits = !(fcntl(fd, F_GETFL) & O_NONBLOCK);
    const int error = choose("connect", waits ? EINTR_ | EAGAIN_ : EAGAIN_);
    if (error == 0)
        return next(fd, address, size);
    errno = error;
    return -1;
}

WRAP(pid_t, fork, (void), (), -1, ENOMEM_ | EAGAIN_)
WRAP(int, posix_spawnp,
     (pid_t * child, const char *file, const posix_spawn_file_actions_t *actions,
      const posix_spawnattr_t *attributes, char *const argv[], char *const environment[]),
     (child, file, actions, attributes, argv, environment), error, ENOMEM_ | EAGAIN_)
WRAP(pid_t, waitpid, (pid_t child, int *status, int options), (child, status, options), -1,
     options &WNOHANG ? 0U : EINTR_)
WRAP(int, pthread_create,
     (pthread_t * thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument),
     (thread, attributes, run, argument), error, EAGAIN_)
WRAP(int, sem_wait, (sem_t * semaphore), (semaphore), -1, EINTR_)
WRAP(int, sem_timedwait, (sem_t * semaphore, const struct timespec *until), (semaphore, until), -1,
     EINTR_)
WRAP(int, nanosleep, (const struct timespec *time, struct timespec *left), (time, left), -1,
     left ? 0U : EINTR_)

WRAP(int, getpwnam_r,
     (const char *name, struct passwd *user, char *text, size_t size, struct passwd **found),
     (name, user, text, size, found), (*found = NULL, error), EMFILE_ | EIO_ | EINTR_)
WRAP(int, getpwuid_r,
     (uid_t number, struct passwd *user, char *text, size_t size, struct passwd **found),
     (number, user, text, size, found), (*found = NULL, error), EMFILE_ | EIO_ | EINTR_)
WRAP(int, getgrnam_r,
     (const char *name, struct group *group, char *text, size_t size, struct group **found),
     (name, group, text, size, found), (*found = NULL, error), EMFILE_ | EIO_ | EINTR_)

/* Only the calls that wait can be interrupted. */
static unsigned syscall_kinds(long number, int operation)
{
#ifdef SYS_futex
    const int command = operation & FUTEX_CMD_MASK;
    if (number == SYS_futex && (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET))
        return EINTR_;
#endif
    return 0;
}

long syscall(long number, ...)
{
    NEXT(syscall);
    va_list args;
    long a[6];

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    const int error = choose("syscall", syscall_kinds(number, (int)a[1]));
    if (error == 0)
        return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    errno = error;
    return -1;
}
