/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which coordinates of an axis are shown where there are too many for all of them: those beside its
 * edges first, then as many around as there is room for. What lies between two that are shown is a
 * break, which takes room, too.
 */
#ifndef CLI_PICTURE_PICK_H
#define CLI_PICTURE_PICK_H

#include <stddef.h>
#include <stdint.h>

enum { PICK_MAX = 64 };

struct pick {
    uint64_t extent;
    size_t room; /* for coordinates and breaks, at the moment */
    size_t room_for_all;
    size_t count;
    uint64_t at[PICK_MAX]; /* rising */
};

/**
 * An axis of `extent` coordinates: all are shown if there is room for them. Until pick_settle() is
 * called coordinates may take `edges`, if that is more.
 */
void pick_init(struct pick *pick, uint64_t extent, size_t room, size_t edges);

/** What was shown until now stays, what comes has to keep to the room that there is. */
void pick_settle(struct pick *pick);

/** Shows a coordinate, if the axis has it and there is room. */
void pick_add(struct pick *pick, uint64_t at);

/**
 * Shows the coordinates beside edges, the first edges first and the nearest coordinates before
 * farther ones, those at a distance below `reach`. Edge e lies between e - 1 and e.
 */
void pick_around(struct pick *pick, const uint64_t *edges, size_t count, uint64_t reach);

/** To be called last: a single coordinate takes no more room than a break in its place. */
void pick_close(struct pick *pick);

#endif /* CLI_PICTURE_PICK_H */
