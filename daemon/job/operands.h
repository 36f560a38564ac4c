/* SPDX-License-Identifier: BSD-3-Clause */
/* The two tensors of a job, complete but for their memory, and the memory they will need. */
#ifndef DAEMON_OPERANDS_H
#define DAEMON_OPERANDS_H

#include <stdint.h>

#include "proto/wire/job.h"

/* Bytes [begin, end) behind a tensor's first element. */
struct span {
    uint64_t begin, end;
};

struct operands {
    mli_tensor src, dst; /* src's per-axis arrays are the job's, dst's are those of `quant` */
    struct quant quant;  /* the destination's parameters: one entry, or one for each index */
    struct span read, written;
    uint64_t bytes;   /* written in all */
    uint64_t touched; /* read or written, whichever is more; whole pages of elements far apart */
};

/**
 * Works out what a job (one that job_wire_read() let through) reads and writes, with every check
 * that needs no memory. Returns 0, or -1 with *fault filled (pointers relative to the job) and
 * nothing to finish. `job` must outlive the operands.
 */
int operands_init(struct operands *operands, const struct job *job, struct fault *fault);
void operands_finish(struct operands *operands);

/** The destination as libmli left it. *desc borrows the arrays of `operands`. */
void operands_result(struct operands *operands, struct tensor_desc *desc);

#endif /* DAEMON_OPERANDS_H */
