/* SPDX-License-Identifier: BSD-3-Clause */
/* The parts of a failure that its kept case has: picture, differing elements, job file. */
#ifndef CLI_REPORT_HTML_EVIDENCE_H
#define CLI_REPORT_HTML_EVIDENCE_H

#include <stddef.h>

#include "proto/json/textw.h"

/**
 * Writes the parts of the kept job file `kept`; `number` makes the ids of the page unique. Writes
 * the reason instead of a part that cannot be made, for example because a file is missing.
 */
void html_evidence(struct textw *w, const char *kept, size_t number);

#endif /* CLI_REPORT_HTML_EVIDENCE_H */
