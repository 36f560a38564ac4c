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

/**
 * From the first to the last byte that the window of `cfg` reads; at least one element, so that
 * there is something to map even where a window lies in the padding alone. Both must have passed
 * mli_mov_layout(). A distance that 64 bits cannot hold becomes UINT64_MAX. Only what lies in the
 * window counts: a tile may be read from a file that holds no more than the tile.
 */
struct span extent_read(const mli_tensor *src, const mli_mov_cfg_t *cfg);

struct work {
    uint32_t holders;
    struct job job;
    struct operands operands;
    bool prepared; /* its result is known to whoever starts it */
};

/** Held once, with an empty job and empty operands. Null where memory is short. */
struct work *work_create(void);
/** Returns the work. */
struct work *work_hold(struct work *work);
/** Null is fine. */
void work_drop(struct work *work);

#endif /* DAEMON_OPERANDS_H */
