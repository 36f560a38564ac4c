/* SPDX-License-Identifier: BSD-3-Clause */
/* An explanation for people: aligned lines. */
#ifndef CLI_EXPLAIN_SHEET_H
#define CLI_EXPLAIN_SHEET_H

#include "cli/explain/explained.h"
#include "proto/json/textw.h"

/** A line that names the job, and all the others. */
void explained_text(struct textw *w, const struct explained *explained);

#endif /* CLI_EXPLAIN_SHEET_H */
