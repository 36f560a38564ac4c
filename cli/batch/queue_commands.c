/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The commands of mlictl batch for a queue:
 *
 *     mlictl batch enqueue --queue URL PATH...    adds cases
 *     mlictl batch --queue URL                    a worker: source_queue.c
 *     mlictl batch status --queue URL             shows waiting, running and finished cases
 *     mlictl batch collect --queue URL            waits until every case has a result, and
 *                                                 makes one report
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/batch.h"
#include "cli/batch/cases.h"
#include "cli/batch/resume.h"
#include "cli/file/text.h"
#include "cli/report/report.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/print.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"

enum {
    RECONNECT_S = 30,
    RECONNECT_MAX_S = 24 * 3600,
    LEASE_S = 30,
    LEASE_MIN_S = 2,
    LEASE_MAX_S = 24 * 3600,
    WAIT_MIN_MS = 50,
    WAIT_MAX_MS = 1000,
    MS_PER_S = 1000
};

static int set_password(struct queue_url *url, const char *text, size_t length, const char *where,
                        struct fault *fault)
{
    if (length >= sizeof(url->password) || memchr(text, '\0', length))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: a password of at most 511 bytes without zero bytes is required",
                         where);
    memcpy(url->password, text, length);
    url->password[length] = '\0';
    return 0;
}

static int read_password_file(struct queue_url *url, const char *path, struct fault *fault)
{
    struct text text = {0};
    struct fault why;
    char shown[PRINT_PATH_MAX];
    int status;

    print_path(shown, path);
    if (text_load(&text, path, 2 * QUEUE_SECRET_MAX, false, &why)) {
        status = fault_set(fault, why.code, NULL, "%s: %s", shown, why.text);
    } else {
        while (text.length > 0 && strchr("\r\n", text.bytes[text.length - 1]))
            text.length--;
        status = set_password(url, text.bytes ? text.bytes : "", text.length, shown, fault);
    }
    if (text.bytes)
        explicit_bzero(text.bytes, text.capacity);
    text_finish(&text);
    return status;
}

/* Reads the password from a file or a variable if the URL has none. */
static int read_password(const struct options *options, struct queue_url *url, struct fault *fault)
{
    static const char variable[] = "MLI_QUEUE_PASSWORD";
    const char *path = options_get(options, "password-file"), *value = getenv(variable);

    if (*url->password)
        return 0;
    if (path)
        return read_password_file(url, path, fault);
    return value ? set_password(url, value, strlen(value), variable, fault) : 0;
}

/* Overwrites the password in the command line, which other users can read. */
static void hide(const char *text)
{
    char *argument;

    memcpy(&argument, &text, sizeof(argument)); /* The text is an element of argv. */
    queue_url_hide(argument);
}

int batch_queue_open(const struct options *options, struct queue **queue,
                     char shown[QUEUE_SHOWN_MAX], struct fault *fault)
{
    const char *text = options_get(options, "queue");
    struct queue_url url;
    uint64_t patience = RECONNECT_S;

    *queue = NULL;
    int status = queue_url_parse(text, &url, fault);
    hide(text);
    if (status)
        return -1;
    if (options_number(options, "reconnect", UNIT_S, 0, RECONNECT_MAX_S, &patience))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--reconnect is not valid");
    status = read_password(options, &url, fault);
    if (status == 0)
        status = queue_open(&url, (uint32_t)patience * MS_PER_S, queue, fault);
    memcpy(shown, url.shown, sizeof(url.shown));
    explicit_bzero(&url, sizeof(url));
    return status;
}

/* Adding cases. */

/* Returns the part of a path after a directory, or NULL if the path is not below the directory. */
static const char *behind(const char *directory, const char *file)
{
    size_t length = strlen(directory);

    while (length > 0 && directory[length - 1] == '/')
        length--;
    if (strncmp(file, directory, length) != 0 || file[length] != '/')
        return NULL;
    return queue_path_is_below(file + length + 1) ? file + length + 1 : NULL;
}

/* Returns the path of a job file below the real directory of the root. On the heap; NULL if the
 * file is not below the root or, with errno ENOMEM, if out of memory. */
