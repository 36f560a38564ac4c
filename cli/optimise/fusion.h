/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Chooses for each step the source that it reads, so that few jobs are needed. A step may read the
 * source of the step that wrote its own source (a route of its result), and so on upwards, if one
 * move can do both and nothing has overwritten that source meanwhile. Steps whose result nobody
 * reads any longer are not needed.
 */
#ifndef CLI_FUSION_H
#define CLI_FUSION_H

#include <stdbool.h>

#include "cli/optimise/program.h"

/** Sets chosen, alive, obstacle and reader of all steps, also again after a change of `needed`.
 * `raw`: reads .npy files as raw files if a move needs it. Returns 0 or -1 (out of memory, or a
 * cancel). */
int fusion_find(struct program *p, bool raw, struct fault *fault);

#endif /* CLI_FUSION_H */
