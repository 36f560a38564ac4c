/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proves that jobs on one memory do not disturb one another. It knows nothing of plans: its input
 * is the ranges of bytes that each job reads and writes, and the jobs that each job waits for.
 *
 * Two accesses conflict if their ranges overlap and at least one access writes. The proof holds
 * if there is a chain of `after` between the jobs of every two conflicting accesses. Going through
 * the jobs in their order, it is enough to look at the last writer of each byte, and at those of
 * its later readers that no other reader waits for: chains to earlier accesses lead through them.
 */
#ifndef TARGET_TILE_CHECK_H
#define TARGET_TILE_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"

enum { TILE_NAME_MAX = 24, TILE_AFTER_MAX = 8, TILE_ACCESSES_MAX = 4 };

/* Bytes [begin, end) of the memory, counted from its base. */
struct tile_access {
    uint64_t begin, end;
    bool writes; /* false: reads only */
};

/* The bytes that a job uses, and the jobs that it waits for. */
struct tile_use {
    char name[TILE_NAME_MAX]; /* for messages */
    uint32_t after_count, access_count;
    uint32_t after[TILE_AFTER_MAX]; /* indices of jobs, each lower than the index of this job */
    struct tile_access access[TILE_ACCESSES_MAX];
};

/**
 * Checks that all ranges are inside `budget` bytes, that jobs wait for earlier jobs only, and that
 * all conflicting accesses are ordered. Returns 0, or -1 with the fault: FAULT_REFUSED names both
 * jobs and the bytes, FAULT_INTERNAL means out of memory.
 */
int tile_check(const struct tile_use *uses, size_t count, uint64_t budget, struct fault *fault);

#endif /* TARGET_TILE_CHECK_H */
