/* SPDX-License-Identifier: BSD-3-Clause */
/* A large move through the daemon, and the same by calling the library. */
#ifndef BENCH_DIRECT_H
#define BENCH_DIRECT_H

struct large {
    double daemon_ns, library_ns; /* medians */
};

/** 64 MiB, transposed; `socket` is a connection. Exits where the two results differ. */
struct large large_run(int socket, unsigned rounds);

#endif
