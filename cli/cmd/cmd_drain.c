/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl drain, resume: a daemon refuses new jobs, and accepts them again. */
#include "cli/cmd/command.h"
#include "cli/cmd/session.h"

static const struct option drain_options[] = {
    {"no-wait", NULL, "Do not wait for the jobs under way."},
    DAEMON_LINK_OPTIONS,
    OPTIONS_COMMON,
};

static int read_phase(const struct json *result, void *phase)
{
    struct json state = json_member(result, "state");

    return service_phase_read(&state, phase);
}

static void print_phase(const struct session *session, const void *phase)
{
    print_line(&session->style, "mlid at %s is %s", session->link.where,
               service_phase_name(*(const enum service_phase *)phase));
}

static void write_phase(struct jsonw *w, const struct session *session, const void *phase)
{
    jsonw_string(w, "socket", session->link.where);
    jsonw_string(w, "state", service_phase_name(*(const enum service_phase *)phase));
}

static enum exit_code ask_drain(struct session *session, void *context)
{
    struct jsonw w;
    enum service_phase phase;

    (void)context;
    jsonw_init_object(&w);
    jsonw_bool(&w, "wait", options_get(session->options, "no-wait") == NULL);
    jsonw_object_end(&w);
    const struct question question = {.method = "daemon.drain",
                                      .params = &w,
                                      .timeout_ms = -1,
                                      .read = read_phase,
                                      .print = print_phase,
                                      .write = write_phase};
    enum exit_code code = session_ask(session, &question, &phase);
    jsonw_finish(&w);
    return code;
}

static enum exit_code drain(const struct options *options)
{
    return session_run(options, ask_drain, NULL);
}

static enum exit_code ask_resume(struct session *session, void *context)
{
    static const struct question question = {
        .method = "daemon.resume", .read = read_phase, .print = print_phase, .write = write_phase};
    enum service_phase phase;

    (void)context;
    return session_ask(session, &question, &phase);
}

static enum exit_code resume(const struct options *options)
{
    return session_run(options, ask_resume, NULL);
}

const struct command cmd_drain = {
    .name = "drain",
    .arguments = "",
    .summary = "make a daemon refuse new jobs, and wait until its jobs end",
    .details = "Only root and the daemon's user may do this. ^C ends only the wait.\n",
    .options = drain_options,
    .examples = {{"prepare an update of the board; resume undoes this", "mlictl drain"}},
    .run = drain,
};

const struct command cmd_resume = {
    .name = "resume",
    .arguments = "",
    .summary = "make a daemon accept jobs again",
    .details =
        "Undoes drain, and releases from quarantine the channels whose transfers have ended.\n"
        "For root and the daemon's user.\n",
    .options = session_options,
    .examples = {{"undo drain", "mlictl resume"}},
    .run = resume,
};
