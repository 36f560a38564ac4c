/* SPDX-License-Identifier: BSD-3-Clause */
/* Parts of the oracle that go over every element: who shares a byte with whom. */
#ifndef TEST_ORACLE_OVERLAP_H
#define TEST_ORACLE_OVERLAP_H

#include "tests/property/move_oracle.h"

/* Destinations that reach further are not examined element by element. */
#define ORACLE_MAX_EXTENT (UINT64_C(8) << 20)

/* `from` is the source element's index, or -1 in the padding; `to` the destination element's. */
typedef void oracle_visit(void *context, int64_t from, uint64_t to);

void oracle_each(const struct oracle *o, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                 oracle_visit *visit, void *context);

bool oracle_dst_overlaps_itself(const struct oracle *o, const mli_tensor *src,
                                const mli_mov_cfg_t *cfg);
bool oracle_src_overlaps_dst(const struct oracle *o, const mli_tensor *src,
                             const mli_mov_cfg_t *cfg, const mli_tensor *dst);

#endif /* TEST_ORACLE_OVERLAP_H */
