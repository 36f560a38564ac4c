/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of the cache lines of a move alone: each line that the move reads is loaded into a
 * register, each line that it writes is stored whole, and no element is copied. A move is faster
 * than the best order of these accesses only if it uses a better order.
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include "bench/moves/bench_job.h"
#include "bench/moves/bench_peer.h"

/* Measures many orders of a placed job's cache lines; lines_peer then uses the fastest order. */
void lines_choose(const struct job *job, bool cold);

enum { LINES_WAY = 64 };

/* Describes the fastest order, as in "64 x 256, by source, ahead": tiles of 64 bytes in the
 * destination and 256 bytes in the source, in the order of the source, with prefetching. */
const char *lines_way_name(char name[LINES_WAY]);

/* The contender that only accesses the cache lines: the destination gets no result. open() returns
 * null if this processor cannot run it. */
extern const struct peer lines_peer;

#endif /* BENCH_LINES_H */
