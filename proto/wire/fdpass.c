/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/fdpass.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* A buffer for control messages, with the alignment of their headers. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(PROTO_FDS_MAX * sizeof(int))];
};

union received_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FD_RECV_MAX * sizeof(int))];
};

void fd_close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}

/* Collects the descriptors of one control message. */
static void take(struct cmsghdr *header, int fds[FD_RECV_MAX], size_t *count)
{
    size_t given = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    if (given > FD_RECV_MAX - *count)
        given = FD_RECV_MAX - *count; /* cannot happen: the control buffer has no more room */
    memcpy(fds + *count, CMSG_DATA(header), given * sizeof *fds);
    *count += given;
}

ssize_t fd_recv_all(int socket, void *bytes, size_t size, int fds[FD_RECV_MAX], size_t *count)
{
    union received_control control;
    struct iovec data = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t received;

    *count = 0;
    do {
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received < 0)
        return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
            take(header, fds, count);
    }
    return message.msg_flags & MSG_CTRUNC ? -EMSGSIZE : received;
}

ssize_t fd_recv(int socket, void *bytes, size_t size, int fds[PROTO_FDS_MAX], size_t *count)
{
    int all[FD_RECV_MAX];
    ssize_t received = fd_recv_all(socket, bytes, size, all, count);

    if (*count > PROTO_FDS_MAX)
        received = -EMSGSIZE;
    if (received < 0) {
        fd_close_all(all, *count);
        *count = 0;
    }
    memcpy(fds, all, *count * sizeof *fds);
    return received;
}

ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t count)
{
    union control control;
    /* sendmsg() only reads the bytes, but struct iovec has no const. */
    struct iovec data = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    ssize_t sent;

    if (count > PROTO_FDS_MAX || (count > 0 && size == 0))
        return -EINVAL;
    if (count > 0) {
        struct cmsghdr *header = &control.align;

        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof *fds);
        memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
    }
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}
