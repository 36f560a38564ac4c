/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the expected bytes of a move element by element, from coordinates. */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H

#include "bench/moves/bench_job.h"

/* Writes the expected bytes to `dst`, which has the layout of the job's destination. This loop is
 * also the "element loop" of --levels. */
void oracle_write(const struct job *j, uint8_t *dst);

#endif
