/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page of `mlictl batch --html`, and the head of this folder:
 *
 *     results -> reporter_html.c     rows and failures, in memory until the end of the run
 *                  -> html_failure.c     a failure: message, command, and with its kept case:
 *                       -> html_evidence.c   picture, elements, job file
 *                            -> html_cells.c     places of the differing elements, for the script
 *                  -> html_page.c        head, totals, environment, table
 *                       -> html_durations.c  durations as a drawing
 *     page                           style and script, which scripts/embed_page.py embeds
 *
 * The page needs no server and no network: its Content-Security-Policy allows nothing but its own
 * style and script, by their hashes. All texts of cases are written as escaped HTML, never as
 * script. Without JavaScript the page has everything but the filter and the map of the elements.
 *
 * To add a part of the page, start here: write it in html_page.c or html_failure.c, style it in
 * page/, list new files of page/ in cli/meson.build, and test it in tests/integration/test_html.py.
 */
#ifndef CLI_REPORT_HTML_TEXT_H
#define CLI_REPORT_HTML_TEXT_H

#include <stdint.h>

#include "proto/json/textw.h"

/** Writes a text of any bytes as HTML text or attribute. Control characters, bytes that are not
 * UTF-8, and characters that change the direction of writing become U+FFFD. */
void html_text(struct textw *w, const char *text);

/** Like html_text(), but keeps tabs and newlines. */
void html_lines(struct textw *w, const char *text);

/** Writes at most `most` bytes of a text, and "..." if it is longer. */
void html_short(struct textw *w, const char *text, size_t most);

#endif /* CLI_REPORT_HTML_TEXT_H */
