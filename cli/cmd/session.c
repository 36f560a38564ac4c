/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd/session.h"

const struct option session_options[] = {
    DAEMON_LINK_OPTIONS,
    OPTIONS_COMMON,
};

const struct option session_any_options[] = {
    ANY_LINK_OPTIONS,
    OPTIONS_COMMON,
};

static const char *channels(char out[PRINT_TEXT_MAX], const struct job_info *info)
{
    if (info->first_channel < 0)
        snprintf(out, PRINT_TEXT_MAX, "%" PRIu32, info->channels);
    else if (info->channels == 1)
        snprintf(out, PRINT_TEXT_MAX, "#%" PRId32, info->first_channel);
    else
        snprintf(out, PRINT_TEXT_MAX, "#%" PRId32 "-%" PRId32, info->first_channel,
                 info->first_channel + (int32_t)info->channels - 1);
    return out;
}

enum colour_role job_state_colour(enum job_state state)
{
    static const enum colour_role roles[JOB_STATE_COUNT] = {
        [JOB_STATE_WAITING] = COLOUR_FAINT,  [JOB_STATE_QUEUED] = COLOUR_FAINT,
        [JOB_STATE_RUNNING] = COLOUR_STRONG, [JOB_STATE_DONE] = COLOUR_GOOD,
        [JOB_STATE_FAILED] = COLOUR_BAD,     [JOB_STATE_CANCELLED] = COLOUR_WARN};

    return roles[state];
}

/* A line of the table has three parts. */
enum { NUMBER_MAX = 24, STATE_MAX = 16, REST_MAX = 512 + FAULT_TEXT_MAX };
struct line {
    char number[NUMBER_MAX], state[STATE_MAX], rest[REST_MAX];
};

static void fill(struct line *line, const struct job_info *info)
{
    static const char *const priorities[] = {"low", "normal", "high"};
    char bytes[PRINT_TEXT_MAX], queued[PRINT_TEXT_MAX], moving[PRINT_TEXT_MAX];
    char where[PRINT_TEXT_MAX];

    snprintf(line->number, NUMBER_MAX, "%8" PRIu64 "  ", info->job);
    snprintf(line->state, STATE_MAX, "%-9s", job_state_name(info->state));
    snprintf(line->rest, REST_MAX, "  %-6s%8s  %11s  %8s  %8s%s%s%s%s",
             priorities[info->priority + 1], channels(where, info), print_bytes(bytes, info->bytes),
             print_time(queued, info->ns_queued), print_time(moving, info->ns_moving),
             *info->name || info->error ? "  " : "", info->name,
             *info->name && info->error ? ": " : "", info->error ? info->error->text : "");
}

void job_print_line(struct textw *w, const struct job_info *info)
{
    struct line line;

    fill(&line, info);
    textw_printf(w, "%s%s%s", line.number, line.state, line.rest);
}

void job_print_table(const struct print_style *style, const struct job_info *info, bool first)
{
    struct line line;

    if (first)
        print_line(style, "%s", JOB_PRINT_HEADING);
    fill(&line, info);
    print_coloured(style, line.number, job_state_colour(info->state), line.state, line.rest);
}

void job_print_json(const struct job_info *info)
{
    struct jsonw w;

    jsonw_init(&w);
    job_info_write(&w, NULL, info);
    print_json(&w);
}

/* Maximum number of digits of a number that JSON represents exactly. */
enum { JOB_DIGITS_MAX = 15 };

typedef int open_fn(struct daemon_link *link, const struct options *options, struct fault *fault);

static enum exit_code run(const struct options *options, open_fn *open, session_fn *talk,
                          void *context)
{
    struct session session = {.options = options, .style = options_style(options)};
    struct fault fault;
    enum exit_code code = open(&session.link, options, &fault)
                              ? print_failure(&session.style, NULL, &fault)
                              : talk(&session, context);

    daemon_link_finish(&session.link);
    return code;
}

enum exit_code session_run(const struct options *options, session_fn *talk, void *context)
{
    return run(options, daemon_link_open, talk, context);
}

enum exit_code session_run_any(const struct options *options, session_fn *talk, void *context)
{
    return run(options, daemon_link_open_any, talk, context);
}

int session_check_jobs(const struct options *options)
{
    for (size_t i = 0; i < options->argument_count; i++) {
        const char *argument = options->arguments[i];
        size_t digits = strspn(argument, "0123456789");
        if (digits > 0 && digits <= JOB_DIGITS_MAX && argument[digits] == '\0' &&
            strtoull(argument, NULL, 10) > 0)
            continue;
        return print_refusal("%s: a job number is required; mlictl jobs lists the numbers",
                             argument);
    }
    return 0;
}

