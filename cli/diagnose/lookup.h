/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds the only places of several values in a tensor, in one pass. */
#ifndef CLI_DIAGNOSE_LOOKUP_H
#define CLI_DIAGNOSE_LOOKUP_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/diagnose/elements.h"

enum { LOOKUP_MAX = 64 };

struct lookup {
    uint32_t count;
    struct {
        uint32_t word;
        uint64_t times;
        uint32_t at[MLI_MAX_RANK]; /* place of the first element with these bits */
    } value[LOOKUP_MAX];
};

/** Adds the bits of a value and returns its index; LOOKUP_MAX: there is no room. */
uint32_t lookup_add(struct lookup *lookup, uint32_t word);

/** Looks for all values. */
void lookup_run(struct lookup *lookup, const struct elements *elements);

/** Returns whether the tensor has exactly one element with these bits. */
bool lookup_unique(const struct lookup *lookup, uint32_t index);

#endif /* CLI_DIAGNOSE_LOOKUP_H */
