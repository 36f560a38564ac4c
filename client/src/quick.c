/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/client_state.h"

#include <string.h>

/* Writing. */

#define PUT(at, literal) put(at, literal, sizeof(literal) - 1)

static char *put(char *at, const char *text, size_t length)
{
    memcpy(at, text, length);
    return at + length;
}

static char *put_number(char *at, uint64_t number)
{
    char digits[20];
    size_t count = 0;

    do {
        digits[count++] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    while (count > 0)
        *at++ = digits[--count];
    return at;
}

static char *put_memory(char *at, const char *key, const mli_client_other *other)
{
    if (other->buffer == 0 && !other->has_offset)
        return at;
    at = PUT(at, ",\"");
    at = put(at, key, 3);
    at = PUT(at, "\":{");
    if (other->buffer) {
        at = PUT(at, "\"buffer\":");
        at = put_number(at, other->buffer);
    }
    if (other->has_offset) {
        if (other->buffer)
            *at++ = ',';
        at = PUT(at, "\"offset\":");
        at = put_number(at, other->offset);
    }
    *at++ = '}';
    return at;
}

size_t quick_write_start(char text[QUICK_START_MAX], uint64_t id, const mli_client_start_args *args)
{
    char *at = PUT(text, "{\"jsonrpc\":\"2.0\",\"id\":");

    at = put_number(at, id);
    at = PUT(at, ",\"method\":\"job.start\",\"params\":{\"prepared\":");
    at = put_number(at, args->prepared);
    at = put_memory(at, "src", &args->src);
    at = put_memory(at, "dst", &args->dst);
    at = PUT(at, "}}\n");

    return (size_t)(at - text);
}

/* Reading. */

struct scan {
    const char *at, *end;
};

#define TAKE(scan, literal) take(scan, literal, sizeof(literal) - 1)

static bool take(struct scan *scan, const char *text, size_t length)
{
    if ((size_t)(scan->end - scan->at) < length || memcmp(scan->at, text, length) != 0)
        return false;
    scan->at += length;
    return true;
}

/* Parses a whole number without sign and leading zeros, of at most 15 digits. */
static bool take_number(struct scan *scan, uint64_t *number)
{
    const char *begin = scan->at;
    uint64_t value = 0;

    while (scan->at < scan->end && *scan->at >= '0' && *scan->at <= '9' && scan->at - begin < 16)
        value = value * 10 + (uint64_t)(*scan->at++ - '0');
    size_t digits = (size_t)(scan->at - begin);
    *number = value;
    return digits > 0 && digits < 16 && (digits == 1 || *begin != '0');
}

/* Parses printable ASCII without escapes, and the closing quote. */
static bool take_word(struct scan *scan, char *out, size_t size)
{
    for (size_t i = 0; i < size && scan->at < scan->end; i++) {
        char c = *scan->at++;
        if (c == '"') {
            out[i] = '\0';
            return true;
        }
        if (c < ' ' || c > '~' || c == '\\')
            return false;
        out[i] = c;
    }
    return false;
}

bool quick_read_result(const char *line, size_t length, uint64_t *id, mli_client_result *result)
{
    struct scan scan = {line, line + length};
    uint64_t channels;

    if (!TAKE(&scan, "{\"jsonrpc\":\"2.0\",\"id\":") || !take_number(&scan, id) ||
        !TAKE(&scan, ",\"result\":{\"job\":") || !take_number(&scan, &result->job) ||
        !TAKE(&scan, ",\"cost\":{\"bytes\":") || !take_number(&scan, &result->bytes) ||
        !TAKE(&scan, ",\"channels\":") || !take_number(&scan, &channels) ||
        !TAKE(&scan, ",\"engine\":\"") ||
        !take_word(&scan, result->engine, sizeof(result->engine)) ||
        !TAKE(&scan, ",\"ns_queued\":") || !take_number(&scan, &result->ns_queued) ||
        !TAKE(&scan, ",\"ns_moving\":") || !take_number(&scan, &result->ns_moving) ||
        !TAKE(&scan, "}}}") || scan.at != scan.end || channels > UINT32_MAX)
        return false;
    result->channels = (uint32_t)channels;
    return true;
}
