/* SPDX-License-Identifier: BSD-3-Clause */
/* Random tensors, and their comparison without mlictl's own loop. */
#ifndef TEST_PLANTED_H
#define TEST_PLANTED_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/diagnose/diagnose.h"
#include "tests/support/rng.h"

enum { PLANTED_ELEMENTS_MAX = 1 << 13 };

struct tensor {
    struct elements elements;
    uint8_t data[PLANTED_ELEMENTS_MAX * 4];
};

/** Returns the seed of MLI_TEST_SEED, or 1; prints it. */
uint64_t planted_seed(void);

/** Makes a packed tensor with zeros. */
void tensor_init(struct tensor *tensor, const struct dtype *dtype, uint32_t rank,
                 const uint32_t *shape);
void tensor_randomise(struct tensor *tensor, struct rng *rng);
/** Makes `to` a copy of `from`. */
void tensor_copy(struct tensor *to, const struct tensor *from);

/** Picks a dtype other than bool and float16. */
const struct dtype *planted_dtype(struct rng *rng);
/** Picks a shape of the rank with extents from `low` to `high` that fits into a tensor. */
void planted_shape(struct rng *rng, uint32_t rank, uint32_t low, uint32_t high,
                   uint32_t shape[MLI_MAX_RANK]);

uint32_t tensor_get(const struct tensor *tensor, const uint32_t *at);
void tensor_set(struct tensor *tensor, const uint32_t *at, uint32_t word);
/** Returns the bits at coordinates that may be outside; *inside says whether they are inside. */
uint32_t tensor_at(const struct tensor *tensor, const int64_t *at, bool *inside);

/** Compares two tensors. Returns whether they differ. */
bool planted_compare(const struct tensor *got, const struct tensor *wanted,
                     struct differing *differing);

/** Compares and diagnoses; `move` as in struct diagnose_request. */
void planted_diagnose(const struct tensor *got, const struct tensor *wanted,
                      const struct diagnose_move *move, struct differing *differing,
                      struct diagnosis *diagnosis);

#endif /* TEST_PLANTED_H */
