/* SPDX-License-Identifier: BSD-3-Clause */
/* Transposes whose rows or columns are those of two loops, in panels with a table of each. */
#ifndef MLI_EXEC_PANEL_H
#define MLI_EXEC_PANEL_H

#include "walk.h"

void panel_transpose(const struct leaf_table *leaf, const struct walk *walk, uint8_t *dst,
                     const uint8_t *src);

#endif /* MLI_EXEC_PANEL_H */
