/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl trace: a timeline of a daemon's channels, for Perfetto and chrome://tracing. */
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"
#include "cli/file/output.h"
#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "proto/wire/chrome_trace.h"

static const struct option options_table[] = {
    {"seconds", "N", "Record for N seconds (default: until ^C).", .old = "t"},
    {"output", "FILE", "Write to this file; - is standard output (required).",
     .takes = &value_file},
    {"force", NULL, "Replace an existing FILE."},
    {"all", NULL, "Record the jobs of all users; only for root and the daemon's user."},
    DAEMON_LINK_OPTIONS,
    OPTIONS_COMMON,
};

#define NS_PER_S UINT64_C(1000000000)

enum { CHUNK = 64 * 1024 };

struct recorder {
    struct session *session;
    struct output output;
    struct chrome_trace trace;
    struct textw text; /* trace events that are not yet written */
    uint64_t seconds;  /* duration of the recording; 0: until ^C */
    uint64_t written, events, dropped;
    const char *path;
    bool streamed; /* true: write events to standard output */
    bool replaces; /* true: replace an existing file */
    bool failed;   /* true: an event could not be read */
    bool unread;   /* true: print_flush() has reported a failed write */
};

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
        return fault_no_memory(fault);
    if (text->length == 0)
        return 0;
    if (recorder->streamed) {
        fwrite(text->data, 1, text->length, stdout);
        recorder->unread = print_flush() != 0;
        if (recorder->unread)
            return cancel_requested() ? cancel_fault(fault)
                                      : fault_set(fault, FAULT_IO_ERROR, NULL,
                                                  "standard output cannot be written");
    } else if (output_write(&recorder->output, text->data, text->length, recorder->written,
                            fault)) {
        return -1;
    }
    recorder->written += text->length;
    textw_reset(text);
    return 0;
}

static int subscribe(struct recorder *recorder, struct fault *fault)
{
    const bool all = options_get(recorder->session->options, "all") != NULL;
    const struct events_subscribe call = {.events = 1U << EVENT_QUEUED | 1U << EVENT_STARTED |
                                                    1U << EVENT_DONE,
                                          .scope = all ? EVENT_SCOPE_ALL : EVENT_SCOPE_USER,
                                          .interval_ms = 250};
    struct jsonw w;

    mli_client_set_notify(recorder->session->link.library, take, recorder);
    jsonw_init_object(&w);
    events_subscribe_write(&w, &call);
    jsonw_object_end(&w);
    const struct question question = {.method = "events.subscribe", .params = &w};
    int status = session_call(recorder->session, &question, NULL, fault);
    jsonw_finish(&w);
    return status;
}

/* Milliseconds until the deadline, rounded up; -1: there is no deadline. */
static int left_ms(uint64_t deadline_ns)
{
    const uint64_t now = clock_ns();

    if (deadline_ns == 0)
        return -1;
    return now < deadline_ns ? (int)((deadline_ns - now) / CLOCK_NS_PER_MS + 1) : 0;
}

/* Records events until the deadline. ^C ends a recording without a deadline, and discards a
 * recording with a deadline. */
static int record(struct recorder *recorder, struct fault *fault)
{
    const uint64_t deadline_ns = recorder->seconds ? clock_ns() + recorder->seconds * NS_PER_S : 0;
    mli_client *library = recorder->session->link.library;
    mli_client_error error;

    for (;;) {
        const int left = left_ms(deadline_ns);
        if (left == 0)
            return 0;
        struct pollfd polled[] = {{.fd = mli_client_fd(library), .events = POLLIN},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        poll(polled, 2, left);
        if (cancel_requested())
            return deadline_ns ? cancel_fault(fault) : 0;
        if (mli_client_dispatch(library, &error))
            return daemon_link_fault(&recorder->session->link, &error, fault);
        if (recorder->failed)
            return fault_set(fault, FAULT_STREAM_ERROR, NULL, "cannot read an event of the daemon");
        if (recorder->text.length > (recorder->streamed ? 0 : CHUNK) && write_text(recorder, fault))
            return -1;
    }
}

static int finish_file(struct recorder *recorder, struct fault *fault)
{
    chrome_trace_end(&recorder->trace, &recorder->text);
    if (write_text(recorder, fault))
        return -1;
    return recorder->streamed ? 0
                              : output_commit_synced(&recorder->output, !recorder->replaces, fault);
}

static void print_recording(const struct session *session, const void *answer)
{
    const struct recorder *recorder = answer;

    print_line(&session->style,
               "%s: %" PRIu64 " entries for %" PRIu64 " event%s, %" PRIu64 " dropped",
               recorder->path, recorder->trace.written, recorder->events, print_s(recorder->events),
               recorder->dropped);
}

static void write_recording(struct jsonw *w, const struct session *session, const void *answer)
{
    const struct recorder *recorder = answer;

    (void)session;
    jsonw_string(w, "file", recorder->path);
    jsonw_uint(w, "entries", recorder->trace.written);
    jsonw_uint(w, "events", recorder->events);
    jsonw_uint(w, "dropped", recorder->dropped);
    jsonw_uint(w, "bytes", recorder->written);
}

static int open_file(struct recorder *recorder, struct fault *fault)
{
    if (recorder->streamed)
        return 0;
    if (output_init(&recorder->output, recorder->path, NULL, fault))
        return -1;
    return output_check_fresh(&recorder->output, recorder->replaces, fault);
}

static enum exit_code record_trace(struct session *session, void *context)
{
    static const struct question printed = {.print = print_recording, .write = write_recording};
    struct recorder *recorder = context;
    struct fault fault;

    recorder->session = session;
    textw_init(&recorder->text);
    chrome_trace_init(&recorder->trace);
    chrome_trace_begin(&recorder->trace, "mlid", &recorder->text);
    const bool failed = open_file(recorder, &fault) || subscribe(recorder, &fault) ||
                        record(recorder, &fault) || finish_file(recorder, &fault);
    if (!failed && !recorder->streamed)
        session_print(session, &printed, recorder);
    output_finish(&recorder->output);
    textw_finish(&recorder->text);
    if (failed && recorder->unread && !cancel_requested())
        return EXIT_CODE_FAILED;
    return failed ? print_failure(&session->style, NULL, &fault) : EXIT_CODE_DONE;
}

static enum exit_code run(const struct options *options)
{
    struct recorder recorder = {.output = {.directory = -1, .fd = -1},
                                .path = options_get(options, "output")};

    if (options->argument_count > 0 || !recorder.path)
        return command_misused(&cmd_trace);
    recorder.streamed = strcmp(recorder.path, "-") == 0;
    recorder.replaces = options_get(options, "force") != NULL;
    if (recorder.streamed && options_get(options, "json"))
        return print_invalid(
            "--output - cannot be combined with --json: both write to standard output");
    if (options_number(options, "seconds", UNIT_S, 1, 86400, &recorder.seconds))
        return EXIT_CODE_INVALID;
    return session_run(options, record_trace, &recorder);
}

const struct command cmd_trace = {
    .name = "trace",
    .arguments = "-o FILE",
    .summary = "record a timeline of a daemon's channels",
    .details =
        "Open FILE in https://ui.perfetto.dev or chrome://tracing. It is written atomically.\n"
        "^C ends a recording without --seconds, and drops a recording with --seconds.\n"
        "-o - writes events to standard output as they come.\n",
    .options = options_table,
    .examples = {{"one second, for https://ui.perfetto.dev",
                  "mlictl trace --seconds 1 -o trace.json"}},
    .run = run,
};
