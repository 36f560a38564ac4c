/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes plans on the calling thread: walks the loops and calls leaf kernels. */
#ifndef MLI_EXEC_H
#define MLI_EXEC_H

#include "../plan.h"

/**
 * `whole` is the bytes of the transfer that the plan is all or a part of: what is large goes past
 * the caches.
 */
void exec_run(const struct mli_plan *plan, size_t whole);

#endif /* MLI_EXEC_H */