static char *find_below(const char *root, const char *file)
{
    char *directory = realpath(root, NULL);
    char *parent = directory ? strdup(file) : NULL, *real = NULL, *whole = NULL;
    char *slash = parent ? strrchr(parent, '/') : NULL;
    const char *name = slash ? file + (slash - parent) + 1 : file, *rest = NULL;

    if (slash)
        slash[slash == parent] = '\0';
    if (parent)
        real = realpath(slash ? parent : ".", NULL);
    if (real && asprintf(&whole, "%s/%s", strcmp(real, "/") == 0 ? "" : real, name) < 0) {
        whole = NULL;
        errno = ENOMEM;
    }
    if (whole) {
        errno = 0;
        rest = behind(directory, whole);
    }
    char *below = rest ? strdup(rest) : NULL;
    const int error = errno;
    free(whole);
    free(real);
    free(parent);
    free(directory);
    errno = error;
    return below;
}

/* Returns the path of a job file below the root, on the heap; or NULL with the fault filled. */
static char *below(const char *root, const char *file, struct fault *fault)
{
    char shown[2][PRINT_PATH_MAX];
    const bool here = strcmp(root, ".") == 0;

    while (file[0] == '.' && file[1] == '/')
        file += 2 + strspn(file + 2, "/");
    const char *rest = !here ? behind(root, file) : queue_path_is_below(file) ? file : NULL;
    errno = 0;
    char *path = rest ? strdup(rest) : find_below(root, file);
    if (!path && errno == ENOMEM)
        fault_no_memory(fault);
    else if (!path)
        fault_set(
            fault, FAULT_INVALID_PARAMS, NULL,
            "%s is not below %s: give --root DIR, the directory that all machines see the cases in",
            print_path(shown[0], file), print_path(shown[1], root));
    return path;
}

static int make_items(const struct cases *cases, const char *root, struct queue_case *items,
                      struct fault *fault)
{
    struct contents *contents = contents_create();
    int status = contents ? 0 : fault_no_memory(fault);

    for (size_t i = 0; i < cases->count && status == 0; i++) {
        const struct batch_case *batch_case = cases->list[i];
        char *path = below(root, batch_case->file, fault);

        items[i].path = path;
        items[i].name = strdup(batch_case->name);
        if (cancel_requested())
            status = cancel_fault(fault);
        else if (!path)
            status = -1;
        else if (!items[i].name)
            status = fault_no_memory(fault);
        else
            status = case_inputs_read(batch_case->file, contents, &items[i].inputs, fault);
    }
    contents_destroy(contents);
    return status;
}

static void print_added(const struct print_style *style, const char *shown, size_t count,
                        const struct queue_added *added)
{
    struct jsonw w;

    print_line(style, "%s: %zu case%s: %" PRIu64 " added, %" PRIu64 " replaced, %" PRIu64 " known",
               shown, count, print_s(count), added->added, added->replaced, added->known);
    if (!style->json)
        return;
    jsonw_init_object(&w);
    jsonw_string(&w, "queue", shown);
    jsonw_uint(&w, "cases", count);
    jsonw_uint(&w, "added", added->added);
    jsonw_uint(&w, "replaced", added->replaced);
    jsonw_uint(&w, "known", added->known);
    print_object(&w);
}

static int enqueue(const struct options *options, const struct cases *cases, uint32_t lease_ms,
                   struct fault *fault)
{
    const struct print_style style = options_style(options);
    const char *root = options_get(options, "root");
    struct queue_case *items = calloc(cases->count + 1, sizeof(*items));
    char shown[QUEUE_SHOWN_MAX];
    struct queue_added added;
    struct queue *queue = NULL;
    int status =
        items ? make_items(cases, root ? root : ".", items, fault) : fault_no_memory(fault);

    if (status == 0)
        status = batch_queue_open(options, &queue, shown, fault);
    if (status == 0)
        status = queue_add(queue, items, cases->count, lease_ms,
                           options_get(options, "again") != NULL, &added, fault);
    if (status == 0)
        print_added(&style, shown, cases->count, &added);
    queue_close(queue);
    for (size_t i = 0; items && i < cases->count; i++)
        queue_case_finish(&items[i]);
    free(items);
    return status;
}

enum exit_code batch_enqueue(const struct options *options)
{
    const struct print_style style = options_style(options);
    struct cases cases = {.except = BATCH_KEEP};
    struct fault fault;
    uint64_t lease = LEASE_S;

    if (cases_check_filter(options) ||
        options_number(options, "lease", UNIT_S, LEASE_MIN_S, LEASE_MAX_S, &lease))
        return EXIT_CODE_INVALID;
    if (options->argument_count < 2)
        return print_invalid("batch enqueue requires a PATH");
    enum exit_code code = EXIT_CODE_DONE;
    if (cases_find(&cases, options, 1, &fault) ||
        enqueue(options, &cases, (uint32_t)lease * MS_PER_S, &fault))
        code = print_failure(&style, NULL, &fault);
    cases_finish(&cases);
    return code;
}

