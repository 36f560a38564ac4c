/* SPDX-License-Identifier: BSD-3-Clause */
/* The active target profile, and what a strict one demands. */
#ifndef MLI_PROFILE_H
#define MLI_PROFILE_H

#include "libmli/src/geometry.h"
#include "mli_helpers_api.h"

extern mli_profile profile_active;

/* A profile was given to mli_profile_set(); false after a null one. */
extern bool profile_is_set;

/** Addresses of elements and parameter arrays on element boundaries: MLI_STATUS_MISALIGNMENT_ERROR.
 */
mli_status profile_check_alignment(const struct geometry *g, const mli_tensor *src,
                                   const mli_tensor *dst);

/** Checks the addresses of one tensor, whose elements are `elem` bytes. */
mli_status profile_check_tensor_alignment(const mli_tensor *tensor, uint32_t elem, const char *who);

/** A kernel operand's bytes inside the vector memory: MLI_STATUS_MEM_BANK_MISMATCH. */
mli_status profile_check_bank(const mli_tensor *tensor, const struct extent *extent,
                              const char *who);

#endif /* MLI_PROFILE_H */
