/* SPDX-License-Identifier: BSD-3-Clause */
/* A move as a drawing: `mlictl explain --svg`. */
#ifndef CLI_SVG_PICTURE_H
#define CLI_SVG_PICTURE_H

#include "cli/explain/explained.h"
#include "proto/json/textw.h"

/** Writes the whole drawing. The same move gives the same bytes. */
void svg_picture(struct textw *w, const struct explained *explained);

/**
 * Makes a file of it, which appears whole or not at all, and takes the place only of one that is
 * empty or begins like a drawing. Returns 0, or -1 with the fault.
 */
int svg_picture_save(const struct explained *explained, const char *path, struct fault *fault);

#endif /* CLI_SVG_PICTURE_H */
