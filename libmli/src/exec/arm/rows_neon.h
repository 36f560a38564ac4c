/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows, rows between zeros, and zeros, for leaf_neon.c. */
#ifndef MLI_EXEC_ARM_ROWS_NEON_H
#define MLI_EXEC_ARM_ROWS_NEON_H

#include "libmli/src/exec/leaf.h"

leaf_rows rows_neon;
leaf_bordered bordered_neon;
leaf_fill fill_neon;

#endif /* MLI_EXEC_ARM_ROWS_NEON_H */
