/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes plans on the calling thread: walks the loops and calls leaf kernels. Tells which, too.
 */
#ifndef MLI_EXEC_H
#define MLI_EXEC_H

#include <stdbool.h>

#include "libmli/src/plan.h"

/**
 * `whole` is the bytes of the transfer that the plan is all or a part of: what is large goes past
 * the caches.
 */
void exec_run(const struct mli_plan *plan, size_t whole);

enum exec_kernel { EXEC_ROWS, EXEC_GATHER, EXEC_TRANSPOSE, EXEC_ZEROS };

/* How exec_run() writes a descriptor. */
struct exec_way {
    enum exec_kernel kernel;
    size_t bytes;      /* of a row; of an element of gathers and transposes */
    const char *level; /* of the kernels */
    bool in_panels;    /* a transpose of which the rows or the columns are those of two loops */
    bool bordered;     /* zeros beside the copy are written with it */
    bool streamed;     /* past the caches */
    bool with_copy;    /* zeros that are written with the copy, not by a kernel of their own */
};

/** Tells the way of a descriptor that is there; false: there is nothing to do in it. */
bool exec_way(const struct mli_plan *plan, size_t whole, uint32_t descriptor, struct exec_way *way);

#endif /* MLI_EXEC_H */
