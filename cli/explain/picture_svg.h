/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The picture of a move as an SVG drawing, `mlictl explain --svg`: both sides with their captions,
 * ticks and cells, the arrow between them with the steps of the move, and the legend.
 */
#ifndef CLI_EXPLAIN_PICTURE_SVG_H
#define CLI_EXPLAIN_PICTURE_SVG_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/explain/picture.h"
#include "cli/explain/svgw.h"
#include "cli/job/explained.h"
#include "proto/json/textw.h"

/* Captions. An axis's caption is its source dimension, extent and a strip of its colours. */

/* Ticks and breaks. */

/* Sides and legend. */

/** Draws one side of a move: planes of cells, frames around the window, ticks and captions. */
void svg_side(struct textw *w, const struct picture_block *block);

/* The arrow from source to destination, with the steps of the move and its plan in it. */

/** Draws the arrow with its upper left corner at x, y. */
void svg_steps(struct textw *w, const struct explained *explained, int x, int y);

/** Writes the drawing. The bytes of the drawing depend on *explained only. */
void svg_picture(struct textw *w, const struct explained *explained);

/**
 * Writes the drawing to a file, atomically. Replaces an existing file only if it is empty or begins
 * like XML. Returns 0, or -1 with the fault.
 */
int svg_picture_save(const struct explained *explained, const char *path, struct fault *fault);

/* The files of drawings: --svg names the file of one job; several jobs get a file each. */
struct svg_target {
    const char *path; /* path of --svg, or null: no drawings */
    size_t jobs;      /* number of drawings */
    size_t files;     /* number of job files */
};

/** Returns whether drawings go to standard output (--svg -). */
bool svg_target_is_stdout(const struct svg_target *target);

/**
 * Returns the path of a drawing for job number `job` of job file number `file`, both from 0. One
 * job: the path of --svg. Several jobs: "-NAME" goes before the path's ending, or ".NUMBER" if the
 * job has no name, and with several job files the number of the job file before that, so that all
 * paths differ. The caller frees the path. Null: out of memory.
 */
char *svg_target_path(const struct svg_target *target, size_t file, size_t job, const char *name);

#endif /* CLI_EXPLAIN_PICTURE_SVG_H */
