/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Sends requests over a connection, and keeps a fixed number of requests under way. All lines of a
 * flow are equal except for the id, which has a fixed number of digits; replies are counted by
 * their newlines and searched for errors.
 */
#ifndef BENCH_FLOW_H
#define BENCH_FLOW_H

#include <stddef.h>
#include <stdint.h>

enum { FLOW_LINE_MAX = 1024, FLOW_FDS_MAX = 2, FLOW_DEPTH_MAX = 256 };

struct flow {
    int socket;
    char line[FLOW_LINE_MAX]; /* the line, with FLOW_ID in place of the id */
    size_t length;
    int fds[FLOW_FDS_MAX]; /* descriptor sent with each line */
    size_t fd_count;
    unsigned depth;
    uint64_t sent, answered;
    size_t reply_bytes; /* number of bytes of all replies */
};

#define FLOW_ID "1000000000" /* placeholder for the id of a request */

/** Sends a single line with descriptors and returns its reply, zero-terminated; static storage.
 *  Skips lines that are not replies. */
const char *flow_call(int socket, const char *line, const int *fds, size_t fd_count);

/** Initialises a flow whose line the caller has written to flow->line; sets the lengths. */
void flow_init(struct flow *flow, int socket, unsigned depth);

/** Sends requests until `depth` requests are under way. */
void flow_fill(struct flow *flow);
/** Waits for replies and receives them. Exits with the reply if it is an error. */
void flow_receive(struct flow *flow);
/** Sends `count` requests; returns the nanoseconds from the first request to the last reply. */
double flow_run(struct flow *flow, uint64_t count);

#endif
