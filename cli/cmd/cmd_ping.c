/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl ping: shows whether a daemon answers, and how fast. */
#include "cli/cmd/command.h"
#include "cli/cmd/session.h"
#include "cli/term/clock_ns.h"

static void print_pong(const struct session *session, const void *ns)
{
    char time[PRINT_TEXT_MAX];

    print_line(&session->style, "%s at %s answers in %s",
               session->link.board ? board_calls->agent : "mlid", session->link.where,
               print_time(time, *(const uint64_t *)ns));
}

static void write_pong(struct jsonw *w, const struct session *session, const void *ns)
{
    jsonw_string(w, "socket", session->link.where);
    jsonw_uint(w, "ns", *(const uint64_t *)ns);
}

static enum exit_code ask_ping(struct session *session, void *context)
{
    static const struct question question = {
        .method = "daemon.ping", .print = print_pong, .write = write_pong};
    struct fault fault;
    const uint64_t begin = clock_ns();

    (void)context;
    if (session_call(session, &question, NULL, &fault))
        return print_failure(&session->style, NULL, &fault);
    session_print(session, &question, &(uint64_t){clock_ns() - begin});
    return EXIT_CODE_DONE;
}

static enum exit_code ping(const struct options *options)
{
    return session_run_any(options, ask_ping, NULL);
}

const struct command cmd_ping = {
    .name = "ping",
    .arguments = "",
    .summary = "check that a daemon answers",
    .details = "Prints the time of a round trip. Fails after five seconds without an answer.\n",
    .options = session_any_options,
    .examples = {{"measure a round trip", "mlictl ping"},
                 {"in a script", "mlictl ping -q && echo serving"}},
    .run = ping,
};
