/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The two tensors of a job without their memory, and the bytes that the job will read and write.
 *
 * To add a kind of job, add it to enum job_op (proto/wire) and to operands_init().
 */
#pragma once

#include <stdint.h>

#include "proto/wire/job.h"

/* Bytes [begin, end), counted from a tensor's first element. */
struct span {
    uint64_t begin, end;
};

struct operands {
    mli_tensor src,
        dst; /* the job owns the per-axis arrays of src; `quant` owns the arrays of dst */
    struct quant quant; /* the destination's parameters: one entry, or one for each index */
    struct span read, written;
    uint64_t bytes; /* the number of bytes that the job writes */
    /* The larger of the bytes read and the bytes written. An element that is far from the next one
       counts as a whole page. */
    uint64_t touched;
};

/**
 * Computes what a job reads and writes, and checks all that can be checked without the memory.
 * job_wire_read() must have read the job, which must outlive the operands. Returns 0, or -1 with
 * *fault filled (its pointer is relative to the job); call operands_finish() only after 0.
 */
int operands_init(struct operands *operands, const struct job *job, struct fault *fault);

/** Fills *desc with the destination that libmli has computed. *desc borrows arrays of *operands. */
void operands_result(struct operands *operands, struct tensor_desc *desc);

/**
 * Returns the span from the first to the last byte of `src` that a move with `cfg` reads. Both must
 * have passed mli_mov_layout(). The span has at least one element, so that it can be mapped even if
 * the move reads only padding. A file needs no bytes outside the span: a tile may be read from a
 * file that has nothing but the tile. An offset above 2^64 - 1 becomes UINT64_MAX.
 */
struct span extent_read(const mli_tensor *src, const mli_mov_cfg_t *cfg);

/* A job and its operands. All starts of a prepared job share one struct work, which is constant. */
struct work {
    uint32_t holders;
    struct job job;
    struct operands operands;
    bool prepared; /* true: made by job.prepare, whose reply described the result */
};

/** Creates work with an empty job and empty operands, with one holder. Returns NULL if out of
 * memory. */
struct work *work_create(void);
/** Counts one more user of `work`, and returns it. Each must call work_release(). */
struct work *work_hold(struct work *work);
/** Removes a holder; frees the work after the last one. Accepts NULL. */
void work_drop(struct work *work);
