/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl batch status: shows what waits, who runs what, and what is done. */
#include <inttypes.h>

#include "cli/batch/queue_command.h"
#include "cli/term/print.h"

static void print_holder(const struct print_style *style, const struct queue_holder *holder)
{
    char age[PRINT_TEXT_MAX], left[PRINT_TEXT_MAX];

    print_since(left, holder->left_ms);
    if (holder->worker)
        print_line(style, "  %s: leased by %s for %s; the lease ends in %s", holder->name,
                   holder->worker, print_since(age, holder->age_ms), left);
    else
        print_line(style, "  %s: leased; the lease ends in %s", holder->name, left);
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

    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
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
        if (holder->worker) {
            jsonw_string(&w, "worker", holder->worker);
            jsonw_uint(&w, "ms", holder->age_ms);
        }
        jsonw_uint(&w, "left_ms", holder->left_ms);
        jsonw_object_end(&w);
    }
    jsonw_array_end(&w);
    jsonw_object_end(&w);
    print_json(&w);
}

enum exit_code queue_show_status(const struct options *options)
{
    static const char *const allowed[] = {"queue", "password-file", "reconnect",
                                          "json",  "quiet",         NULL};
    const struct print_style style = options_style(options);
    char shown[sizeof(((struct queue_url *)0)->shown)];
    struct queue_status status = {0};
    struct queue *queue = NULL;
    struct fault fault;
    enum exit_code code = EXIT_CODE_DONE;

    if (options_only(options, allowed, "batch status"))
        return EXIT_CODE_INVALID;
    if (queue_command_open(options, &queue, shown, &fault) || queue_status(queue, &status, &fault))
        code = print_failure(&style, NULL, &fault);
    else if (style.json)
        print_status_json(shown, &status);
    else
        print_status(&style, shown, &status);
    queue_status_finish(&status);
    queue_close(queue);
    return code;
}
