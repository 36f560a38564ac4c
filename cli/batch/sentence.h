/* SPDX-License-Identifier: BSD-3-Clause */
/* What is said of a case, the same in all forms. */
#ifndef CLI_BATCH_SENTENCE_H
#define CLI_BATCH_SENTENCE_H

#include <stddef.h>
#include <stdint.h>

#include "cli/batch/result.h"
#include "cli/term/escaped.h"
#include "proto/json/textw.h"

/** "cases/a.json: /expect: 2 of 24 elements differ, ...", what is known of it, by a rule. */
void sentence_what(struct textw *w, const struct case_result *result, escaped_rule rule);

/** ", 580 cases/s", where anything was done. */
void sentence_rate(struct textw *w, size_t cases, uint64_t ns);

#endif /* CLI_BATCH_SENTENCE_H */
