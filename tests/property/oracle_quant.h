/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the oracle for per-axis quantisation parameters. */
#ifndef TEST_ORACLE_QUANT_H
#define TEST_ORACLE_QUANT_H

#include "tests/property/move_oracle.h"

bool oracle_axis_beyond_rank(const mli_tensor *src);

/* Checks the parameters. Sets o->axis and o->copies_params if the parameters are legal. */
mli_status oracle_judge_quant(struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                              const mli_tensor *dst);

#endif /* TEST_ORACLE_QUANT_H */
