/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The page of `mlictl batch --html`:
 *
 *     results -> reporter_html.c    rows and failures, in memory until the end of the run; head,
 *                                   totals, durations as a drawing, table, environment
 *                  -> html_evidence.c     parts from a kept case: picture, elements, job file
 *                  -> html_text.c         texts of any bytes as HTML
 *     page                          style and script, which scripts/embed_page.py embeds
 *
 * The page needs no server and no network: its Content-Security-Policy allows nothing but its own
 * style and script, by their hashes. All texts of cases are written as escaped HTML, never as
 * script. Without JavaScript the page has everything but the filter and the map of the elements.
 *
 * To add a part of the page, start here: write it in reporter_html.c, style it in page/,
 * list new files of page/ in cli/meson.build, and test it in tests/integration/test_html.py.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "cli/report/result.h"
#include "proto/json/jsonw.h"

/* Text and hash of the style and the script, from page/ by scripts/embed_page.py. */
extern const char html_page_style[], html_page_style_hash[];
extern const char html_page_script[], html_page_script_hash[];

/** Writes a text of any bytes as HTML text or attribute. Control characters, bytes that are not
 * UTF-8, and characters that change the direction of writing become U+FFFD. */
void html_text(struct textw *w, const char *text);

/** Like html_text(), but keeps tabs and newlines. */
void html_lines(struct textw *w, const char *text);

/** Writes at most `most` bytes of a text, and "..." if it is longer. */
void html_short(struct textw *w, const char *text, size_t most);

/**
 * Writes the parts of the kept job file `kept`; `number` makes the ids of the page unique. Writes
 * the reason instead of a part that cannot be made, for example because a file is missing.
 */
void html_evidence(struct textw *w, const char *kept, size_t number);

/* The durations of cases as a drawing: the number of cases for each range of times. */

/* Bins: four for each decade, from below 1 us to 1000 s and more. */
enum { DURATIONS_PER_DECADE = 4, DURATIONS_BINS = 9 * DURATIONS_PER_DECADE + 2 };

struct durations {
    size_t count[DURATIONS_BINS];
    size_t all;
};

void durations_add(struct durations *durations, uint64_t ns);
/** Writes the drawing; nothing if there are no cases. */
void durations_write(struct textw *w, const struct durations *durations);
