/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrappers of calls that move bytes, possibly fewer than requested. */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "tests/torture/preload.h"

enum { VECTORS = 64 };

/* Calls fstat() without this library's wrapper, which would count the call. */
static int file_status(int fd, struct stat *st)
{
    static __typeof__(&fstat) next;

    if (!next)
        *(void **)&next = next_function("fstat");
    return next(fd, st);
}

/* Returns the kinds of errors of a transfer of `size` bytes. */
static unsigned transfer_kinds(int fd, size_t size, bool writes)
{
    struct stat st;
    int type = 0;
    socklen_t length = sizeof(type);
    unsigned kinds = EINTR_;

    if (file_status(fd, &st) < 0)
        return kinds;
    if (S_ISREG(st.st_mode))
        return kinds | EIO_ | (writes ? ENOSPC_ : 0U) | (size > 1 ? short_ : 0U);
    if (S_ISFIFO(st.st_mode))
        return kinds | (size > (writes ? PIPE_BUF : 1) ? short_ : 0U);
    if (S_ISCHR(st.st_mode))
        return kinds | EIO_ | (size > 1 ? short_ : 0U);
    /* A call may move a part of the bytes of a stream; eventfd and timerfd have whole records. */
    if (S_ISSOCK(st.st_mode) && getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &length) == 0)
        return kinds | ECONNRESET_ | (type == SOCK_STREAM && size > 1 ? short_ : 0U);
    return kinds;
}

/* Decides whether a transfer fails. Returns the number of bytes to move, or -1 with errno set. */
static ssize_t allowed(const char *name, int fd, size_t size, bool writes)
{
    const int saved = errno;
    const unsigned kinds = transfer_kinds(fd, size, writes);

    errno = saved;
    const int error = choose(name, kinds);
    if (error == 0)
        return (ssize_t)size;
    if (error == SHORT)
        return (ssize_t)((size + 1) / 2);
    /* After a connection was lost, no more bytes come from it. */
    if (error == ECONNRESET)
        shutdown(fd, SHUT_RDWR);
    errno = error;
    return -1;
}

#define TRANSFER(name, params, args, writes)                                                       \
    ssize_t name params                                                                            \
    {                                                                                              \
        NEXT(name);                                                                                \
        const ssize_t move = allowed(#name, fd, size, writes);                                     \
        if (move < 0)                                                                              \
            return -1;                                                                             \
        size = (size_t)move;                                                                       \
        return next args;                                                                          \
    }

TRANSFER(read, (int fd, void *to, size_t size), (fd, to, size), false)
TRANSFER(write, (int fd, const void *from, size_t size), (fd, from, size), true)
TRANSFER(pread, (int fd, void *to, size_t size, off_t at), (fd, to, size, at), false)
TRANSFER(pread64, (int fd, void *to, size_t size, off64_t at), (fd, to, size, at), false)
TRANSFER(pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at), true)
TRANSFER(pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at), true)
TRANSFER(send, (int fd, const void *from, size_t size, int flags), (fd, from, size, flags), true)

/* The names of _FORTIFY_SOURCE. */
ssize_t __read_chk(int fd, void *to, size_t size, size_t room);
ssize_t __pread64_chk(int fd, void *to, size_t size, off64_t at, size_t room);
TRANSFER(__read_chk, (int fd, void *to, size_t size, size_t room), (fd, to, size, room), false)
TRANSFER(__pread64_chk, (int fd, void *to, size_t size, off64_t at, size_t room),
         (fd, to, size, at, room), false)

ssize_t sendfile64(int fd, int from, off64_t *at, size_t size)
{
    NEXT(sendfile64);
    const ssize_t move = allowed("sendfile64", fd, size, true);
    return move < 0 ? -1 : next(fd, from, at, (size_t)move);
}

ssize_t copy_file_range(int from, off64_t *from_at, int fd, off64_t *at, size_t size,
                        unsigned flags)
{
    NEXT(copy_file_range);
    const ssize_t move = allowed("copy_file_range", fd, size, true);
    return move < 0 ? -1 : next(from, from_at, fd, at, (size_t)move, flags);
}

ssize_t getrandom(void *to, size_t size, unsigned flags)
{
    NEXT(getrandom);
    /* At most 256 bytes come at once. */
    const int error = choose("getrandom", size > 256 ? EINTR_ | short_ : EINTR_);
    if (error == 0 || error == SHORT)
        return next(to, error == 0 ? size : size / 2, flags);
    errno = error;
    return -1;
}

static size_t total(const struct iovec *vectors, size_t count)
{
    size_t sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += vectors[i].iov_len;
    return sum;
}

/* Copies the vectors of the first `size` bytes. Returns their count. */
static size_t cut(struct iovec to[VECTORS], const struct iovec *from, size_t count, size_t size)
{
    size_t kept = 0;

    for (; kept < count && size > 0; kept++) {
        to[kept] = from[kept];
        if (to[kept].iov_len > size)
            to[kept].iov_len = size;
        size -= to[kept].iov_len;
    }
    return kept;
}

#define VECTOR_TRANSFER(name, writes)                                                              \
    ssize_t name(int fd, const struct iovec *vectors, int count)                                   \
    {                                                                                              \
        NEXT(name);                                                                                \
        struct iovec part[VECTORS];                                                                \
        if (count > VECTORS)                                                                       \
            return next(fd, vectors, count);                                                       \
        const ssize_t move = allowed(#name, fd, total(vectors, (size_t)count), writes);            \
        if (move < 0)                                                                              \
            return -1;                                                                             \
        return next(fd, part, (int)cut(part, vectors, (size_t)count, (size_t)move));               \
    }
VECTOR_TRANSFER(readv, false)
VECTOR_TRANSFER(writev, true)

/* A message with descriptors: the kernel attaches them to its first byte. */
static ssize_t message_part(const char *name, int fd, const struct msghdr *message,
                            struct iovec part[VECTORS], struct msghdr *shorter, bool writes)
{
    *shorter = *message;
    if (message->msg_iovlen > VECTORS)
        return 0;
    const ssize_t move = allowed(name, fd, total(message->msg_iov, message->msg_iovlen), writes);
    if (move < 0)
        return -1;
    shorter->msg_iov = part;
    shorter->msg_iovlen = cut(part, message->msg_iov, message->msg_iovlen, (size_t)move);
    return 0;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    NEXT(sendmsg);
    struct iovec part[VECTORS];
    struct msghdr shorter;
    return message_part("sendmsg", fd, message, part, &shorter, true) < 0
               ? -1
               : next(fd, &shorter, flags);
}

ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
    NEXT(recvmsg);
    struct iovec part[VECTORS];
    struct msghdr shorter;
    if (message_part("recvmsg", fd, message, part, &shorter, false) < 0)
        return -1;
    const ssize_t received = next(fd, &shorter, flags);
    shorter.msg_iov = message->msg_iov;
    shorter.msg_iovlen = message->msg_iovlen;
    *message = shorter;
    return received;
}
