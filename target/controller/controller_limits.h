/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers of all encoders: limits of fields, addresses of pieces. Internal to the folder. */
#ifndef TARGET_CONTROLLER_LIMITS_H
#define TARGET_CONTROLLER_LIMITS_H

#include "target/controller/controller.h"

/** Lowers a limit to `most`; a limit of 0 is no limit. */
static inline void controller_tighten(size_t *limit, size_t most)
{
    if (*limit == 0 || *limit > most)
        *limit = most;
}

/** Lowers the number of loops around a run to `most`. */
static inline void controller_tighten_loops(struct mli_channel_caps *caps, uint32_t most)
{
    if (caps->loops > most)
        caps->loops = most;
}

/** Returns the board's address of the first byte that a piece reads; 0 for a fill. */
static inline uint64_t controller_src(const struct mli_descriptor *piece)
{
    return (uintptr_t)piece->box.src;
}

/** Returns the board's address of the first byte that a piece writes. */
static inline uint64_t controller_dst(const struct mli_descriptor *piece)
{
    return (uintptr_t)piece->box.dst;
}

#endif /* TARGET_CONTROLLER_LIMITS_H */
