/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reporter_ktap: KTAP version 1, Documentation/dev-tools/ktap.rst of Linux. The directories of the
 * cases are tests, and the cases their subtests. A plan comes before its tests, and the cases of a
 * directory end in any order, so the report is written at the end.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/term/print.h"

/* A line of a subtest, without its number. */
struct line {
    char *suite, *name; /* directory part and rest of the name of the case */
    char *directive;    /* "", or " # SKIP not run" and the like */
    char *diagnostics;  /* lines before the result */
    bool ok;
};

struct ktap {
    struct line *lines;
    size_t count, capacity;
    bool flaky_is_good, failed; /* failed: out of memory */
    struct textw notes;
};

/* KTAP has no escapes, and "#" begins a directive. */
static const char *name_rule(uint32_t code, char out[ESCAPED_MAX])
{
    return code == '#' ? "\\x23" : escaped_plain(code, out);
}

static int create(const struct report_style *style, void **state)
{
    struct ktap *ktap = calloc(1, sizeof(*ktap));

    if (!ktap) {
        print_error("out of memory");
        return -1;
    }
    ktap->flaky_is_good = style->flaky_is_good;
    textw_init(&ktap->notes);
    *state = ktap;
    return 0;
}

static void note(void *state, const char *text)
{
    struct ktap *ktap = state;

    textw_printf(&ktap->notes, "# ");
    escaped_write(&ktap->notes, text, escaped_plain);
    textw_printf(&ktap->notes, "\n");
}

static void line_free(struct line *line)
{
    free(line->suite);
    free(line->name);
    free(line->directive);
    free(line->diagnostics);
}

/* Adds a line, which owns its strings. */
static void add(struct ktap *ktap, struct line line)
{
    if (ktap->count == ktap->capacity) {
        const size_t capacity = ktap->capacity ? 2 * ktap->capacity : 64;
        struct line *lines = reallocarray(ktap->lines, capacity, sizeof(*lines));

        if (lines) {
            ktap->lines = lines;
            ktap->capacity = capacity;
        }
    }
    if (ktap->count == ktap->capacity || !line.suite || !line.name || !line.directive ||
        !line.diagnostics) {
        ktap->failed = true;
        line_free(&line);
        return;
    }
    ktap->lines[ktap->count++] = line;
}

static struct line line_of(const char *name)
{
    const char *slash = strrchr(name, '/');

    return (struct line){.suite = slash ? strndup(name, (size_t)(slash - name)) : strdup("(root)"),
                         .name = strdup(slash ? slash + 1 : name)};
}

/* Returns the text of `w`, which it finishes. Heap; NULL if out of memory. */
static char *take_text(struct textw *w)
{
    char *text = w->failed ? NULL : strdup(w->length ? w->data : "");

    textw_finish(w);
    return text;
}

static char *diagnostics_of(const struct case_result *result)
{
    struct textw w;

    textw_init(&w);
    if (result->status != CASE_PASSED) {
        textw_printf(&w, "  # %s: ", case_status_word(result->status));
        reporter_sentence(&w, result, escaped_plain);
        textw_printf(&w, "\n  # attempts %" PRIu32 "\n", result->attempts);
        if (result->rerun_command) {
            textw_printf(&w, "  # rerun: ");
            escaped_write(&w, result->rerun_command, escaped_plain);
            textw_printf(&w, "\n");
        }
    }
    textw_printf(&w, "  # duration_ns %" PRIu64 "\n", result->ns);
    if (result->predicted_ns > 0)
        textw_printf(&w, "  # predicted_ns %" PRIu64 " transfers_ns %" PRIu64 "\n",
                     result->predicted_ns, result->transfers_ns);
    return take_text(&w);
}

static char *directive_of(const struct case_result *result)
{
    char *text = NULL;

    if (result->status != CASE_ERROR)
        return strdup("");
    if (asprintf(&text, " # %s %s", result->reason == CASE_WHY_TIMEOUT ? "TIMEOUT" : "ERROR",
                 case_reason_word(result->reason)) < 0)
        return NULL;
    return text;
}

