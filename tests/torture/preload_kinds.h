/* SPDX-License-Identifier: BSD-3-Clause */
/* X(kind, errno). torture.py reads this table. */
#ifndef TORTURE_PRELOAD_KINDS_H
#define TORTURE_PRELOAD_KINDS_H

#define KIND_TABLE(X)                                                                              \
    X(alloc, ENOMEM)                                                                               \
    X(ENOMEM, ENOMEM)                                                                              \
    X(EAGAIN, EAGAIN)                                                                              \
    X(EMFILE, EMFILE)                                                                              \
    X(ENOSPC, ENOSPC)                                                                              \
    X(EIO, EIO)                                                                                    \
    X(ECONNRESET, ECONNRESET)                                                                      \
    X(EINTR, EINTR)                                                                                \
    X(short, SHORT)

#endif /* TORTURE_PRELOAD_KINDS_H */
