/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes with descriptors attached, over a unix stream socket. */
#ifndef PROTO_FDPASS_H
#define PROTO_FDPASS_H

#include <stddef.h>
#include <sys/types.h>

#include "proto/wire/wire_limits.h"

/* The most descriptors that Linux attaches to one message (SCM_MAX_FD). */
enum { FD_RECV_MAX = 253 };

/**
 * Receives up to `size` bytes and all descriptors that came with them (close-on-exec). The kernel
 * closes none of them, unless the process cannot have more: so a receiver can choose the thread
 * that closes them, since close(2) may block.
 * @return bytes (0: end of stream) or -errno. -EMSGSIZE: the kernel could not deliver all
 * descriptors (MSG_CTRUNC). In any case *count descriptors are in fds, which the caller now owns.
 */
ssize_t fd_recv_all(int socket, void *bytes, size_t size, int fds[FD_RECV_MAX], size_t *count);

/**
 * Receives up to `size` bytes and up to PROTO_FDS_MAX descriptors (close-on-exec).
 * @return bytes (0: end of stream) with *count descriptors in fds, which the caller now owns, or
 * -errno. -EMSGSIZE: descriptors did not fit and were lost (MSG_CTRUNC); those that came are
 * closed. -EAGAIN where a non-blocking socket has nothing.
 */
ssize_t fd_recv(int socket, void *bytes, size_t size, int fds[PROTO_FDS_MAX], size_t *count);

/**
 * Sends bytes with `count` descriptors attached to the first; the caller keeps them.
 * @return bytes sent (the descriptors went with them if any byte did), or -errno. No SIGPIPE.
 */
ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t count);

/** Closes `count` descriptors. */
void fd_close_all(const int *fds, size_t count);

#endif /* PROTO_FDPASS_H */
