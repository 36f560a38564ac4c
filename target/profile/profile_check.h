/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks of a profile while it is read. The functions return 0, or -1 with the fault of the JSON
 * value filled. Private to target/profile.
 */
#ifndef TARGET_PROFILE_CHECK_H
#define TARGET_PROFILE_CHECK_H

#include "proto/json/json.h"
#include "target/profile/target_profile.h"

/** Checks memories[memory_count] of the profile, which was read from `object` and is not counted
 * yet. */
int profile_check_memory(const struct target_profile *profile, const struct json *object);

int profile_check_dma(const struct profile_dma *dma, const struct json *object);

/** Checks the rules for the profile as a whole: a strict profile must have a vector memory. */
int profile_check(const struct target_profile *profile, const struct json *root);

/** Checks that the JSON pointer of a source names a figure; `value` is the member of the source. */
int profile_check_source(const struct profile_source *source, const struct json *root,
                         const struct json *value);

/** Checks that every figure of the file has a source. */
int profile_check_sources(const struct target_profile *profile, const struct json *root);

#endif /* TARGET_PROFILE_CHECK_H */