void session_write_job(struct jsonw *w, const char *argument)
{
    jsonw_uint(w, "job", strtoull(argument, NULL, 10));
}

static int call(struct session *session, const struct question *question, struct jsonw *params,
                struct rpc_reply *reply, struct fault *fault)
{
    const struct daemon_link_request request = {
        .method = question->method,
        .params = params,
        .timeout_ms = question->timeout_ms ? question->timeout_ms : DAEMON_LINK_ASK_MS};

    return daemon_link_call(&session->link, &request, reply, fault);
}

static int call_about_job(struct session *session, const struct question *question,
                          struct rpc_reply *reply, struct fault *fault)
{
    struct jsonw w;

    jsonw_init_object(&w);
    session_write_job(&w, question->job);
    if (question->job_timeout_ms > 0)
        jsonw_uint(&w, "timeout_ms", question->job_timeout_ms);
    jsonw_object_end(&w);
    int status = call(session, question, &w, reply, fault);
    jsonw_finish(&w);
    if (status && fault->code == FAULT_NOT_FOUND)
        fault_set(fault, FAULT_NOT_FOUND, "/job",
                  "job %s is unknown or forgotten; mlictl jobs lists the known jobs",
                  question->job);
    return status;
}

int session_call(struct session *session, const struct question *question, void *answer,
                 struct fault *fault)
{
    struct rpc_reply reply;
    int status = question->job ? call_about_job(session, question, &reply, fault)
                               : call(session, question, question->params, &reply, fault);

    if (status)
        return -1;
    if (question->read)
        status = question->read(&reply.result, answer);
    if (status)
        daemon_link_unreadable(&reply, fault);
    rpc_reply_finish(&reply);
    return status;
}

void session_print(const struct session *session, const struct question *question,
                   const void *answer)
{
    struct jsonw w;

    question->print(session, answer);
    if (!session->style.json)
        return;
    jsonw_init_object(&w);
    question->write(&w, session, answer);
    print_object(&w);
}

/* Prints why a call about a job has no answer. */
static enum exit_code print_no_answer(const struct session *session, const char *job,
                                      const struct fault *fault)
{
    const struct print_style plain = {0};
    const enum exit_code code = print_failure(&plain, NULL, fault);
    struct jsonw w;

    if (!session->style.json)
        return code;
    jsonw_init_object(&w);
    session_write_job(&w, job);
    jsonw_uint(&w, "exit", code);
    print_json_fault(&w, "error", fault);
    print_object(&w);
    return code;
}

enum exit_code session_ask(struct session *session, const struct question *question, void *answer)
{
    struct fault fault;

    if (session_call(session, question, answer, &fault))
        return question->job ? print_no_answer(session, question->job, &fault)
                             : print_failure(&session->style, NULL, &fault);
    session_print(session, question, answer);
    return EXIT_CODE_DONE;
}

static int read_stats(const struct json *result, void *stats)
{
    return daemon_stats_read(result, stats);
}

int session_stats(struct session *session, struct daemon_stats *stats, struct fault *fault)
{
    const struct question question = {.method = "daemon.stats", .read = read_stats};

    return session_call(session, &question, stats, fault);
}

/* A page of job.list, and the callback that receives its jobs. */
struct page {
    struct job_list_query *query;
    void (*each)(void *context, const struct job_info *info);
    void *context;
    bool more;
};

static int read_page(const struct json *result, void *answer)
{
    struct page *page = answer;
    struct json jobs = json_member(result, "jobs"), more = json_member(result, "more"), item = {0};
    size_t count;

    if (json_array(&jobs, &count) || json_bool(&more, &page->more))
        return -1;
    while (json_next(&jobs, &item)) {
        struct job_info info;
        if (job_info_read(&item, &info))
            return -1;
        page->each(page->context, &info);
        page->query->before = info.job;
    }
    page->more = page->more && count > 0;
    return 0;
}

int session_list(struct session *session, struct job_list_query *query,
                 void (*each)(void *context, const struct job_info *info), void *context,
                 bool *more, struct fault *fault)
{
    struct page page = {.query = query, .each = each, .context = context};
    struct jsonw w;

    jsonw_init_object(&w);
    job_list_query_write(&w, query);
    jsonw_object_end(&w);
    const struct question question = {.method = "job.list", .params = &w, .read = read_page};
    int status = session_call(session, &question, &page, fault);
    jsonw_finish(&w);
    if (more)
        *more = page.more;
    return status;
}
