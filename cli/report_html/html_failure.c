/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report_html/html_failure.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report_html/html_evidence.h"
#include "cli/report_html/html_text.h"
#include "cli/term/print.h"

enum { BRIEF_MAX = 260, MESSAGE_MAX = 4000, SHORT_MAX = 240 };

const char *html_status(const struct case_result *result)
{
    return case_status_word(result->status);
}

void html_verdict(struct textw *w, const char *status)
{
    static const char *const marks[][2] = {{"passed", "\xe2\x9c\x93"}, {"flaky", "~"},
                                           {"failed", "\xe2\x9c\x97"}, {"error", "!"},
                                           {"updated", "+"},           {"not-run", "-"}};

    textw_printf(w, "<span class=\"verdict\">");
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strcmp(status, marks[i][0]) == 0)
            textw_printf(w, "<span aria-hidden=\"true\">%s</span> ", marks[i][1]);
    }
    textw_printf(w, "%s</span>", strcmp(status, "not-run") == 0 ? "not run" : status);
}

static void write_fact(struct textw *w, const char *name, const char *value)
{
    textw_printf(w, "<li><span class=\"key\">%s</span> ", name);
    html_short(w, value, SHORT_MAX);
    textw_printf(w, "</li>");
}

static void write_facts(struct textw *w, const struct case_result *result)
{
    char text[PRINT_TEXT_MAX];

    textw_printf(w, "<ul class=\"facts\">");
    write_fact(w, "job file", result->file);
    if (result->pointer && *result->pointer)
        write_fact(w, "member", result->pointer);
    if (result->reason != CASE_WHY_NONE)
        write_fact(w, "reason", case_reason_word(result->reason));
    textw_printf(w, "<li><span class=\"key\">attempts</span> %" PRIu32 "</li>", result->attempts);
    write_fact(w, "duration", print_time(text, result->ns));
    write_fact(w, "moved", print_bytes(text, result->bytes));
    if (result->kept)
        write_fact(w, "kept case", result->kept);
    if (result->rerun_reason)
        write_fact(w, "ran again", result->rerun_reason);
    textw_printf(w, "</ul>\n");
}

static void write_command(struct textw *w, const char *command)
{
    textw_printf(w, "<h4>Reproduce</h4>\n<pre class=\"command\" tabindex=\"0\"><code>");
    html_text(w, command);
    textw_printf(w, "</code></pre>\n");
}

/* Writes the beginning of the message, without the path of the result. */
static void write_brief(struct textw *w, const struct case_result *result)
{
    const char *message = result->message ? result->message : case_reason_word(result->reason);
    const char *end = strstr(message, RESULT_GIVEN);
    char *brief = end ? strndup(message, (size_t)(end - message)) : strdup(message);

    if (!brief) {
        w->failed = true;
        return;
    }
    html_short(w, brief, BRIEF_MAX);
    free(brief);
}

static void write_summary(struct textw *w, const struct case_result *result)
{
    textw_printf(w, "<summary>");
    html_verdict(w, html_status(result));
    textw_printf(w, " <span class=\"name\">");
    html_short(w, result->name, SHORT_MAX);
    textw_printf(w, "</span> <span class=\"brief\">");
    write_brief(w, result);
    textw_printf(w, "</span></summary>\n");
}

void html_failure(struct textw *w, const struct case_result *result, size_t number, bool evidence)
{
    textw_printf(w, "<details class=\"failure %s\" id=\"f%zu\">", html_status(result), number);
    write_summary(w, result);
    textw_printf(w, "<div class=\"body\">\n");
    if (result->message && strlen(result->message) > BRIEF_MAX) {
        textw_printf(w, "<p class=\"message\">");
        html_short(w, result->message, evidence ? MESSAGE_MAX : SHORT_MAX);
        textw_printf(w, "</p>\n");
    }
    write_facts(w, result);
    if (result->rerun_command)
        write_command(w, result->rerun_command);
    if (evidence && result->kept)
        html_evidence(w, result->kept, number);
    textw_printf(w, "</div></details>\n");
}
