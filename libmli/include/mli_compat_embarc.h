/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions with other prototypes or rules in embARC MLI 2.0 than in the spec. After this header
 * the short names mean embARC's form (mli_compat_*); without it, the spec's form. For C and C++.
 * With MLI_EMBARC_COMPAT defined, mli_mov_api.h and mli_helpers_api.h do the same for their
 * functions.
 *
 * With MLI_COMPAT_KEEP_NAMES defined, the short names keep the spec's form.
 */
#ifndef MLI_COMPAT_EMBARC_H
#define MLI_COMPAT_EMBARC_H

#if !defined(MLI_COMPAT_KEEP_NAMES) && !defined(MLI_EMBARC_COMPAT)
#define MLI_EMBARC_COMPAT
#endif

/*
 * Includes these headers even if the program has included them before: the last lines of each
 * header are outside its include guard, and define the short names.
 */
#include "mli_helpers_api.h"
#include "mli_mov_api.h"

#endif /* MLI_COMPAT_EMBARC_H */
