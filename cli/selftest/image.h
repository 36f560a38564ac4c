/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What every byte of a case's frames holds. A byte tells its zone, in two bits, and its place in
 * the frame, in a counter of six that is never 0: a byte that is 0 was cleared.
 */
#ifndef CLI_SELFTEST_IMAGE_H
#define CLI_SELFTEST_IMAGE_H

#include "cli/selftest/selftest_case.h"

enum zone {
    ZONE_DST_WRITTEN = 0x00, /* will be overwritten */
    ZONE_DST_KEPT = 0x40,    /* guards, gaps, and what lies before dst_offset */
    ZONE_SRC_KEPT = 0x80,    /* guards, gaps, and elements that are not sampled */
    ZONE_SRC_COPIED = 0xc0,
    ZONE_MASK = 0xc0
};

/** The byte at `at` of a frame. */
uint8_t image_byte(enum zone zone, size_t at, uint8_t salt);

/** Memory for a case, frames at pages. Each has FRAME_GUARDS_MAX and the limit's bytes. */
struct images {
    uint8_t *src, *src_image; /* given to the move, and a copy of it */
    uint8_t *dst, *expected;  /* given to the move, and what it must become */
};

/** Returns 0 or -ENOMEM. */
int images_init(struct images *images, uint64_t max_bytes);
void images_finish(struct images *images);

/** Fills all four. */
void images_fill(struct images *images, const struct move_case *c);

/** Makes the destination what it was before the move, where that has written it. */
void images_rearm(const struct images *images, const struct move_case *c);

/** One element of a move, straight from the definition at the top of mli_mov_api.h. */
struct element {
    uint32_t at[MLI_MAX_RANK]; /* of those written, destination dimensions */
    bool inside;               /* of the source; else it is padding */
    size_t src, dst;           /* bytes from the beginning of the frames */
};

/** The first element, and each after it; false behind the last. */
void element_first(struct element *element, const struct move_case *c);
bool element_next(struct element *element, const struct move_case *c);

#endif /* CLI_SELFTEST_IMAGE_H */
