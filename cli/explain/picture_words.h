/* SPDX-License-Identifier: BSD-3-Clause */
/* The words in a picture of a move, drawn or typed. Each function returns `out`. */
#ifndef CLI_PICTURE_WORDS_H
#define CLI_PICTURE_WORDS_H

#include "cli/explain/explain_steps.h"
#include "cli/explain/picture.h"

enum { PICTURE_WORDS_MAX = 192, PICTURE_FILE_MAX = 48, PICTURE_TICK_MAX = 24 };
enum { PICTURE_LINE_MAX = PICTURE_WORDS_MAX + 48 };

/* A step of the move (steps.h). */
struct picture_step {
    const char *name;
    bool neutral; /* changes nothing; `what` is empty then */
    char what[PICTURE_WORDS_MAX];
    char shape[PICTURE_WORDS_MAX]; /* after it */
};

/** Fills steps[STEP_COUNT]. */
void picture_steps(const struct explained *explained, struct picture_step *steps);

/** "(4, 6, 8)" */
const char *picture_shape(char out[PICTURE_WORDS_MAX], uint32_t rank, const uint64_t *shape);
/** The same of a tensor's own shape. */
const char *picture_side_shape(char out[PICTURE_WORDS_MAX], const struct explained_side *side);

/** How long an axis is and why: "1+4+1" with padding, "6 at 4 of 12" in a destination. */
const char *picture_axis_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis);

/** Which plane it is: "[0, 2, :, :]", "padding", "gap"; empty where there is one plane only. */
const char *picture_plane_words(char out[PICTURE_WORDS_MAX], const struct picture *picture,
                                const struct picture_side *side, size_t line, size_t plane);

/** The coordinate of a slot as it is told beside an axis; empty where it has none. */
const char *picture_tick_words(char out[PICTURE_TICK_MAX], const struct picture *picture,
                               const struct picture_side *side, const struct picture_axis *axis,
                               size_t slot);

/** The end of a file's name. */
const char *picture_file(char out[PICTURE_FILE_MAX], const char *file);

/** Whether an axis has quantisation parameters of its own for each coordinate. */
bool picture_is_quantised(const struct picture *picture, const struct picture_axis *axis);

#endif /* CLI_PICTURE_WORDS_H */
