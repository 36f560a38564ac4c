/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl batch collect: waits until every case of a queue has a result, and makes one report. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/queue_command.h"
#include "cli/report/report.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"

enum { WAIT_MIN_MS = 50, WAIT_MAX_MS = 1000 };

struct collection {
    const struct options *options;
    struct queue *queue;
    char shown[sizeof(((struct queue_url *)0)->shown)];
    struct batch_report *report;
    struct queue_entries entries;
    struct queue_status status; /* of the cases without a result */
    struct batch_summary summary;
    bool late;        /* --timeout has passed, or a signal came */
    uint64_t program; /* build of the first result */
    bool mixed;       /* results of several builds of mlictl */
};

/* Waits until all cases are done, --timeout has passed, or a signal comes. */
static int wait_for_all(struct collection *collection, uint64_t timeout_ms, struct fault *fault)
{
    struct pollfd wait = {.fd = cancel_fd(), .events = POLLIN};
    const uint64_t begin = clock_ns();
    struct queue_counts counts;
    int pause = WAIT_MIN_MS;

    for (;;) {
        if (queue_count(collection->queue, &counts, fault))
            return -1;
        if (counts.cases == 0)
            return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: the queue has no cases",
                             collection->shown);
        if (counts.done == counts.cases)
            return 0;
        collection->late = cancel_requested() ||
                           (timeout_ms && clock_ns() - begin >= timeout_ms * CLOCK_NS_PER_MS);
        if (collection->late)
            return 0;
        poll(&wait, 1, pause);
        pause = pause < WAIT_MAX_MS / 2 ? 2 * pause : WAIT_MAX_MS;
    }
}

static void report_gap(const struct collection *collection, const struct queue_entry *entry)
{
    const struct queue_holder *holder = NULL;
    char age[PRINT_TEXT_MAX], left[PRINT_TEXT_MAX], text[PRINT_LINE_MAX];

    for (size_t i = 0; i < collection->status.count && !holder; i++) {
        if (strcmp(collection->status.holders[i].name, entry->item.name) == 0)
            holder = &collection->status.holders[i];
    }
    if (holder && holder->worker)
        snprintf(text, sizeof(text), "%s: leased by %s for %s; the lease ends in %s",
                 entry->item.name, holder->worker, print_since(age, holder->age_ms),
                 print_since(left, holder->left_ms));
    else
        snprintf(text, sizeof(text), "%s: %s", entry->item.name,
                 holder ? "leased" : "waiting for a worker");
    print_error("%s", text);
    batch_report_problem(collection->options, text);
    batch_report_not_run(collection->report, entry->item.name, entry->item.path);
}

/* Reads a result that a worker wrote. Returns 0, or -1 with the fault filled. */
static int read_result(const struct collection *collection, const struct queue_entry *entry,
                       struct case_result *result, struct fault *fault)
{
    struct fault why;
    struct json root;
    char shown[PRINT_PATH_MAX];
    int status = json_parse(entry->result, strlen(entry->result), &rpc_reply_limits, &root, &why);

    if (status == 0) {
        status = case_result_read(&root, result);
        if (status)
            why = *root.fault;
        else if (strcmp(result->name, entry->item.name) != 0) {
            case_result_finish(result);
            status = fault_set(&why, FAULT_INVALID_PARAMS, NULL, "it has another name");
        }
        json_free(&root);
    }
    if (status)
        fault_set(fault, why.code == FAULT_INTERNAL ? why.code : FAULT_INVALID_PARAMS, NULL,
                  "%s: the result of %s cannot be read: %s", collection->shown,
                  print_path(shown, entry->item.name), why.text);
    return status;
}

static int report_entry(struct collection *collection, const struct queue_entry *entry,
                        struct fault *fault)
{
    struct case_result result;

    if (!entry->result) {
        collection->summary.not_run++;
        report_gap(collection, entry);
        return 0;
    }
    if (read_result(collection, entry, &result, fault))
        return -1;
    const uint64_t program = result.fingerprint.setup.program;
    if (program && collection->program && program != collection->program)
        collection->mixed = true;
    if (program)
        collection->program = program;
    batch_summary_add(&collection->summary, &result);
    batch_report_result(collection->report, &result);
    case_result_finish(&result);
    return 0;
}

