/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures libmli as one of the libraries that move a job. */
#ifndef BENCH_OURS_H
#define BENCH_OURS_H

#include "bench/moves/bench_peer.h"

/* The library libmli. If it refuses a move, mli_last_error() returns the reason. */
extern const struct peer ours_peer;

#endif
