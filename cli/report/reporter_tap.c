/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reporter_tap: the Test Anything Protocol, testanything.org. The output declares version 13,
 * because some readers refuse version 14, and uses the escapes of version 14, which all readers
 * understand.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/report/report.h"
#include "cli/term/print.h"

struct tap {
    size_t selected, number;
    bool open; /* the number of cases is not known before the end */
    bool flaky_is_good;
    struct textw text;
};

/* Escapes a description, where # would begin a directive. */
static const char *description_rule(uint32_t code, char out[ESCAPED_MAX])
{
    if (code == '#')
        return "\\#";
    return code == '\\' ? "\\\\" : escaped_plain(code, out);
}

/* Escapes for double-quoted strings of YAML 1.1 and 1.2: unprintable characters and line breaks. */
static const char *yaml_rule(uint32_t code, char out[ESCAPED_MAX])
{
    if (code == '"' || code == '\\')
        snprintf(out, ESCAPED_MAX, "\\%c", (char)code);
    else if (code == '\n')
        return "\\n";
    else if (code == '\t')
        return "\\t";
    else if (escaped_is_control(code))
        snprintf(out, ESCAPED_MAX, "\\x%02" PRIx32, code);
    else if (code == 0x2028 || code == 0x2029 || code == 0xfeff || code == 0xfffe || code == 0xffff)
        snprintf(out, ESCAPED_MAX, "\\u%04" PRIx32, code);
    else
        return NULL;
    return out;
}

static int init(void *state, const struct report_style *style)
{
    ((struct tap *)state)->flaky_is_good = style->flaky_is_good;
    return 0;
}

static void put_plan(struct tap *tap)
{
    textw_printf(&tap->text, "1..%zu%s\n", tap->selected,
                 tap->selected ? "" : " # SKIP no case is in this shard");
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct tap *tap = state;

    tap->selected = outline->selected;
    tap->open = outline->open;
    textw_printf(&tap->text, "TAP version 13\n");
    if (!tap->open)
        put_plan(tap);
    print_text(&tap->text);
}

static void note(void *state, const char *text)
{
    struct tap *tap = state;

    textw_printf(&tap->text, "# ");
    escaped_write(&tap->text, text, description_rule);
    textw_printf(&tap->text, "\n");
    print_text(&tap->text);
}

static void put_member(struct textw *w, const char *key, const char *value)
{
    textw_printf(w, "  %s: \"", key);
    escaped_write(w, value, yaml_rule);
    textw_printf(w, "\"\n");
}

static void put_diagnostics(struct textw *w, const struct case_result *result, bool ok)
{
    textw_printf(w, "  ---\n  message: \"");
    case_result_sentence(w, result, yaml_rule);
    textw_printf(w, "\"\n  severity: %s\n", ok ? "comment" : "fail");
    put_member(w, "status", case_status_word(result->status));
    if (result->reason != CASE_WHY_NONE)
        put_member(w, "reason", case_reason_word(result->reason));
    put_member(w, "file", result->file);
    if (result->pointer)
        put_member(w, "pointer", result->pointer);
    textw_printf(w, "  attempts: %" PRIu32 "\n  duration_ms: %" PRIu64 ".%06" PRIu64 "\n",
                 result->attempts, result->ns / 1000000, result->ns % 1000000);
    if (result->rerun_command) {
        textw_printf(w, "  again: \"");
        escaped_write(w, result->rerun_command, yaml_rule);
        textw_printf(w, "\"\n");
    }
    textw_printf(w, "  ...\n");
}

static void result(void *state, const struct case_result *result)
{
    struct tap *tap = state;
    bool ok = case_status_is_good(result->status, tap->flaky_is_good);

    textw_printf(&tap->text, "%s %zu - ", ok ? "ok" : "not ok", ++tap->number);
    escaped_write(&tap->text, result->name, description_rule);
    textw_printf(&tap->text, "%s\n", result->status == CASE_RAN ? " # no expectation" : "");
    if (!case_status_is_good(result->status, false))
        put_diagnostics(&tap->text, result, ok);
    if (result->remark)
        note(tap, result->remark);
    if (result->predicted_ns > 0)
        textw_printf(&tap->text, "# predicted_ns %" PRIu64 ", transfers_ns %" PRIu64 "\n",
                     result->predicted_ns, result->transfers_ns);
    print_text(&tap->text);
}

static int end(void *state, const struct batch_summary *summary)
{
    const char *why = summary->exit == EXIT_CODE_LOST      ? ": the connection was lost"
                      : summary->exit == EXIT_CODE_STOPPED ? ": interrupted"
                                                           : "";
    struct tap *tap = state;

    if (tap->open) {
        tap->selected = tap->number + summary->not_run;
        put_plan(tap);
    }
    if (summary->not_run > 0)
        textw_printf(&tap->text, "Bail out! %zu of %zu cases have not run%s\n", summary->not_run,
                     tap->selected, why);
    print_text(&tap->text);
    return 0;
}

static void finish(void *state)
{
    textw_finish(&((struct tap *)state)->text);
}

const struct reporter reporter_tap = {.size = sizeof(struct tap),
                                      .init = init,
                                      .begin = begin,
                                      .note = note,
                                      .result = result,
                                      .end = end,
                                      .finish = finish};
