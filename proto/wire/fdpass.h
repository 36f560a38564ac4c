/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends and receives bytes with descriptors over a unix stream socket. */
#ifndef PROTO_FDPASS_H
#define PROTO_FDPASS_H

#include <stddef.h>
#include <sys/types.h>

#include "proto/wire/wire_limits.h"

/* The maximum number of descriptors in one message on Linux (SCM_MAX_FD). */
enum { FD_RECV_MAX = 253 };

/**
 * Receives up to `size` bytes and all descriptors of their message (close-on-exec). With room for
 * FD_RECV_MAX descriptors the kernel closes none itself, so the caller can choose the thread that
 * closes them: close(2) may block.
 * @return bytes (0: end of stream) or -errno. -EMSGSIZE: the kernel could not deliver all
 * descriptors (MSG_CTRUNC). In any case the caller owns the *count descriptors in fds.
 */
ssize_t fd_recv_all(int socket, void *bytes, size_t size, int fds[FD_RECV_MAX], size_t *count);

/**
 * Receives up to `size` bytes and up to PROTO_FDS_MAX descriptors (close-on-exec).
 * @return bytes (0: end of stream) with *count descriptors in fds, which the caller owns, or
 * -errno. -EMSGSIZE: too many descriptors; all are closed. -EAGAIN: a non-blocking socket has no
 * bytes.
 */
ssize_t fd_recv(int socket, void *bytes, size_t size, int fds[PROTO_FDS_MAX], size_t *count);

/**
 * Sends bytes with `count` descriptors attached to the first byte; the caller keeps them.
 * @return bytes sent, or -errno. If at least one byte was sent, so were the descriptors. Raises no
 * SIGPIPE.
 */
ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t count);

/** Closes `count` descriptors. */
void fd_close_all(const int *fds, size_t count);

#endif /* PROTO_FDPASS_H */
