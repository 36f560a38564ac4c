/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text picture of a move, for a terminal. A letter marks a moved element, in source
 * and destination alike. Up to 52 elements have a letter each; if there are more, all elements with
 * equal coordinates in the first followed dimension share a letter.
 */
#ifndef CLI_PICTURE_TEXT_H
#define CLI_PICTURE_TEXT_H

#include "cli/explain/explained.h"
#include "proto/json/textw.h"

struct picture_text_style {
    int columns;  /* columns of the terminal; no line is longer */
    bool utf8;    /* the locale's encoding is UTF-8 */
    bool palette; /* true: use 256 colours */
};

/** Returns the style for stdout: the terminal's columns (else 80) and colours, and the locale. */
struct picture_text_style picture_text_style(void);

/** Writes the picture of both sides and the legend. */
void picture_text(struct textw *w, const struct explained *explained,
                  const struct picture_text_style *style);

#endif /* CLI_PICTURE_TEXT_H */
