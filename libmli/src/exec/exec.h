/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes plans on the calling thread: walks the loops and calls leaf kernels. */
#ifndef MLI_EXEC_H
#define MLI_EXEC_H

#include "../plan.h"

void exec_run(const struct mli_plan *plan);

/**
 * One box of it, or a piece of one. src null: zeros are written. `whole` is the bytes of all that
 * the piece is part of: what is large goes past the caches.
 */
void exec_box(const struct mli_copy_box *box, size_t whole);

#endif /* MLI_EXEC_H */
