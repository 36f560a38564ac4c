/* SPDX-License-Identifier: BSD-3-Clause */
/* Moves a placed job with the library. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "bench/moves/bench_peer.h"

/* The library as a contender. A refused move fails; mli_last_error() returns the reason. */
extern const struct peer ours_peer;

#endif
