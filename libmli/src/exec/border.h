/* SPDX-License-Identifier: BSD-3-Clause */
/* Zeros beside the rows of a box, which are written with the rows and not after all of them. */
#ifndef MLI_EXEC_BORDER_H
#define MLI_EXEC_BORDER_H

#include <stdbool.h>

#include "../plan.h"

/**
 * The box with its innermost loop in the run where that goes on in the destination; its source is
 * of no meaning then.
 */
struct mli_copy_box border_rows(const struct mli_copy_box *box);

/** Does every row of the slab end where one of the box begins, or begin where it ends? */
bool border_is_before(const struct mli_fill_slab *slab, const struct mli_copy_box *box);
bool border_is_after(const struct mli_fill_slab *slab, const struct mli_copy_box *box);

#endif /* MLI_EXEC_BORDER_H */
