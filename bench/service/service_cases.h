/* SPDX-License-Identifier: BSD-3-Clause */
/* The kinds of requests that are measured. */
#ifndef BENCH_CASES_H
#define BENCH_CASES_H

#include "bench/service/request_flow.h"

enum { MOVE_BYTES = 4096, BUFFER_BYTES = 1 << 20 };

/* A kind of request. begin() prepares a connection for it, and writes the request to the `line` of
 * the flow. */
struct bench_case {
    const char *name;
    const char *title;
    void (*begin)(struct flow *flow, int socket);
};

extern const struct bench_case case_ping, case_submit, case_submit_buffers, case_start;
extern const struct bench_case case_named_start, case_stats, case_list;

/** Returns a memfd of zeros; the caller closes it. */
int make_memfd(size_t size);

#endif
