/* SPDX-License-Identifier: BSD-3-Clause */
/* Replaces queue_commands.c and source_queue.c in a build without hiredis. */
#include "cli/batch/batch.h"
#include "cli/batch/workers.h"

static int refuse(const struct options *options, struct fault *fault)
{
    struct queue_url url;

    if (queue_url_parse(options_get(options, "queue"), &url, fault))
        return -1;
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "this mlictl was built without hiredis, the client library of Redis: build it "
                     "with -Dredis=enabled (Debian: libhiredis-dev)");
}

static enum exit_code fail(const struct options *options)
{
    const struct print_style style = options_style(options);
    struct fault fault;

    refuse(options, &fault);
    return print_failure(&style, NULL, &fault);
}

enum exit_code batch_enqueue(const struct options *options)
{
    return fail(options);
}

enum exit_code batch_show_status(const struct options *options)
{
    return fail(options);
}

enum exit_code batch_collect(const struct options *options)
{
    return fail(options);
}

int source_queue_open(struct source_queue *source, const struct options *options,
                      struct fault *fault)
{
    (void)source;
    return refuse(options, fault);
}

struct case_source source_queue_of(struct source_queue *source)
{
    return (struct case_source){.context = source};
}

void source_queue_finish(struct source_queue *source)
{
    (void)source;
}
