/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's move of a placed job. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "bench/moves/bench_peer.h"

/* As a contender beside the peers. A move that is refused fails: mli_last_error() says why. */
extern const struct peer ours_peer;

#endif
