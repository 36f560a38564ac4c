/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reporter_junit: JUnit XML, as the Surefire plugin of Maven writes it and CI servers read it. The
 * counts come first in the file, so the cases stay in memory until the end, when they are sorted by
 * name.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/file/output.h"
#include "cli/report/report.h"
#include "cli/term/print.h"
#include "proto/grow.h"

enum { HOST_MAX = 256 };

struct testcase {
    char *name;   /* the whole name of the case */
    size_t begin; /* where its text begins in the texts of all cases */
};

struct junit {
    bool flaky_is_good;
    bool to_file;
    struct output output; /* the file; open only if to_file is set */
    struct batch_outline outline;
    time_t began;
    size_t tests, failures, errors, skipped, flaky;
    struct textw cases; /* the texts of all cases, each after a zero byte */
    struct testcase *list;
    size_t count, capacity;
};

/* Escapes for XML 1.0. Characters that XML cannot contain become U+FFFD. White space becomes
 * references, because readers normalise it in attributes. */
static const char *xml_rule(uint32_t code, char out[ESCAPED_MAX])
{
    if (code == '\t' || code == '\n' || code == '\r') {
        snprintf(out, ESCAPED_MAX, "&#%" PRIu32 ";", code);
        return out;
    }
    return escaped_is_control(code) || code >> 1 == 0x7fff ? "\xef\xbf\xbd" : escaped_markup(code);
}

static int init(void *state, const struct report_style *style)
{
    struct fault fault;
    struct junit *junit = state;

    junit->flaky_is_good = style->flaky_is_good;
    junit->to_file = strcmp(style->junit, "-") != 0;
    if (junit->to_file && (output_init(&junit->output, style->junit, NULL, &fault) ||
                           output_check_markup(&junit->output, "a report", &fault)))
        return print_refusal("--junit %s", fault.text);
    return 0;
}

static void begin(void *state, const struct batch_outline *outline)
{
    struct junit *junit = state;

    junit->outline = *outline;
    junit->began = time(NULL);
}

static void put_seconds(struct textw *w, uint64_t ns)
{
    textw_printf(w, " time=\"%" PRIu64 ".%06" PRIu64 "\"", ns / 1000000000, ns / 1000 % 1000000);
}

static void put_attribute(struct textw *w, const char *key, const char *value)
{
    textw_printf(w, " %s=\"", key);
    escaped_write(w, value, xml_rule);
    textw_printf(w, "\"");
}

/*
 * Writes the directory part of a name as the class name. Keeps slashes, so that "a/b" and "a.b"
 * stay different.
 */
static void put_class(struct textw *w, const char *name, size_t length)
{
    char *class = strndup(name, length);

    if (!class) {
        w->failed = true;
        return;
    }
    put_attribute(w, "classname", length ? class : "(root)");
    free(class);
}

static void open_case(struct junit *junit, const char *name, const char *file, uint64_t ns)
{
    struct textw *w = &junit->cases;
    const char *slash = strrchr(name, '/');
    char *copy = strdup(name);

    if (!copy || list_grow(&junit->list, junit->count, &junit->capacity, sizeof(*junit->list))) {
        free(copy);
        w->failed = true;
        return;
    }
    textw_printf(w, "%c", '\0');
    junit->list[junit->count++] = (struct testcase){copy, w->length};
    textw_printf(w, "    <testcase");
    put_class(w, name, slash ? (size_t)(slash - name) : 0);
    put_attribute(w, "name", slash ? slash + 1 : name);
    if (file)
        put_attribute(w, "file", file);
    put_seconds(w, ns);
    junit->tests++;
}

/* Writes <failure type="mismatch" message="...">...</failure>. */
static void put_verdict(struct textw *w, const char *element, const char *type,
                        const struct case_result *result)
{
    textw_printf(w, "      <%s", element);
    put_attribute(w, "type", type);
    put_attribute(w, "message", result->message ? result->message : type);
    textw_printf(w, ">");
    case_result_sentence(w, result, xml_rule);
    textw_printf(w, "</%s>\n", element);
}

