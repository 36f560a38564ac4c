/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests over a connection, so many under way at a time. All lines of a flow are the same but for
 * the id, which has a fixed number of digits; replies are counted by their newlines and looked
 * through for errors.
 */
#ifndef BENCH_FLOW_H
#define BENCH_FLOW_H

#include <stddef.h>
#include <stdint.h>

enum { FLOW_LINE_MAX = 1024, FLOW_FDS_MAX = 2, FLOW_DEPTH_MAX = 256 };

struct flow {
    int socket;
    char line[FLOW_LINE_MAX]; /* has FLOW_ID in it where the id goes */
    size_t length;
    int fds[FLOW_FDS_MAX]; /* that go with each line */
    size_t fd_count;
    unsigned depth;
    uint64_t sent, answered;
    size_t reply_bytes; /* of all that were answered */
};

#define FLOW_ID "1000000000" /* the digits that are replaced */

/** Sends a single line with descriptors and returns its reply, zero-terminated; static storage.
 *  Lines that are no replies are skipped. */
const char *flow_call(int socket, const char *line, const int *fds, size_t fd_count);

/** Lines are taken from `format` by the caller's snprintf; this sets the lengths. */
void flow_init(struct flow *flow, int socket, unsigned depth);

/** Sends until `depth` are under way. */
void flow_fill(struct flow *flow);
/** Receives what there is, and waits for it. Exits with the reply where it is an error. */
void flow_receive(struct flow *flow);
/** `count` requests from first to last answer. Returns nanoseconds. */
double flow_run(struct flow *flow, uint64_t count);

#endif
