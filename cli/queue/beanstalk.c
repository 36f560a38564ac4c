/* SPDX-License-Identifier: BSD-3-Clause */
/* The connection to beanstalkd. */
#include "cli/queue/beanstalk.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/queue/queue.h"

enum { TIMEOUT_S = 10, BUFFER_MIN = 16 * 1024 };

static int lost(struct fault *fault, int error)
{
    const bool late = error == EAGAIN || error == EWOULDBLOCK || error == EINPROGRESS;

    return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s",
                     late    ? "the server does not answer"
                     : error ? strerror(error)
                             : "the server closed the connection");
}

/* Closes a socket because of errno, which stays. Returns -1. */
static int close_failed(int fd)
{
    const int error = errno;

    close(fd);
    errno = error;
    return -1;
}

/* Creates a socket whose calls, also connect(), take at most some seconds. */
static int open_socket(int family)
{
    const struct timeval limit = {.tv_sec = TIMEOUT_S};
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;

    if (fd < 0)
        return -1;
    if (family != AF_UNIX) /* without it, commands are only slower */
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) == 0 &&
        setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) == 0)
        return fd;
    return close_failed(fd);
}

static int connect_to(int family, const struct sockaddr *address, socklen_t size)
{
    const int fd = open_socket(family);

    if (fd < 0)
        return -1;
    while (connect(fd, address, size)) { /* on Linux, a second call waits for the first */
        if (errno == EISCONN)
            break;
        if (errno != EINTR)
            return close_failed(fd);
    }
    return fd;
}

static int open_local(const struct queue_url *url)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    memcpy(address.sun_path, url->place, strnlen(url->place, sizeof(address.sun_path) - 1));
    return connect_to(AF_UNIX, (struct sockaddr *)&address, sizeof(address));
}

/* Returns a descriptor, or -1 with the fault filled. */
static int open_host(const struct queue_url *url, struct fault *fault)
{
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[8];
    int fd = -1;

    snprintf(port, sizeof(port), "%u", url->port);
    const int error = getaddrinfo(url->place, port, &hints, &found);
    if (error) {
        fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s", gai_strerror(error));
        return -1;
    }
    for (const struct addrinfo *one = found; one && fd < 0; one = one->ai_next)
        fd = connect_to(one->ai_family, one->ai_addr, one->ai_addrlen);
    if (fd < 0)
        lost(fault, errno);
    freeaddrinfo(found);
    return fd;
}

int beanstalk_open(struct beanstalk *link, const struct queue_url *url, struct fault *fault)
{
    *link = (struct beanstalk){.fd = url->local ? open_local(url) : open_host(url, fault)};
    if (link->fd < 0)
        return url->local ? lost(fault, errno) : -1;
    link->capacity = BUFFER_MIN;
    link->buffer = malloc(link->capacity);
    if (link->buffer)
        return 0;
    beanstalk_close(link);
    return fault_no_memory(fault);
}

void beanstalk_close(struct beanstalk *link)
{
    if (link->fd >= 0)
        close(link->fd);
    free(link->buffer);
    *link = (struct beanstalk){.fd = -1};
}

static int send_all(struct beanstalk *link, struct iovec *parts, size_t count, struct fault *fault)
{
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = count};

    while (message.msg_iovlen > 0) {
        ssize_t sent = sendmsg(link->fd, &message, MSG_NOSIGNAL);

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0)
            return lost(fault, errno);
        while (message.msg_iovlen > 0 && (size_t)sent >= message.msg_iov->iov_len) {
            sent -= (ssize_t)message.msg_iov->iov_len;
            message.msg_iov++;
            message.msg_iovlen--;
        }
        if (message.msg_iovlen > 0) {
            message.msg_iov->iov_base = (char *)message.msg_iov->iov_base + sent;
            message.msg_iov->iov_len -= (size_t)sent;
        }
    }
    return 0;
}

int beanstalk_send(struct beanstalk *link, struct fault *fault, const char *format, ...)
{
    char line[BEANSTALK_LINE_MAX];
    va_list args;

    va_start(args, format);
    int length = vsnprintf(line, sizeof(line), format, args);
    va_end(args);
    if (length < 0 || (size_t)length >= sizeof(line))
        return fault_set(fault, FAULT_INTERNAL, NULL, "a command is too long");
    struct iovec parts[] = {{.iov_base = line, .iov_len = (size_t)length},
                            {.iov_base = (char[]){'\r', '\n'}, .iov_len = 2}};
    return send_all(link, parts, 2, fault);
}

int beanstalk_put(struct beanstalk *link, uint32_t priority, uint32_t ttr_s, const char *body,
                  size_t length, struct fault *fault)
{
    char line[BEANSTALK_LINE_MAX], end[] = "\r\n", *bytes = malloc(length ? length : 1);

    if (!bytes)
        return fault_no_memory(fault);
    memcpy(bytes, body, length);
    const int head = snprintf(line, sizeof(line), "put %u 0 %u %zu\r\n", priority, ttr_s, length);
    struct iovec parts[] = {{.iov_base = line, .iov_len = (size_t)head},
                            {.iov_base = bytes, .iov_len = length},
                            {.iov_base = end, .iov_len = 2}};
    const int status = send_all(link, parts, 3, fault);
    free(bytes);
    return status;
}

/* Makes room for `wanted` bytes from `begin` on. */
static int make_room(struct beanstalk *link, size_t wanted, struct fault *fault)
{
    memmove(link->buffer, link->buffer + link->begin, link->end - link->begin);
    link->end -= link->begin;
    link->begin = 0;
    if (wanted <= link->end)
        wanted = link->end + 1;
    if (wanted <= link->capacity)
        return 0;
    char *buffer = realloc(link->buffer, wanted);
    if (!buffer)
        return fault_no_memory(fault);
    link->buffer = buffer;
    link->capacity = wanted;
    return 0;
}

static int receive_more(struct beanstalk *link, size_t wanted, struct fault *fault)
{
    ssize_t got;

    if (make_room(link, wanted, fault))
        return -1;
    do {
        got = recv(link->fd, link->buffer + link->end, link->capacity - link->end, 0);
    } while (got < 0 && errno == EINTR);
    if (got <= 0)
        return lost(fault, got < 0 ? errno : 0);
    link->end += (size_t)got;
    return 0;
}

int beanstalk_receive(struct beanstalk *link, struct beanstalk_reply *reply, struct fault *fault)
{
    for (;;) {
        size_t used;
        const int complete =
            beanstalk_parse(link->buffer + link->begin, link->end - link->begin, reply, &used);

        if (complete > 0) {
            link->begin += used;
            return 0;
        }
        if (complete < 0)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                             "the server does not speak the protocol of beanstalkd");
        if (receive_more(link, used, fault))
            return -1;
    }
}

int beanstalk_unexpected(const struct beanstalk_reply *reply, struct fault *fault)
{
    switch (reply->word) {
    case BEANSTALK_DRAINING:
        return fault_set(fault, FAULT_STREAM_ERROR, NULL, "the server is in drain mode");
    case BEANSTALK_OUT_OF_MEMORY:
    case BEANSTALK_BURIED:
        return fault_set(fault, FAULT_LIMIT, NULL, "the server is out of memory");
    case BEANSTALK_JOB_TOO_BIG:
        return fault_set(
            fault, FAULT_LIMIT, NULL,
            "a case or result exceeds the job size of the server: start beanstalkd with "
            "a greater -z");
    default:
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "the server says: %s",
                         beanstalk_word_text(reply->word));
    }
}
