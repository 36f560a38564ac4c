/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs with another source or with a part of their move. */
#ifndef CLI_FUSED_JOB_H
#define CLI_FUSED_JOB_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/optimise/program.h"

/**
 * Gives *spec, a borrowed copy of the job of step `number`, the source and the cfg of a route.
 * `raw` as for fusion_find(). *quant: parameters of the source for the caller to free, or
 * unchanged. Returns 0 or -1 (out of memory).
 */
int fused_job_take(const struct program *p, bool raw, size_t number, const struct route *route,
                   struct job_spec *spec, struct quant *quant);

/** Gives *spec a part of the step. Its destination becomes a tensor with the shape of the whole
 * result. Otherwise as fused_job_take(). */
int fused_job_take_part(const struct program *p, bool raw, size_t number, size_t part,
                        struct job_spec *spec, struct quant *quant);

#endif /* CLI_FUSED_JOB_H */
