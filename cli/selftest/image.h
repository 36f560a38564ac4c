/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bytes of a case's frames. Two bits of a byte are its zone; six bits count its place in the
 * frame, without 0: a byte that is 0 was cleared.
 */
#ifndef CLI_SELFTEST_IMAGE_H
#define CLI_SELFTEST_IMAGE_H

#include "cli/selftest/selftest_case.h"

enum zone {
    ZONE_DST_WRITTEN = 0x00, /* zone of bytes that the move will overwrite */
    ZONE_DST_KEPT = 0x40,    /* zone of guards, gaps, and elements before dst_offset */
    ZONE_SRC_KEPT = 0x80,    /* zone of guards, gaps, and elements that are not sampled */
    ZONE_SRC_COPIED = 0xc0,
    ZONE_MASK = 0xc0
};

/** Returns the byte at offset `at` of a frame. */
uint8_t image_byte(enum zone zone, size_t at, uint8_t salt);

/** Memory for a case, in whole pages. Each buffer has FRAME_GUARDS_MAX and the limit's bytes. */
struct images {
    uint8_t *src, *src_image;   /* source given to the move, and a copy of it */
    uint8_t *dst, *expected;    /* destination given to the move, and the expected result */
    mli_mov_memory attached[2]; /* source and destination, for the device of the engine */
};

/**
 * Allocates the memory, and attaches it to the engine's device. Returns 0 or -ENOMEM. Call it after
 * the engine is chosen.
 */
int images_init(struct images *images, uint64_t max_bytes);
void images_finish(struct images *images);

/** Fills all four buffers. */
void images_fill(struct images *images, const struct move_case *c);

/** Restores the bytes of the destination that the move has written. */
void images_rearm(const struct images *images, const struct move_case *c);

/** One element of a move, by the definition at the top of mli_mov_api.h. */
struct element {
    uint32_t at[MLI_MAX_RANK]; /* coordinate among the written elements of the destination */
    bool inside;               /* true: an element of the source; false: padding */
    size_t src, dst; /* offsets of the element from the beginning of the frames, in bytes */
};

/** Sets the first element, and the next one. element_next() returns false after the last. */
void element_first(struct element *element, const struct move_case *c);
bool element_next(struct element *element, const struct move_case *c);

#endif /* CLI_SELFTEST_IMAGE_H */
