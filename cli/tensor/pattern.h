/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of generated tensors, for `mlictl gen`. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/tensor/dtype.h"
#include "proto/file/npy.h"

/* X(name, meaning), for the enum and the help. */
#define PATTERN_TABLE(X)                                                                           \
    X(index, "the element's coordinate as digits, which shows the origin of a moved element")      \
    X(ramp, "0, 1, 2, ... in the order of the coordinates, wrapping round")                        \
    X(zeros, "0")                                                                                  \
    X(ones, "1")                                                                                   \
    X(checker, "0 and 1 in turn along every dimension")                                            \
    X(random, "any value of an integer type; floats from -1 to 1; reproduced by --seed")

enum pattern_kind {
#define PATTERN_ENUM(name, text) PATTERN_##name,
    PATTERN_TABLE(PATTERN_ENUM)
#undef PATTERN_ENUM
};

struct pattern {
    enum pattern_kind kind;
    const struct dtype *dtype;
    const struct npy_header *header;
    uint64_t seed;
    uint64_t weights[TENSOR_RANK_MAX]; /* value = sum of coordinates * weights */
    bool decimal;                      /* weights are powers of ten */
};

/** The names of all kinds, then null. */
extern const char *const pattern_words[];

/** Prepares a pattern for the tensor that `header` describes. Borrows `header`. */
void pattern_init(struct pattern *pattern, enum pattern_kind kind, const struct npy_header *header,
                  uint64_t seed);

/** Stores the value for coordinate `at` into `element`. */
void pattern_store(const struct pattern *pattern, const uint32_t *at, void *element);
