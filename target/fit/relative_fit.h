/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fits non-negative unknowns to measurements: value = sum of factor * unknown. The fit minimises
 * the relative error of each measurement. Outliers count less: their weight is reduced in several
 * passes.
 */
#ifndef TARGET_RELATIVE_FIT_H
#define TARGET_RELATIVE_FIT_H

#include <stdbool.h>
#include <stddef.h>

enum { RELATIVE_FIT_MAX = 64 }; /* largest number of unknowns */

struct relative_fit {
    size_t unknowns, samples;
    const double *factors; /* of sample i: factors[i * unknowns ..] */
    const double *values;  /* positive; of sample i */
};

/**
 * Sets unknown[0 .. unknowns) of a fit. An unknown becomes 0 if all its factors are 0, or
 * without samples.
 */
void relative_fit(const struct relative_fit *fit, double *unknown);

#endif /* TARGET_RELATIVE_FIT_H */