static void put_failed(struct junit *junit, const struct case_result *result)
{
    struct textw *w = &junit->cases;
    const char *type = case_reason_word(result->reason);

    if (result->status != CASE_FAILED && result->status != CASE_ERROR)
        type = case_status_word(result->status);
    if (result->status == CASE_ERROR)
        junit->errors++;
    else
        junit->failures++;
    put_verdict(w, result->status == CASE_ERROR ? "error" : "failure",
                *type ? type : case_status_word(result->status), result);
}

/* Surefire has separate elements for flaky cases that count as passed. */
static void put_flaky(struct junit *junit, const struct case_result *result)
{
    put_verdict(&junit->cases, case_reason_is_error(result->reason) ? "flakyError" : "flakyFailure",
                case_reason_word(result->reason), result);
}

static void put_out(struct textw *w, const struct case_result *result)
{
    textw_printf(w, "      <system-out>%" PRIu32 " attempt%s", result->attempts,
                 print_s(result->attempts));
    if (result->rerun_command) {
        textw_printf(w, "; rerun: ");
        escaped_write(w, result->rerun_command, xml_rule);
    }
    textw_printf(w, "</system-out>\n");
}

static void put_property(struct textw *w, const char *name, const char *value)
{
    textw_printf(w, "      <property name=\"%s\"", name);
    put_attribute(w, "value", value);
    textw_printf(w, "/>\n");
}

static void put_number(struct textw *w, const char *name, uint64_t value)
{
    char text[24];

    snprintf(text, sizeof(text), "%" PRIu64, value);
    put_property(w, name, text);
}

/* Writes the properties of a case: whether it compares nothing, its remark and predicted time. */
static void put_case_properties(struct textw *w, const struct case_result *result)
{
    if (result->status != CASE_RAN && !result->remark && result->predicted_ns == 0)
        return;
    textw_printf(w, "      <properties>\n");
    if (result->status == CASE_RAN)
        put_property(w, "expectation", "none");
    if (result->remark)
        put_property(w, "remark", result->remark);
    if (result->predicted_ns > 0) {
        put_number(w, "predicted_ns", result->predicted_ns);
        put_number(w, "transfers_ns", result->transfers_ns);
    }
    textw_printf(w, "      </properties>\n");
}

static void result(void *state, const struct case_result *result)
{
    struct junit *junit = state;

    open_case(junit, result->name, result->file, result->ns);
    if (result->status == CASE_PASSED && result->predicted_ns == 0 && !result->remark) {
        textw_printf(&junit->cases, "/>\n");
        return;
    }
    textw_printf(&junit->cases, ">\n");
    put_case_properties(&junit->cases, result);
    if (case_status_is_good(result->status, false)) {
        textw_printf(&junit->cases, "    </testcase>\n");
        return;
    }
    junit->flaky += result->status == CASE_FLAKY;
    if (case_status_is_good(result->status, junit->flaky_is_good))
        put_flaky(junit, result);
    else
        put_failed(junit, result);
    put_out(&junit->cases, result);
    textw_printf(&junit->cases, "    </testcase>\n");
}

static void not_run(void *state, const char *name, const char *file)
{
    struct junit *junit = state;

    open_case(junit, name, file, 0);
    textw_printf(&junit->cases, ">\n      <skipped message=\"not run\"/>\n    </testcase>\n");
    junit->skipped++;
}

/* The cases of a missing shard are unknown: one error represents them, and fails the report. */
static void gap(void *state, const char *name, const char *text)
{
    struct junit *junit = state;

    open_case(junit, name, NULL, 0);
    textw_printf(&junit->cases, ">\n      <error type=\"not run\"");
    put_attribute(&junit->cases, "message", text);
    textw_printf(&junit->cases, "/>\n    </testcase>\n");
    junit->errors++;
}

