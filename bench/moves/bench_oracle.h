/* SPDX-License-Identifier: BSD-3-Clause */
/* Computes the expected bytes of a move element by element, from coordinates. */
#ifndef BENCH_ORACLE_H
#define BENCH_ORACLE_H

#include "bench/moves/bench_job.h"

/* Writes to `dst`, laid out as the job's destination. Also the "element loop" of --levels. */
void oracle_write(const struct job *j, uint8_t *dst);

#endif
