/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A move in characters, for a terminal. A letter is an element that is moved: the same letter in
 * the source and in the destination where there are few of them, else a letter for each coordinate
 * of the dimension that the eye is to follow.
 */
#ifndef CLI_PICTURE_TEXT_H
#define CLI_PICTURE_TEXT_H

#include "cli/explain/explained.h"
#include "proto/json/textw.h"

struct picture_text_style {
    int columns;  /* of the terminal; no line is longer */
    bool utf8;    /* the locale has it */
    bool palette; /* the terminal has 256 colours, and they are wanted */
};

/** Columns of the terminal behind stdout, else 80; the locale's characters. */
struct picture_text_style picture_text_style(void);

void picture_text(struct textw *w, const struct explained *explained,
                  const struct picture_text_style *style);

#endif /* CLI_PICTURE_TEXT_H */
