/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl trace: a timeline of a daemon's channels, for Perfetto and chrome://tracing. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/command.h"
#include "cli/file/output.h"
#include "cli/link/daemon_link.h"
#include "cli/term/cancel.h"
#include "proto/wire/chrome_trace.h"

static const struct option options_table[] = {
    {"seconds", 't', "N", "how long; without it until ^C"},
    {"output", 'o', "FILE", "where it goes; - is standard output", .takes = &value_file},
    {"force", 'f', NULL, "replace an existing FILE"},
    {"all", 'a', NULL, "jobs of all users (for root and the daemon's user)"},
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

enum { CHUNK = 64 * 1024 };

struct recorder {
    struct client client;
    struct output output;
    struct chrome_trace trace;
    struct textw text; /* not yet written */
    uint64_t written, events, dropped;
    bool streamed; /* to standard output */
    bool replaces; /* an existing file */
    bool failed;   /* an event could not be read */
};

static int64_t now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void take(mli_client *client, const char *line, size_t length, void *user)
{
    struct recorder *recorder = user;
    struct rpc_reply reply;
    struct event event;
    (void)client;
    if (rpc_reply_parse(line, length, &reply) || reply.notification != RPC_EVENT) {
        rpc_reply_finish(&reply);
        return;
    }
    if (event_read(&reply.params, &event) == 0) {
        chrome_trace_event(&recorder->trace, &event, &recorder->text);
        recorder->events++;
        recorder->dropped += event.dropped;
    } else {
        recorder->failed = true;
    }
    rpc_reply_finish(&reply);
}

static int write_text(struct recorder *recorder, struct fault *fault)
{
    struct textw *text = &recorder->text;
    if (text->failed)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    if (text->length == 0)
        return 0;
    if (recorder->streamed) {
        if (fwrite(text->data, 1, text->length, stdout) < text->length || print_flush())
            return cancel_requested()
                       ? cancel_fault(fault)
                       : fault_set(fault, FAULT_IO_ERROR, NULL, "standard output takes no more");
    } else if (output_write(&recorder->output, text->data, text->length, recorder->written,
                            fault)) {
        return -1;
    }
    recorder->written += text->length;
    textw_reset(text);
    return 0;
}

static int subscribe(struct recorder *recorder, bool all, struct fault *fault)
{
    struct jsonw w;
    struct rpc_reply reply;
    const struct events_subscribe call = {.events = 1U << EVENT_QUEUED | 1U << EVENT_STARTED |
                                                    1U << EVENT_DONE,
                                          .scope = all ? EVENT_SCOPE_ALL : EVENT_SCOPE_USER,
                                          .interval_ms = 250};
    mli_client_set_notify(recorder->client.library, take, recorder);
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    events_subscribe_write(&w, &call);
    jsonw_object_end(&w);
    const struct client_request request = {
        .method = "events.subscribe", .params = &w, .timeout_ms = CLIENT_ASK_MS};
    int status = client_call(&recorder->client, &request, &reply, fault);
    jsonw_finish(&w);
    if (status == 0)
        rpc_reply_finish(&reply);
    return status;
}

/* Events until the time is over. ^C ends a recording without a time, and drops one that has one. */
static int record(struct recorder *recorder, int64_t deadline, struct fault *fault)
{
    mli_client *library = recorder->client.library;
    mli_client_error error;
    for (;;) {
        int64_t left = deadline < 0 ? -1 : deadline - now_ms();
        if (deadline >= 0 && left <= 0)
            return 0;
        struct pollfd polled[] = {{.fd = mli_client_fd(library), .events = POLLIN},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        poll(polled, 2, (int)left);
        if (cancel_requested())
            return deadline < 0 ? 0 : cancel_fault(fault);
        if (mli_client_dispatch(library, &error))
            return client_fault(&recorder->client, &error, fault);
        if (recorder->failed)
            return fault_set(fault, FAULT_STREAM_ERROR, NULL, "an event cannot be read");
        if (recorder->text.length > (recorder->streamed ? 0 : CHUNK) && write_text(recorder, fault))
            return -1;
    }
}

static int finish_file(struct recorder *recorder, struct fault *fault)
{
    chrome_trace_end(&recorder->trace, &recorder->text);
    if (write_text(recorder, fault))
        return -1;
    return recorder->streamed ? 0 : output_commit(&recorder->output, !recorder->replaces, fault);
}

static void report(const struct print_style *style, const struct recorder *recorder,
                   const char *path)
{
    print_line(style, "%s: %" PRIu64 " event%s, %" PRIu64 " dropped", path, recorder->events,
               print_s(recorder->events), recorder->dropped);
    if (!style->json)
        return;
    struct jsonw w;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    jsonw_string(&w, "file", path);
    jsonw_uint(&w, "events", recorder->events);
    jsonw_uint(&w, "dropped", recorder->dropped);
    jsonw_uint(&w, "bytes", recorder->written);
    jsonw_object_end(&w);
    print_json(&w);
}

static enum exit_code run(const struct options *options)
{
    struct print_style style = options_style(options);
    struct recorder recorder = {.output = {.directory = -1, .fd = -1}};
    struct fault fault;
    uint64_t seconds = 0;
    const char *path = options_get(options, "output");
    if (options->argument_count > 0 || !path)
        return command_misused(&cmd_trace);
    recorder.streamed = strcmp(path, "-") == 0;
    recorder.replaces = options_get(options, "force") != NULL;
    if (recorder.streamed && style.json) {
        print_error("-o - and --json: both are for standard output");
        return EXIT_CODE_INVALID;
    }
    if (options_uint(options, "seconds", 1, 86400, &seconds))
        return EXIT_CODE_INVALID;
    textw_init(&recorder.text);
    chrome_trace_init(&recorder.trace);
    chrome_trace_begin(&recorder.trace, &recorder.text);
    int status = client_open(&recorder.client, options, &fault);
    if (status == 0 && !recorder.streamed)
        status = output_init(&recorder.output, path, NULL, &fault);
    if (status == 0 && !recorder.streamed)
        status = output_check_fresh(&recorder.output, recorder.replaces, &fault);
    if (status == 0)
        status = subscribe(&recorder, options_get(options, "all") != NULL, &fault);
    if (status == 0)
        status = record(&recorder, seconds ? now_ms() + (int64_t)seconds * 1000 : -1, &fault);
    if (status == 0)
        status = finish_file(&recorder, &fault);
    if (status == 0 && !recorder.streamed)
        report(&style, &recorder, path);
    output_finish(&recorder.output);
    client_finish(&recorder.client);
    textw_finish(&recorder.text);
    return status ? print_failure(&style, NULL, &fault) : EXIT_CODE_DONE;
}

static const struct example examples[] = {
    {"one second, for https://ui.perfetto.dev", "mlictl trace --seconds 1 -o trace.json"},
    {0},
};

const struct command cmd_trace = {
    .name = "trace",
    .arguments = "-o FILE",
    .summary = "record a timeline of a daemon's channels",
    .details = "FILE is for https://ui.perfetto.dev and chrome://tracing. It appears whole or not\n"
               "at all: ^C ends a recording without --seconds, and drops one with it.\n"
               "-o - writes to standard output as it comes.\n",
    .options = options_table,
    .examples = examples,
    .run = run,
};
