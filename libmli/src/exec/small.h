/* SPDX-License-Identifier: BSD-3-Clause */
/* The only kernel of a build with MLI_SMALL_KERNELS: loops in the order of the destination. */
#ifndef MLI_EXEC_SMALL_H
#define MLI_EXEC_SMALL_H

#include "libmli/src/plan.h"

/** Moves a box, or fills it with zeros if it has no source. */
void small_box(const struct mli_copy_box *box);

/** Moves a plan. */
void small_run(const struct mli_plan *plan);

#endif /* MLI_EXEC_SMALL_H */
