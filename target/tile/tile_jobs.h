/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The jobs of a plan in the order of issue: loads into buffers, kernels, stores from buffers. Jobs
 * wait for one another by `after` alone; every job follows the jobs that it waits for.
 *
 * The tiles of one operand follow one another in its buffers: tile n is in buffer n % count. A load
 * waits for the last use of the buffer's content. Loads are issued as late as the next kernel
 * allows and one kernel ahead: with two buffers a channel that executes jobs in their order loads
 * tile n + 1 while the kernel works on tile n.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "target/tile/tile_plan.h"

struct tile_use;

enum tile_job_kind {
    TILE_JOB_LOAD,
    TILE_JOB_KERNEL, /* the computation on the tile of one step */
    TILE_JOB_FILE,   /* saves an input tile from its buffer to a file, in place of the kernel */
    TILE_JOB_STORE
};

/* The kind of jobs between loads and stores. */
enum tile_program {
    TILE_FIRMWARE, /* loads, stores, and a kernel for each step */
    TILE_MOVES,    /* loads and stores without kernels: stores wait for loads instead */
    TILE_FILES     /* the input tiles are saved to files, and nothing is stored */
};

enum { TILE_NAME_MAX = 24, TILE_AFTER_MAX = 8, TILE_ACCESSES_MAX = 4 };

struct tile_job {
    enum tile_job_kind kind;
    uint32_t operand; /* operand that the job loads, saves or stores; 0 for a kernel */
    uint32_t number;  /* number of the operand's tile; for a kernel, number of its step */
    uint32_t step;    /* load: the first step that needs it; others: the step of the results */
    uint32_t buffer;  /* number of the operand's buffer: `number` modulo the number of buffers */
    uint32_t after_count;
    uint32_t after[TILE_AFTER_MAX]; /* indices of earlier jobs */
};

struct tile_jobs {
    const struct tile_plan *plan; /* borrowed */
    enum tile_program program;
    struct tile_job *job;
    size_t count;
};

/**
 * Makes the jobs of a plan. `loaded`: bits of the operands that are loaded; others (weights without
 * a file) get no jobs. Returns 0, or -1 if out of memory. Finish with tile_jobs_finish().
 */
int tile_jobs_init(struct tile_jobs *jobs, const struct tile_plan *plan, enum tile_program program,
                   uint32_t loaded);
void tile_jobs_finish(struct tile_jobs *jobs);

/**
 * Writes the name of a job, which is unique in the program: "load3", "second3", "weights3",
 * "kernel3", "file3", "second_file3", "weights_file3", "store3".
 */
const char *tile_job_name(const struct tile_jobs *jobs, const struct tile_job *job,
                          char out[TILE_NAME_MAX]);

/** Returns the operand that owns the buffer of the job: the first input for a store in place. */
uint32_t tile_job_owner(const struct tile_plan *plan, const struct tile_job *job);

/** Returns the size of the job's tile in its buffer, in bytes. */
uint64_t tile_job_bytes(const struct tile_plan *plan, const struct tile_job *job);

/**
 * Describes what each job reads and writes in the memory, for tile_check(). Returns an array of
 * jobs->count entries, which the caller frees, or null if out of memory.
 */
struct tile_use *tile_jobs_uses(const struct tile_jobs *jobs);

/*
 * Proves that jobs on one memory do not disturb one another. It knows nothing of plans: its input
 * is the ranges of bytes that each job reads and writes, and the jobs that each job waits for.
 *
 * Two accesses conflict if their ranges overlap and at least one access writes. The proof holds
 * if there is a chain of `after` between the jobs of every two conflicting accesses. The
 * function goes through the jobs in their order. For each byte it only needs the last writer, and
 * those later readers that no other reader waits for, because chains to earlier accesses lead
 * through these jobs.
 */

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
