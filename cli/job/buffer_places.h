/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of a job file on a board without other buffers, placed as the service does: first
 * the buffers with an address, then all others in the order of the file. A buffer without an
 * address gets the smallest free range that is large enough.
 */
#pragma once

#include <stdint.h>

#include "cli/job/job_files.h"
#include "target/profile/target_profile.h"

struct buffer_place {
    const struct profile_memory *memory; /* null: in no memory of the board */
    uint64_t address;
};

struct buffer_places {
    /* One place for each buffer of the file; null: the file has no buffers. */
    struct buffer_place *places;
};

/**
 * Places the buffers of `file` on the board of `profile`. Returns 0, or -1 with the fault and a
 * pointer relative to the file; buffer_places_finish() is legal after both.
 */
int buffer_places_init(struct buffer_places *places, const struct target_profile *profile,
                       const struct job_file *file, struct fault *fault);
void buffer_places_finish(struct buffer_places *places);
