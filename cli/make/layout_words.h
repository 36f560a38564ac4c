/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts in words, as in "NHWC:NCHW": a letter for each dimension, outermost first. */
#ifndef CLI_LAYOUT_WORDS_H
#define CLI_LAYOUT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_types.h"

enum { LAYOUT_WORDS_WHY_MAX = 160 };

struct layout_words {
    uint32_t count; /* of dimensions, 1 .. MLI_MAX_RANK */
    /** Dimension i of the second layout is dimension perm[i] of the first. */
    uint8_t perm[MLI_MAX_RANK];
};

/** Returns whether a text has a letter, which a list of numbers has not. */
bool layout_words_given(const char *text);

/**
 * Reads two layouts with the same letters, each once in a layout. Upper and lower case differ.
 * Returns 0, or -1 with a sentence in `why`.
 */
int layout_words_parse(const char *text, struct layout_words *words,
                       char why[LAYOUT_WORDS_WHY_MAX]);

#endif /* CLI_LAYOUT_WORDS_H */
