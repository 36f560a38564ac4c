/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/profile/profile_cost.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COST_DIGITS = 6, COST_CYCLES_MAX = 1000 * 1000 * 1000 };

const char *profile_cost_text(char out[PROFILE_COST_TEXT_MAX], profile_cost cost)
{
    int length = snprintf(out, PROFILE_COST_TEXT_MAX, "%" PRIu64 ".%06" PRIu64,
                          cost / PROFILE_CYCLE, cost % PROFILE_CYCLE);

    while (out[length - 1] == '0')
        out[--length] = '\0';
    if (out[length - 1] == '.')
        out[--length] = '\0';
    return out;
}

const char *profile_cost_words(char out[PROFILE_COST_TEXT_MAX], profile_cost cost)
{
    if (cost < PROFILE_COST_MAX)
        return profile_cost_text(out, cost);
    snprintf(out, PROFILE_COST_TEXT_MAX, "> %" PRIu64, PROFILE_COST_MAX / PROFILE_CYCLE);
    return out;
}

/* Reads digits, and up to six digits after a decimal point. Returns -1 for other text. */
static int parse_cost(const char *text, profile_cost *out)
{
    uint64_t whole = 0, scale = PROFILE_CYCLE, part = 0;
    size_t digits = strspn(text, "0123456789");

    if (digits == 0 || digits > 9)
        return -1;
    for (size_t i = 0; i < digits; i++)
        whole = whole * 10 + (uint64_t)(text[i] - '0');
    text += digits;
    if (*text == '.') {
        digits = strspn(++text, "0123456789");
        if (digits == 0 || digits > COST_DIGITS)
            return -1;
        for (size_t i = 0; i < digits; i++) {
            scale /= 10;
            part += (uint64_t)(text[i] - '0') * scale;
        }
        text += digits;
    }
    *out = whole * PROFILE_CYCLE + part;
    return *text == '\0' ? 0 : -1;
}

int profile_cost_read(const struct json *value, profile_cost *out)
{
    const char *text;
    int64_t number;

    if (json_is_string(value)) {
        if (json_string(value, 16, &text) < 0)
            return -1;
        if (parse_cost(text, out) < 0)
            return json_complain(value,
                                 "\"%s\" given; cycles are required: at most 9 digits, and at most "
                                 "6 after a point",
                                 text);
        return 0;
    }
    if (json_int(value, 0, COST_CYCLES_MAX, &number) < 0)
        return -1;
    *out = (uint64_t)number * PROFILE_CYCLE;
    return 0;
}

void profile_cost_write(struct jsonw *w, const char *key, profile_cost cost)
{
    char text[PROFILE_COST_TEXT_MAX];

    if (cost % PROFILE_CYCLE == 0)
        jsonw_uint(w, key, cost / PROFILE_CYCLE);
    else
        jsonw_string(w, key, profile_cost_text(text, cost));
}
