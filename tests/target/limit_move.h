/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random moves around the limits of a DMA controller: runs, counts, steps and sizes of a descriptor
 * just below, at and above what its fields can hold. Moves of random_move.h are rarely so large.
 */
#ifndef TEST_LIMIT_MOVE_H
#define TEST_LIMIT_MOVE_H

#include "cli/selftest/random_move.h"
#include "mli_engine.h"

/* Limit on the bytes of a run in most moves. */
enum { LIMIT_RUN_MOST = 1 << 20 };

/* X(name, the limit) */
#define LIMIT_CLASSES(X)                                                                           \
    X(run, "bytes of one run")                                                                     \
    X(bytes, "bytes of one descriptor, in rows")                                                   \
    X(count, "rows")                                                                               \
    X(step, "bytes from row to row")                                                               \
    X(nest, "iterations of nested loops")                                                          \
    X(pad, "rows and runs of zeros")                                                               \
    X(subsample, "steps between elements")                                                         \
    X(permute, "elements of a transpose")

enum limit_class {
#define LIMIT_ENUM(name, text) LIMIT_##name,
    LIMIT_CLASSES(LIMIT_ENUM)
#undef LIMIT_ENUM
        LIMIT_CLASS_COUNT
};

/*
 * Makes a random legal move of a class. `burst` is the number of bytes of the controller's longest
 * burst.
 */
void limit_move_draw(struct random_move *move, struct draw *draw, enum limit_class class,
                     const struct mli_channel_caps *caps, uint32_t burst);

const char *limit_class_name(enum limit_class class);

#endif /* TEST_LIMIT_MOVE_H */
