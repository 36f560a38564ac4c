/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The proof that the new job file writes what the old one writes: runs both in this process, with
 * outputs in memory and position-coded inputs (coded_input.h), and compares all outputs byte by
 * byte: files, and buffers that no job reads.
 */
#ifndef CLI_PROOF_H
#define CLI_PROOF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/job/produced.h"
#include "cli/optimise/coded_input.h"
#include "cli/optimise/program.h"
#include "cli/options.h"

struct proof {
    bool equal;
    unsigned passes;
    size_t outputs;        /* number of compared files and buffers */
    uint64_t bytes;        /* their bytes */
    char different[160];   /* the first output that differs; or empty */
    uint64_t different_at; /* its first byte that differs */
};

/**
 * Runs the jobs of `p` and those of `text`, a job file in the same directory. `options`: of the
 * service inside this process. Returns 0 with *proof filled, or -1 with the fault if a job fails or
 * the data exceed the limit of --limit-bytes.
 */
int proof_run(struct proof *proof, const struct program *p, const struct jsonw *text,
              const struct options *options, struct fault *fault);

#endif /* CLI_PROOF_H */
