/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Computes the expected result of a movement from the definition of its operator: finds the source
 * element of each result element. The loops over coordinates share no code with the strided moves
 * of move.c or with libmli.
 */
#pragma once

#include "cli/import/movement.h"

/** Computes the result, movement_elements() * dtype->size bytes, from packed sources. */
void element_compute(const struct movement *movement, const uint8_t *const *sources, uint8_t *out);
