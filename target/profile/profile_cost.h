/* SPDX-License-Identifier: BSD-3-Clause */
/* A cost: a number of cycles with up to six digits after the point. */
#ifndef TARGET_PROFILE_COST_H
#define TARGET_PROFILE_COST_H

#include <stdint.h>

#include "proto/json/json.h"

/* A cost in millionths of a cycle. The file has cycles, as 12 or "0.125". */
typedef uint64_t profile_cost;
#define PROFILE_CYCLE    UINT64_C(1000000)
#define PROFILE_COST_MAX UINT64_MAX /* stands for all sums that do not fit */

enum { PROFILE_COST_TEXT_MAX = 24 };
/** Writes cycles as digits, with a point if there is a fraction: "12", "0.125". Returns `out`. */
const char *profile_cost_text(char out[PROFILE_COST_TEXT_MAX], profile_cost cost);

/** The same for people: writes PROFILE_COST_MAX as "> 18446744073709". */
const char *profile_cost_words(char out[PROFILE_COST_TEXT_MAX], profile_cost cost);

/** Reads an integer or a string with a decimal fraction. Returns 0, or -1 with the fault filled. */
int profile_cost_read(const struct json *value, profile_cost *out);

/** Writes a cost in the form that profile_cost_read() accepts. */
void profile_cost_write(struct jsonw *w, const char *key, profile_cost cost);

#endif /* TARGET_PROFILE_COST_H */
