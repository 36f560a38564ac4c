/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of all measurements: regions for sources, destinations and expected bytes, mapped and
 * touched once. The source and the destination of a job are placed at random in their regions.
 */
#ifndef BENCH_MEMORY_H
#define BENCH_MEMORY_H

#include "bench/moves/bench_job.h"

enum { MEMORY_GUARD = 64, MEMORY_FILL = 0xA5 };

struct memory {
    uint8_t *src, *dst, *expected;
    size_t src_size, dst_size; /* bytes of src and dst */
    size_t room;               /* a job may begin up to this many bytes after their start */
    uint64_t random;           /* state of the random generator */
};

/* Allocates the regions for jobs of up to `src_bytes` and `dst_bytes`. Returns 0, or -1 after a
 * message. */
int memory_init(struct memory *m, size_t src_bytes, size_t dst_bytes, uint64_t seed);
void memory_finish(struct memory *m);

uint64_t memory_random(struct memory *m);

/* Sets j->src and j->dst to random cache lines of the regions. */
void memory_place(struct memory *m, struct job *j);

/* Fills the destination and its guards; then, after a move, compares it with the expectation. */
void memory_clear(const struct job *j);

/* Computes the expected destination of a placed job; `spoil` makes one expected byte wrong. */
void memory_expect(struct memory *m, const struct job *j, bool spoil);

/* Returns the offset of the first wrong byte from the destination's start, guards included, or -1.
 * Stores the found and the expected value of this byte. */
bool memory_differs(const struct memory *m, const struct job *j, int64_t *at, uint8_t values[2]);

#endif