static void put_properties(const struct junit *junit, struct textw *w,
                           const struct batch_summary *summary)
{
    char shard[SHARD_TEXT_MAX];

    textw_printf(w, "    <properties>\n");
    if (junit->outline.shard.count)
        put_property(w, "shard", shard_text(shard, &junit->outline.shard));
    put_number(w, "ran", summary->count[CASE_RAN]);
    put_number(w, "flaky", junit->flaky);
    put_number(w, "not_run", summary->not_run);
    put_number(w, "resumed", junit->outline.resumed + summary->resumed);
    if (summary->predicted > 0) {
        put_number(w, "predicted_ns", summary->predicted_ns);
        put_number(w, "transfers_ns", summary->transfers_ns);
    }
    textw_printf(w, "    </properties>\n");
}

static void put_counts(const struct junit *junit, struct textw *w,
                       const struct batch_summary *summary)
{
    textw_printf(w, " name=\"mlictl batch\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\"",
                 junit->tests, junit->failures, junit->errors);
    put_seconds(w, summary->ns);
}

static void put_head(const struct junit *junit, struct textw *w,
                     const struct batch_summary *summary)
{
    char host[HOST_MAX] = "localhost", when[32] = "";
    struct tm utc;

    if (gethostname(host, sizeof(host) - 1))
        snprintf(host, sizeof(host), "localhost");
    if (gmtime_r(&junit->began, &utc))
        strftime(when, sizeof(when), "%Y-%m-%dT%H:%M:%S", &utc);
    textw_printf(w, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    put_counts(junit, w, summary);
    textw_printf(w, ">\n  <testsuite");
    put_counts(junit, w, summary);
    textw_printf(w, " skipped=\"%zu\"", junit->skipped);
    put_attribute(w, "timestamp", when);
    put_attribute(w, "hostname", host);
    textw_printf(w, ">\n");
    put_properties(junit, w, summary);
}

/* Sorts by name, and parts of a run with one name by their order in the run. */
static int compare_cases(const void *a, const void *b)
{
    const struct testcase *x = a, *y = b;
    const int order = strcmp(x->name, y->name);

    return order ? order : (x->begin > y->begin) - (x->begin < y->begin);
}

/* Writes the texts of all cases, sorted by name. */
static void put_cases(struct junit *junit, struct textw *w)
{
    if (junit->count > 1)
        qsort(junit->list, junit->count, sizeof(*junit->list), compare_cases);
    w->failed |= junit->cases.failed;
    for (size_t i = 0; i < junit->count && !w->failed; i++)
        textw_printf(w, "%s", junit->cases.data + junit->list[i].begin);
}

static int write_file(struct junit *junit, const struct textw *w, struct fault *fault)
{
    if (w->failed)
        return fault_no_memory(fault);
    return output_write(&junit->output, w->data, w->length, 0, fault)
               ? -1
               : output_commit_synced(&junit->output, false, fault);
}

static int end(void *state, const struct batch_summary *summary)
{
    struct junit *junit = state;
    struct textw w;
    struct fault fault;
    int status = 0;

    textw_init(&w);
    put_head(junit, &w, summary);
    put_cases(junit, &w);
    textw_printf(&w, "  </testsuite>\n</testsuites>\n");
    if (junit->to_file) {
        status = write_file(junit, &w, &fault);
        if (status)
            print_error("--junit %s", fault.text);
    } else {
        print_text(&w);
    }
    textw_finish(&w);
    return status;
}

static void finish(void *state)
{
    struct junit *junit = state;

    if (junit->to_file)
        output_finish(&junit->output);
    for (size_t i = 0; i < junit->count; i++)
        free(junit->list[i].name);
    free(junit->list);
    textw_finish(&junit->cases);
}

const struct reporter reporter_junit = {.size = sizeof(struct junit),
                                        .init = init,
                                        .gap = gap,
                                        .begin = begin,
                                        .result = result,
                                        .not_run = not_run,
                                        .end = end,
                                        .finish = finish};
