/* SPDX-License-Identifier: BSD-3-Clause */
/* The active target profile, and the checks of a strict profile. */
#pragma once

#include "libmli/src/geometry.h"
#include "mli_helpers_api.h"

extern mli_profile profile_active;

/* True after mli_profile_set() with a profile, false after a call with null. */
extern bool profile_is_set;

/**
 * Checks that elements and parameter arrays are aligned, or returns MLI_STATUS_MISALIGNMENT_ERROR.
 */
mli_status profile_check_alignment(const struct geometry *g, const mli_tensor *src,
                                   const mli_tensor *dst);

/** Checks the addresses of one tensor with elements of `elem` bytes. */
mli_status profile_check_tensor_alignment(const mli_tensor *tensor, uint32_t elem, const char *who);

/**
 * Checks that a kernel operand is inside the vector memory, or returns
 * MLI_STATUS_MEM_BANK_MISMATCH.
 */
mli_status profile_check_bank(const mli_tensor *tensor, const struct extent *extent,
                              const char *who);
