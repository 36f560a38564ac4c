/* SPDX-License-Identifier: BSD-3-Clause */
/* What requests cost with many records of ended jobs, beside what they cost with few. */
#ifndef BENCH_GROWTH_H
#define BENCH_GROWTH_H

/** Measures and prints. Exits on failure. */
void growth_run(void);

#endif
