/* SPDX-License-Identifier: BSD-3-Clause */
/* Executes a plan on the calling thread: walks the loops and calls leaf kernels. */
#ifndef MLI_EXEC_H
#define MLI_EXEC_H

#include "../plan.h"

void exec_run(const struct plan *plan);

#endif /* MLI_EXEC_H */
