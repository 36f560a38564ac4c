/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the cache lines of a move cost, and nothing else: each line that it reads is loaded into a
 * register, each one that it writes is written whole, and no element goes from one to the other.
 * A move takes less than the best order to do that in only where it has a better one.
 */
#ifndef BENCH_LINES_H
#define BENCH_LINES_H

#include "bench/moves/bench_peer.h"

/* Tries many orders for a placed job; lines_peer then runs the fastest. */
void lines_choose(const struct job *job, bool cold);

enum { LINES_WAY = 64 };

/* Bytes of its tiles on either side, and how it goes through them: "64 x 256, by source, ahead" */
const char *lines_way_name(char name[LINES_WAY]);

/* Its destination is no move's. open: null where it cannot run. */
extern const struct peer lines_peer;

#endif
