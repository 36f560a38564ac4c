/* SPDX-License-Identifier: BSD-3-Clause */
#include "fdpass.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* Aligned as the kernel's headers in it must be. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(PROTO_FDS_MAX * sizeof(int))];
};

void fd_close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}

/* Collects the descriptors of one control message; closes those there is no room for. */
static int take(struct cmsghdr *header, int fds[PROTO_FDS_MAX], size_t *count)
{
    size_t given = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    int status = 0;

    for (size_t i = 0; i < given; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
        if (*count < PROTO_FDS_MAX) {
            fds[(*count)++] = fd;
        } else {
            close(fd);
            status = -1;
        }
    }
    return status;
}

ssize_t fd_recv(int socket, void *bytes, size_t size, int fds[PROTO_FDS_MAX], size_t *count)
{
    union control control;
    struct iovec data = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    bool lost;
    ssize_t received;

    *count = 0;
    do {
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received < 0)
        return -errno;
    lost = message.msg_flags & MSG_CTRUNC;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS &&
            take(header, fds, count) < 0)
            lost = true;
    }
    if (!lost)
        return received;
    fd_close_all(fds, *count);
    *count = 0;
    return -EMSGSIZE;
}

ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t count)
{
    union control control;
    /* sendmsg() only reads, but struct iovec has no const. */
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
