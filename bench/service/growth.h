/* SPDX-License-Identifier: BSD-3-Clause */
/* Times requests with many and with few records of ended jobs. */
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

/** Measures and prints the times. Exits on failure. */
void growth_run(void);

#endif
