/* SPDX-License-Identifier: BSD-3-Clause */
/* Times a large move through the daemon and through the library. */
#ifndef BENCH_DIRECT_H
#define BENCH_DIRECT_H

struct large {
    double daemon_ns, library_ns; /* medians */
};

/** Transposes 64 MiB through the connection `socket` and with the library. Exits if the results
 * differ. */
struct large large_run(int socket, unsigned rounds);

#endif
