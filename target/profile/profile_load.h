/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds profiles: the program contains the profiles of conf/profiles; all others are files. */
#pragma once

#include "target/profile/target_profile.h"

/* The text of a profile in conf/profiles. */
struct profile_text {
    const char *name;
    const char *text;
    size_t length;
};

/** The built-in profiles in the order of their names. The last entry has a null name. */
extern const struct profile_text profile_built_in[];

/** Returns the built-in profile of that name, or null. */
const struct profile_text *profile_built_in_named(const char *name);

/** Returns whether `name` is a path: it contains '/' or ends with ".json". */
bool profile_is_path(const char *name);

/**
 * Loads a built-in profile by its name, or a file by its path. Returns 0, or -1 with *fault filled.
 * The text of the fault does not name the file: json_file_name() adds the path.
 */
int profile_load(struct target_profile *profile, const char *name, struct fault *fault);
