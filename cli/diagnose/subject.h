/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares the tensors of a difference for the hypotheses. */
#ifndef CLI_DIAGNOSE_SUBJECT_H
#define CLI_DIAGNOSE_SUBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/diagnose/diagnose.h"
#include "cli/diagnose/hypothesis.h"

/** Describes a difference; borrows everything. Leaves the source out if it is of another kind. */
void subject_init(struct subject *subject, const struct diagnose_request *request,
                  const struct differing *differing);

/**
 * Computes the bits that the move writes at `at`; the subject has a source. Returns false if the
 * move writes nothing there.
 */
bool subject_moves(const struct subject *subject, const struct diagnose_move *move,
                   const uint32_t *at, uint32_t *word);

#endif /* CLI_DIAGNOSE_SUBJECT_H */
