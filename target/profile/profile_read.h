/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of a profile while it is read. The functions return 0, or -1 with the fault of the JSON
 * value filled. Private to target/profile.
 */
#ifndef TARGET_PROFILE_PROFILE_READ_H
#define TARGET_PROFILE_PROFILE_READ_H

#include "proto/json/json.h"
#include "target/profile/target_profile.h"

/** Checks the rules for the profile as a whole: a strict profile must have a vector memory. */
int profile_check(const struct target_profile *profile, const struct json *root);

#endif /* TARGET_PROFILE_PROFILE_READ_H */
