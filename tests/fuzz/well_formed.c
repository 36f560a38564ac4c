/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/well_formed.h"

#include <ctype.h>
#include <errno.h>
#include <expat.h>

#include "proto/json/json.h"
#include "proto/json/utf8.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/plain_json.h"

/* Limits that no output reaches; the programs' own readers have smaller limits. */
static const struct json_limits no_limits = {
    .bytes = (size_t)1 << 30, .depth = JSON_DEPTH_MAX, .values = (size_t)1 << 26};

static _Noreturn void fail(const char *what, const char *text, size_t length)
{
    fprintf(stderr, "not well-formed: %s\n%.*s\n", what, (int)(length < 4000 ? length : 4000),
            text);
    abort();
}

void well_formed_json(const char *text, size_t length)
{
    struct fault fault;

    if (json_check(text, length, &no_limits, &fault) < 0)
        fail(fault.text, text, length);
    well_formed_any_json(text, length);
}

void well_formed_any_json(const char *text, size_t length)
{
    bool ignored;
    struct plain *other = plain_read(text, length, &ignored);

    if (!other)
        fail("the second reader refuses it", text, length);
    plain_free(other);
}

void well_formed_json_lines(const char *text, size_t length)
{
    while (length > 0) {
        const char *newline = memchr(text, '\n', length);

        if (!newline)
            fail("the last line has no end", text, length);
        well_formed_json(text, (size_t)(newline - text));
        length -= (size_t)(newline + 1 - text);
        text = newline + 1;
    }
}

void well_formed_xml(const char *text, size_t length)
{
    XML_Parser parser = XML_ParserCreate(NULL);

    FUZZ_ASSERT(parser);
    if (XML_Parse(parser, text, (int)length, 1) != XML_STATUS_OK)
        fail(XML_ErrorString(XML_GetErrorCode(parser)), text, length);
    XML_ParserFree(parser);
}

/* Returns the text after a name of the grammar [a-zA-Z_:][a-zA-Z0-9_:]*, or null. */
static const char *metric_name(const char *at)
{
    if (!isalpha((unsigned char)*at) && *at != '_' && *at != ':')
        return NULL;
    while (isalnum((unsigned char)*at) || *at == '_' || *at == ':')
        at++;
    return at;
}

/* Returns the text after {name="value",...}, or null. */
static const char *metric_labels(const char *at)
{
    while (*at && *at != '}') {
        at = metric_name(at + 1); /* after the brace or a comma */
        if (!at || at[0] != '=' || at[1] != '"')
            return NULL;
        for (at += 2; *at != '"'; at++) {
            if (!*at || (*at == '\\' && !strchr("\\\"n", *++at)))
                return NULL;
        }
        at++;
        if (*at != ',' && *at != '}')
            return NULL;
    }
    return *at == '}' ? at + 1 : NULL;
}

static bool is_metric(const char *line)
{
    const char *at = metric_name(line);
    char *end;

    if (at && *at == '{')
        at = metric_labels(at);
    if (!at || *at != ' ')
        return false;
    (void)strtod(at + 1, &end);
    return end > at + 1 && *end == '\0';
}

/* Checks "# HELP name text" and "# TYPE name type", which come in this order. */
static bool is_head(const char *line, bool help)
{
    static const char *const types[] = {" counter", " gauge", " histogram"};
    const char *at = strncmp(line, help ? "# HELP " : "# TYPE ", 7) ? NULL : metric_name(line + 7);

    if (!at || help)
        return at && *at == ' ';
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strcmp(at, types[i]) == 0)
            return true;
    }
    return false;
}

/* Calls `check` with each line, without its newline. */
static void each_line(const char *text, size_t length,
                      bool (*check)(const char *line, size_t index), const char *what)
{
    size_t index = 0;

    for (const char *at = text; at < text + length;) {
        const char *newline = memchr(at, '\n', (size_t)(text + length - at));
        char *line;

        if (!newline)
            fail("the last line has no end", text, length);
        line = strndup(at, (size_t)(newline - at));
        FUZZ_ASSERT(line);
        if (strlen(line) != (size_t)(newline - at) || !check(line, index++))
            fail(what, line, strlen(line));
        free(line);
        at = newline + 1;
    }
}

static bool prometheus_line(const char *line, size_t index)
{
    static bool after_help, after_type;
    const bool help = is_head(line, true), type = is_head(line, false);

    if (index == 0)
        after_help = after_type = false;
    /*
     * The line "# TYPE" of a metric follows its line "# HELP". A metric may have no values, for
     * example if the service has no users.
     */
    if (line[0] == '#' ? !(help || (type && after_help))
                       : !is_metric(line) || after_help || (index < 2 && !after_type))
        return false;
    after_help = help;
    after_type = type;
    return true;
}

void well_formed_prometheus(const char *text, size_t length)
{
    each_line(text, length, prometheus_line, "a line of metrics");
}

static size_t tap_planned, tap_results;
static bool tap_bailed;

static bool tap_line(const char *line, size_t index)
{
    size_t number;
    int used = 0;

    if (index == 0) {
        tap_planned = tap_results = 0;
        tap_bailed = false;
        return strncmp(line, "TAP version ", 12) == 0;
    }
    if (sscanf(line, "1..%zu%n", &number, &used) == 1 && (!line[used] || line[used] == ' ')) {
        tap_planned = number + 1; /* 0: no plan yet */
        return true;
    }
    if (sscanf(line, "ok %zu%n", &number, &used) == 1 ||
        sscanf(line, "not ok %zu%n", &number, &used) == 1)
        return number == ++tap_results && (!line[used] || line[used] == ' ');
    tap_bailed = tap_bailed || strncmp(line, "Bail out!", 9) == 0;
    return tap_bailed || line[0] == '#' || line[0] == ' ';
}

void well_formed_tap(const char *text, size_t length)
{
    if (length == 0)
        return;
    each_line(text, length, tap_line, "a line of TAP");
    if (tap_planned == 0 ||
        (tap_bailed ? tap_planned - 1 < tap_results : tap_planned - 1 != tap_results))
        fail("the plan has another number of results", text, length);
}

static bool is_control(char c)
{
    return ((unsigned char)c < ' ' && c != '\n') || c == 0x7f;
}

void well_formed_messages(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (is_control(text[i]))
            fail("a control character in a message", text, length);
    }
}

void well_formed_text(const char *text, size_t length)
{
    for (size_t left = length; left > 0;) {
        const char *at = text + length - left;
        const size_t size = utf8_char(at, left);

        if (size == 0 || is_control(*at))
            fail("a byte that is no text", text, length);
        left -= size;
    }
}
