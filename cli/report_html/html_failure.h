/* SPDX-License-Identifier: BSD-3-Clause */
/* A case that did not pass, or passed late, as a part of the page that opens and closes. */
#ifndef CLI_REPORT_HTML_FAILURE_H
#define CLI_REPORT_HTML_FAILURE_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/report/result.h"
#include "proto/json/textw.h"

/**
 * Writes a failure with the id "f<number>". `evidence`: also what its kept case has. Without, long
 * messages are cut.
 */
void html_failure(struct textw *w, const struct case_result *result, size_t number, bool evidence);

/** Returns the class of a status in the page: its word. */
const char *html_status(const struct case_result *result);

/** Writes the mark and word of a status, which do not depend on colours. */
void html_verdict(struct textw *w, const char *status);

#endif /* CLI_REPORT_HTML_FAILURE_H */
