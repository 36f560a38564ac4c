/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * reporter_lava: signals for LAVA, which reads them from the console of the device:
 *
 *     <LAVA_SIGNAL_TESTSET START conv>
 *     <LAVA_SIGNAL_TESTCASE TEST_CASE_ID=tile_3 RESULT=pass UNITS=ms MEASUREMENT=0.412000>
 *     <LAVA_SIGNAL_TESTSET STOP>
 *
 * The directory of a case is its test set. Names become parts of URLs: bytes other than letters,
 * digits, "_", "-" and "." become "_", and the "/" of a directory becomes ".".
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"
#include "cli/term/print.h"

struct lava {
    char *set; /* current test set; NULL: none */
    bool flaky_is_good, failed;
    struct textw text;
};

static int create(const struct report_style *style, void **state)
{
    struct lava *lava = calloc(1, sizeof(*lava));

    if (!lava) {
        print_error("out of memory");
        return -1;
    }
    lava->flaky_is_good = style->flaky_is_good;
    textw_init(&lava->text);
    *state = lava;
    return 0;
}

static void put_id(struct textw *w, const char *name, size_t length)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";

    for (size_t i = 0; i < length; i++)
        textw_printf(w, "%c", strchr(plain, name[i]) ? name[i] : name[i] == '/' ? '.' : '_');
}

/* Escapes for other lines of the console, in which "<" could begin a signal. */
static const char *text_rule(uint32_t code, char out[ESCAPED_MAX])
{
    return code == '<' ? "&lt;" : escaped_plain(code, out);
}

static void stop_set(struct lava *lava)
{
    if (lava->set)
        textw_printf(&lava->text, "<LAVA_SIGNAL_TESTSET STOP>\n");
    free(lava->set);
    lava->set = NULL;
}

/* Enters the test set of a case. Returns the rest of its name. */
static const char *enter_set(struct lava *lava, const char *name)
{
    const char *slash = strrchr(name, '/');
    const size_t length = slash ? (size_t)(slash - name) : 0;

    if (lava->set && strlen(lava->set) == length && memcmp(lava->set, name, length) == 0)
        return slash ? slash + 1 : name;
    stop_set(lava);
    if (!slash)
        return name;
    lava->set = strndup(name, length);
    lava->failed = lava->failed || !lava->set;
    textw_printf(&lava->text, "<LAVA_SIGNAL_TESTSET START ");
    put_id(&lava->text, name, length);
    textw_printf(&lava->text, ">\n");
    return slash + 1;
}

static void open_case(struct lava *lava, const char *name, const char *after, const char *verdict)
{
    textw_printf(&lava->text, "<LAVA_SIGNAL_TESTCASE TEST_CASE_ID=");
    put_id(&lava->text, name, strlen(name));
    textw_printf(&lava->text, "%s RESULT=%s", after, verdict);
}

static void flush(struct lava *lava)
{
    print_text(&lava->text);
}

static void note(void *state, const char *text)
{
    struct lava *lava = state;

    escaped_write(&lava->text, text, text_rule);
    textw_printf(&lava->text, "\n");
    flush(lava);
}

static void result(void *state, const struct case_result *result)
{
    struct lava *lava = state;
    const bool ok = case_status_is_good(result->status, lava->flaky_is_good);
    const char *name = enter_set(lava, result->name);

    if (result->status != CASE_PASSED) {
        textw_printf(&lava->text, "%s ", case_status_word(result->status));
        escaped_write(&lava->text, result->name, text_rule);
        textw_printf(&lava->text, ": ");
        reporter_sentence(&lava->text, result, text_rule);
        textw_printf(&lava->text, "\n");
    }
    open_case(lava, name, "", ok ? "pass" : "fail");
    textw_printf(&lava->text, " UNITS=ms MEASUREMENT=%" PRIu64 ".%06" PRIu64 ">\n",
                 result->ns / 1000000, result->ns % 1000000);
    if (result->predicted_ns > 0) {
        open_case(lava, name, ".predicted", "pass");
        textw_printf(&lava->text, " UNITS=ns MEASUREMENT=%" PRIu64 ">\n", result->predicted_ns);
    }
    flush(lava);
}

static void not_run(void *state, const char *name, const char *file)
{
    struct lava *lava = state;

    (void)file;
    open_case(lava, enter_set(lava, name), "", "skip");
    textw_printf(&lava->text, ">\n");
    flush(lava);
}

static void gap(void *state, const char *name, const char *text)
{
    struct lava *lava = state;

    stop_set(lava);
    escaped_write(&lava->text, text, text_rule);
    textw_printf(&lava->text, "\n");
    open_case(lava, name, "", "fail");
    textw_printf(&lava->text, ">\n");
    flush(lava);
}

/* The summary is a test case, too: it fails if the run does. */
static int end(void *state, const struct batch_summary *summary)
{
    struct lava *lava = state;

    stop_set(lava);
    open_case(lava, "mlictl-batch", "", summary->exit == EXIT_CODE_DONE ? "pass" : "fail");
    textw_printf(&lava->text, " UNITS=cases MEASUREMENT=%zu>\n", batch_summary_ended(summary));
    open_case(lava, "mlictl-batch-duration", "", "pass");
    textw_printf(&lava->text, " UNITS=s MEASUREMENT=%" PRIu64 ".%06" PRIu64 ">\n",
                 summary->ns / 1000000000, summary->ns / 1000 % 1000000);
    flush(lava);
    if (lava->failed)
        print_lost();
    return lava->failed ? -1 : 0;
}

static void destroy(void *state)
{
    struct lava *lava = state;

    free(lava->set);
    textw_finish(&lava->text);
    free(lava);
}

const struct reporter reporter_lava = {.create = create,
                                       .gap = gap,
                                       .note = note,
                                       .result = result,
                                       .not_run = not_run,
                                       .end = end,
                                       .destroy = destroy};