static void result(void *state, const struct case_result *result)
{
    struct ktap *ktap = state;
    struct line line = line_of(result->name);

    line.ok = case_status_is_good(result->status, ktap->flaky_is_good);
    line.directive = directive_of(result);
    line.diagnostics = diagnostics_of(result);
    add(ktap, line);
}

static void not_run(void *state, const char *name, const char *file)
{
    struct line line = line_of(name);

    (void)file;
    line.directive = strdup(" # SKIP not run");
    line.diagnostics = strdup("");
    add(state, line);
}

/* A missing shard is a test of its own. */
static void gap(void *state, const char *name, const char *text)
{
    struct line line = {.suite = strdup(name), .name = strdup("run")};
    struct textw w;

    textw_init(&w);
    textw_printf(&w, "  # ");
    escaped_write(&w, text, escaped_plain);
    textw_printf(&w, "\n");
    line.directive = strdup(" # ERROR not run");
    line.diagnostics = take_text(&w);
    add(state, line);
}

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;
    const int order = strcmp(x->suite, y->suite);

    return order ? order : strcmp(x->name, y->name);
}

/* Writes the lines from..to, of one directory, as test `number`. */
static void put_suite(struct textw *w, const struct line *from, const struct line *to,
                      size_t number)
{
    bool ok = true;

    textw_printf(w, "  KTAP version 1\n  # Subtest: ");
    escaped_write(w, from->suite, name_rule);
    textw_printf(w, "\n  1..%zu\n", (size_t)(to - from));
    for (const struct line *line = from; line < to; line++) {
        ok = ok && line->ok;
        textw_printf(w, "%s  %s %zu ", line->diagnostics, line->ok ? "ok" : "not ok",
                     (size_t)(line - from) + 1);
        escaped_write(w, line->name, name_rule);
        textw_printf(w, "%s\n", line->directive);
    }
    textw_printf(w, "%s %zu ", ok ? "ok" : "not ok", number);
    escaped_write(w, from->suite, name_rule);
    textw_printf(w, "\n");
}

/* Returns the end of the lines that have the directory of `from`. */
static const struct line *suite_end(const struct line *from, const struct line *end)
{
    const struct line *to = from;

    while (to < end && strcmp(to->suite, from->suite) == 0)
        to++;
    return to;
}

static int end(void *state, const struct batch_summary *summary)
{
    struct ktap *ktap = state;
    const struct line *stop = ktap->lines + ktap->count, *to;
    struct textw w;
    size_t suites = 0;

    (void)summary;
    if (ktap->failed || ktap->notes.failed) {
        print_lost();
        return -1;
    }
    if (ktap->count > 1)
        qsort(ktap->lines, ktap->count, sizeof(*ktap->lines), compare);
    for (const struct line *from = ktap->lines; from < stop; from = suite_end(from, stop))
        suites++;
    textw_init(&w);
    textw_printf(&w, "KTAP version 1\n1..%zu%s\n%s", suites, suites ? "" : " # SKIP no cases",
                 ktap->notes.length ? ktap->notes.data : "");
    suites = 0;
    for (const struct line *from = ktap->lines; from < stop; from = to) {
        to = suite_end(from, stop);
        put_suite(&w, from, to, ++suites);
    }
    print_text(&w);
    textw_finish(&w);
    return 0;
}

static void destroy(void *state)
{
    struct ktap *ktap = state;

    for (size_t i = 0; i < ktap->count; i++)
        line_free(&ktap->lines[i]);
    free(ktap->lines);
    textw_finish(&ktap->notes);
    free(ktap);
}

const struct reporter reporter_ktap = {.create = create,
                                       .gap = gap,
                                       .note = note,
                                       .result = result,
                                       .not_run = not_run,
                                       .end = end,
                                       .destroy = destroy};
