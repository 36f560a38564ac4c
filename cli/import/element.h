/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The expected result of a movement, from the definition of its operator: for each element of the
 * result, the element of a source. Plain loops over coordinates, which share no code with the
 * strided moves of move.c or with libmli.
 */
#ifndef CLI_IMPORT_ELEMENT_H
#define CLI_IMPORT_ELEMENT_H

#include "cli/import/movement.h"

/**
 * Computes the result, `movement_elements() * dtype->size` bytes, from the packed elements of each
 * source.
 */
void element_compute(const struct movement *movement, const uint8_t *const *sources, uint8_t *out);

#endif /* CLI_IMPORT_ELEMENT_H */
