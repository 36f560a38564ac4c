/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The parts of the oracle that compare every element with every other: which elements share a byte.
 */
#ifndef TEST_ORACLE_OVERLAP_H
#define TEST_ORACLE_OVERLAP_H

#include "tests/property/move_oracle.h"

/* Largest destination that is compared element by element. */
#define ORACLE_MAX_EXTENT (UINT64_C(8) << 20)

/*
 * Visits an element. `from` is the source element's index, or -1 in the padding; `to` the
 * destination element's.
 */
typedef void oracle_visit(void *context, int64_t from, uint64_t to);

void oracle_each(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                 oracle_visit *visit, void *context);

bool oracle_dst_overlaps_itself(const struct oracle *o, const mli_tensor *src,
                                const mli_mov_cfg_t *cfg);
bool oracle_src_overlaps_dst(const struct oracle *o, const mli_tensor *src,
                             const mli_mov_cfg_t *cfg, const mli_tensor *dst);

#endif /* TEST_ORACLE_OVERLAP_H */
