/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a frame is not what it must be, and where what it holds may have come from. */
#ifndef CLI_SELFTEST_MISMATCH_H
#define CLI_SELFTEST_MISMATCH_H

#include "cli/selftest/image.h"

struct mismatch {
    bool in_src;                    /* the source was changed; else the destination is wrong */
    size_t at;                      /* first wrong byte of the frame */
    size_t count;                   /* wrong bytes in all */
    bool in_element;                /* it belongs to an element that the move writes ... */
    uint32_t element[MLI_MAX_RANK]; /* ... at this coordinate of the destination ... */
    uint32_t byte;                  /* ... this byte of it */
    uint8_t expected, found;
};

/** Compares both frames with their images. True where a byte is wrong. */
bool mismatch_find(struct mismatch *mismatch, const struct images *images,
                   const struct move_case *c);

enum { MISMATCH_TEXT_MAX = 512 };
/** A sentence. Returns `out`. */
const char *mismatch_text(const struct mismatch *mismatch, const struct images *images,
                          const struct move_case *c, char out[MISMATCH_TEXT_MAX]);

#endif /* CLI_SELFTEST_MISMATCH_H */