static void report_notes(const struct collection *collection)
{
    const struct queue_entries *entries = &collection->entries;
    char text[PRINT_TEXT_MAX * 2];

    if (entries->duplicates > 0) {
        snprintf(text, sizeof(text), "%" PRIu64 " repeated result%s not counted",
                 entries->duplicates, print_s(entries->duplicates));
        batch_report_note(collection->report, text);
    }
    if (entries->changed > 0) {
        snprintf(text, sizeof(text), "%" PRIu64 " result%s of other files not counted",
                 entries->changed, print_s(entries->changed));
        batch_report_note(collection->report, text);
    }
    if (collection->mixed)
        batch_report_note(collection->report, "the workers had different builds of mlictl");
}

/* Without this, a report of cases that did not run would have no error. */
static void report_missing(const struct collection *collection)
{
    char text[PRINT_TEXT_MAX];

    if (collection->summary.not_run == 0)
        return;
    snprintf(text, sizeof(text), "%zu of %zu cases have no result", collection->summary.not_run,
             collection->entries.count);
    batch_report_gap(collection->report, collection->shown, text);
}

static int report_all(struct collection *collection, struct fault *fault)
{
    const struct queue_entries *entries = &collection->entries;
    struct batch_outline outline = {.total = entries->count, .selected = entries->count};

    for (size_t i = 0; i < entries->count; i++)
        outline.set = digest_add(outline.set, entries->list[i].item.name);
    batch_report_begin(collection->report, &outline);
    for (size_t i = 0; i < entries->count; i++) {
        if (report_entry(collection, &entries->list[i], fault))
            return -1;
    }
    report_missing(collection);
    report_notes(collection);
    collection->summary.ns = entries->ns;
    return 0;
}

static enum exit_code end_report(struct collection *collection)
{
    struct batch_summary *summary = &collection->summary;
    bool flaky_is_good = true;

    (void)batch_report_flaky(collection->options, &flaky_is_good);
    summary->exit = summary->not_run > 0 && collection->late
                        ? EXIT_CODE_STOPPED
                        : batch_summary_exit(summary, flaky_is_good);
    return batch_report_end(collection->report, summary);
}

static int gather(struct collection *collection, uint64_t timeout_ms, struct fault *fault)
{
    if (queue_command_open(collection->options, &collection->queue, collection->shown, fault) ||
        wait_for_all(collection, timeout_ms, fault))
        return -1;
    if (collection->late && queue_status(collection->queue, &collection->status, fault))
        return -1;
    return queue_read(collection->queue, &collection->entries, fault) ||
                   report_all(collection, fault)
               ? -1
               : 0;
}

static enum exit_code collect(struct collection *collection, uint64_t timeout_ms)
{
    const struct print_style style = options_style(collection->options);
    struct fault fault;

    if (gather(collection, timeout_ms, &fault))
        return print_failure(&style, NULL, &fault);
    const enum exit_code code = end_report(collection);
    if (collection->summary.not_run > 0 || !options_get(collection->options, "remove"))
        return code;
    if (!batch_report_is_written(collection->report)) {
        print_error("%s: the queue is not removed, because its report could not be written",
                    collection->shown);
        return code == EXIT_CODE_DONE ? EXIT_CODE_FAILED : code;
    }
    return queue_remove(collection->queue, &fault) ? print_failure(&style, NULL, &fault) : code;
}

enum exit_code queue_collect(const struct options *options)
{
    static const char *const allowed[] = {"queue",  "password-file", "reconnect",
                                          "remove", "timeout",       BATCH_REPORT_OPTION_NAMES,
                                          "json",   "quiet",         NULL};
    struct collection collection = {.options = options};
    uint64_t timeout = 0;

    if (options_only(options, allowed, "batch collect") ||
        options_uint(options, "timeout", 1, JOB_TIMEOUT_MAX_MS, &timeout))
        return EXIT_CODE_INVALID;
    enum exit_code code = batch_report_create(options, &collection.report);
    if (code == EXIT_CODE_DONE)
        code = collect(&collection, timeout);
    batch_report_destroy(collection.report);
    queue_entries_finish(&collection.entries);
    queue_status_finish(&collection.status);
    queue_close(collection.queue);
    return code;
}
