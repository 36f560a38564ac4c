/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/sentence.h"

#include <string.h>

void sentence_what(struct textw *w, const struct case_result *result, escaped_rule rule)
{
    const char *message = result->message ? result->message : case_reason_word(result->reason);
    escaped_write(w, result->file, rule);
    if (result->pointer && *result->pointer) {
        textw_printf(w, ": ");
        escaped_write(w, result->pointer, rule);
    }
    if (*message) {
        textw_printf(w, ": ");
        escaped_write(w, message, rule);
    }
}

void sentence_rate(struct textw *w, size_t cases, uint64_t ns)
{
    double rate = ns ? (double)cases * 1e9 / (double)ns : 0;
    if (rate > 0)
        textw_printf(w, ", %.*f cases/s", rate < 9.95 ? 2 : 0, rate);
}
