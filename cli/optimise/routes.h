/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sources from which a step can make its result: its own, and those of the steps that wrote its
 * source, and so on. A step may read such a source if one move can do so, and if nothing has
 * overwritten the source meanwhile.
 */
#ifndef CLI_ROUTES_H
#define CLI_ROUTES_H

#include <stdbool.h>

#include "cli/optimise/program.h"

/**
 * Finds the routes of a step; those of the earlier steps are known. Sets also the cost and the
 * obstacle. `raw`: reads .npy files as raw files if a move needs it. Returns 0 or -1 (out of
 * memory).
 */
int routes_find(struct program *p, struct program_step *step, bool raw);

/* The source and the cfg of a step that reads a route. */
struct fused_move {
    struct move_source source;
    struct job_common common; /* cfg and lengths but for the placement */
    bool free;                /* shape, strides and offset are those of `source` */
};

/** Finds the move of a route. Returns NOT_KEPT, or the reason why no job can have it. */
enum kept route_form(const struct program *p, const struct program_step *step,
                     const struct route *route, bool raw, struct fused_move *move);

/**
 * Computes the quantisation parameters of the source of a fused move, so that those of the result
 * stay the same. *quant borrows from the job unless *own: then the caller frees it with
 * quant_alloc(quant, 0). Returns 0 or -1 (out of memory).
 */
int route_quant(const struct program_step *step, const struct fused_move *move, struct quant *quant,
                bool *own);

#endif /* CLI_ROUTES_H */
