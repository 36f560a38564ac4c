/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The differing elements of a failure, as JSON for the script of the page (page/cells.js). It has
 * numbers and texts of values only. Its size is limited: the places of all differing elements if
 * they are short as run lengths, else counts for square blocks of elements; values of the first
 * elements.
 */
#ifndef CLI_REPORT_HTML_CELLS_H
#define CLI_REPORT_HTML_CELLS_H

#include "cli/diagnose/elements.h"
#include "proto/json/jsonw.h"

/** Writes the object; both tensors have one dtype and shape. */
void html_cells_write(struct jsonw *w, const struct elements *got, const struct elements *wanted);

#endif /* CLI_REPORT_HTML_CELLS_H */