/* The state of the queue. */

static void print_holder(const struct print_style *style, const struct queue_holder *holder)
{
    char age[PRINT_TEXT_MAX], left[PRINT_TEXT_MAX];

    print_since(left, holder->left_ms);
    print_line(style, "  %s: leased by %s for %s; the lease ends in %s", holder->name,
               holder->worker, print_since(age, holder->age_ms), left);
}

static void print_status(const struct print_style *style, const char *shown,
                         const struct queue_status *status)
{
    const struct queue_counts *counts = &status->counts;

    print_line(style,
               "%s: %" PRIu64 " case%s: %" PRIu64 " waiting, %" PRIu64 " leased, %" PRIu64
               " done, %" PRIu64 " of them failed",
               shown, counts->cases, print_s(counts->cases), counts->waiting, counts->leased,
               counts->done, counts->failed);
    for (size_t i = 0; i < status->count; i++)
        print_holder(style, &status->holders[i]);
}

static void print_status_json(const char *shown, const struct queue_status *status)
{
    const struct queue_counts *counts = &status->counts;
    struct jsonw w;

    jsonw_init_object(&w);
    jsonw_string(&w, "queue", shown);
    jsonw_uint(&w, "cases", counts->cases);
    jsonw_uint(&w, "waiting", counts->waiting);
    jsonw_uint(&w, "leased", counts->leased);
    jsonw_uint(&w, "done", counts->done);
    jsonw_uint(&w, "failed", counts->failed);
    jsonw_array_begin(&w, "leases");
    for (size_t i = 0; i < status->count; i++) {
        const struct queue_holder *holder = &status->holders[i];

        jsonw_object_begin(&w, NULL);
        jsonw_string(&w, "name", holder->name);
        jsonw_string(&w, "worker", holder->worker);
        jsonw_uint(&w, "ms", holder->age_ms);
        jsonw_uint(&w, "left_ms", holder->left_ms);
        jsonw_object_end(&w);
    }
    jsonw_array_end(&w);
    print_object(&w);
}

enum exit_code batch_show_status(const struct options *options)
{
    const struct print_style style = options_style(options);
    char shown[QUEUE_SHOWN_MAX];
    struct queue_status status = {0};
    struct queue *queue = NULL;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (batch_queue_open(options, &queue, shown, &fault) || queue_status(queue, &status, &fault))
        code = print_failure(&style, NULL, &fault);
    else if (style.json)
        print_status_json(shown, &status);
    else
        print_status(&style, shown, &status);
    queue_status_finish(&status);
    queue_close(queue);
    return code;
}

/* Collecting results. */

struct collection {
    const struct options *options;
    struct queue *queue;
    char shown[QUEUE_SHOWN_MAX];
    struct batch_report *report;
    struct queue_entries entries;
    struct queue_status status; /* numbers of the cases that have no result */
    struct batch_summary summary;
    bool late;        /* --timeout has passed, or a signal has arrived */
    uint64_t program; /* the build of mlictl that the first result names */
    bool mixed;       /* results of several builds of mlictl */
};

/* Waits until all cases are done, --timeout has passed, or a signal arrives. */
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
    if (holder)
        snprintf(text, sizeof(text), "%s: leased by %s for %s; the lease ends in %s",
                 entry->item.name, holder->worker, print_since(age, holder->age_ms),
                 print_since(left, holder->left_ms));
    else
        snprintf(text, sizeof(text), "%s: waiting for a worker", entry->item.name);
    print_error("%s", text);
    batch_report_problem(collection->options, NULL, NULL, text);
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
            status = fault_set(&why, FAULT_INVALID_PARAMS, NULL, "it belongs to another case");
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
    batch_report_ended(collection->report, &result);
    batch_report_result(collection->report, &result);
    case_result_finish(&result);
    return 0;
}

/* Reports cases without a result as a problem: otherwise the report would show no error. */
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
    if (collection->mixed)
        batch_report_note(collection->report, "the workers had different builds of mlictl");
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
    if (batch_queue_open(collection->options, &collection->queue, collection->shown, fault) ||
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

enum exit_code batch_collect(const struct options *options)
{
    struct collection collection = {.options = options};
    uint64_t timeout = 0;

    if (options_number(options, "timeout", UNIT_MS, 1, JOB_TIMEOUT_MAX_MS, &timeout))
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
