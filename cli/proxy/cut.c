/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/proxy/cut.h"

#include <stdbool.h>
#include <string.h>

/* The text is valid: every string ends, every bracket closes. Still nothing is read beyond `end`.
 */
static const char *skip_string(const char *at, const char *end)
{
    for (at++; at < end && *at != '"'; at++) {
        if (*at == '\\')
            at++;
    }
    return at < end ? at + 1 : end;
}

/* To the comma or bracket that ends the member. */
static const char *skip_member(const char *at, const char *end)
{
    int depth = 0;
    while (at < end) {
        if (*at == '"') {
            at = skip_string(at, end);
            continue;
        }
        if (depth == 0 && (*at == ',' || *at == '}'))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= *at == '}' || *at == ']';
        at++;
    }
    return end;
}

static bool is_key(const char *at, const char *end, const char *key)
{
    at += strspn(at, " \t\r\n");
    size_t length = strlen(key);
    return (size_t)(end - at) > length + 2 && at[0] == '"' && memcmp(at + 1, key, length) == 0 &&
           at[length + 1] == '"';
}

size_t cut_member(const char *text, size_t length, const char *key, char *out)
{
    const char *end = text + length;
    const char *at = memchr(text, '{', length);
    size_t written = 0;
    out[written++] = '{';
    at = at ? at + 1 : end;
    while (at < end && *at != '}') {
        const char *next = skip_member(at, end);
        if (!is_key(at, end, key)) {
            if (written > 1)
                out[written++] = ',';
            memcpy(out + written, at, (size_t)(next - at));
            written += (size_t)(next - at);
        }
        at = next < end && *next == ',' ? next + 1 : next;
    }
    out[written++] = '}';
    return written;
}
