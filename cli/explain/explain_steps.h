/* SPDX-License-Identifier: BSD-3-Clause */
/* The steps of a move, and the elements it touches, from its explanation. */
#ifndef CLI_EXPLAIN_STEPS_H
#define CLI_EXPLAIN_STEPS_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/explain/explained.h"

/* X(name, word for people, name in JSON), in the order in which they are taken. */
#define STEP_TABLE(X)                                                                              \
    X(PAD, "pad", "padded")                                                                        \
    X(CROP, "crop", "window")                                                                      \
    X(SUBSAMPLE, "subsample", "sampled")                                                           \
    X(PERMUTE, "permute", "permuted")                                                              \
    X(PLACE, "place", "placed")

#define STEP_ENUM(name, word, member) STEP_##name,
enum step { STEP_TABLE(STEP_ENUM) STEP_COUNT };
#undef STEP_ENUM

const char *step_word(enum step step);
const char *step_member(enum step step);

/** The shape after a step; of the last, the destination's up to what is written. Returns whether
 *  the step does anything. */
bool step_shape(const mli_explanation *move, enum step step, uint64_t shape[MLI_MAX_RANK]);

/** Coordinates of the first and the last element that is read; false: none is. */
bool step_read(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
               uint64_t last[MLI_MAX_RANK]);

/** The same of what is written. */
void step_written(const mli_explanation *move, uint64_t first[MLI_MAX_RANK],
                  uint64_t last[MLI_MAX_RANK]);

#endif /* CLI_EXPLAIN_STEPS_H */
