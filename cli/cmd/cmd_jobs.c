/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl jobs: the jobs that a daemon knows. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/command.h"
#include "cli/job/job_print.h"
#include "cli/link/daemon_link.h"
#include "cli/words.h"
#include "proto/wire/job_calls.h"

static const char *const state_words[] = {
#define STATE_WORD(name, word) word,
    JOB_STATE_TABLE(STATE_WORD)
#undef STATE_WORD
        NULL};
static const struct value states_value = {VALUE_WORDS, state_words};

static const struct option options_table[] = {
    {"state", 0, "STATES", "only these: waiting,queued,running,done,failed,cancelled",
     .takes = &states_value},
    {"name", 0, "NAME", "only jobs of this name"},
    {"limit", 'n', "N", "the latest N (100)"},
    {"all", 'a', NULL, "as many as the daemon remembers"},
    CLIENT_OPTIONS,
    OPTIONS_COMMON,
};

enum { STATE_WORD_MAX = 32 };

/* "running,queued" */
static int take_states(const struct options *options, uint32_t *states)
{
    const char *text = options_get(options, "state");
    while (text && *text) {
        char word[STATE_WORD_MAX];
        size_t length = strcspn(text, ",");
        snprintf(word, sizeof(word), "%.*s", (int)length, text);
        const int state = words_find("--state", word, state_words);
        if (state < 0)
            return -1;
        *states |= UINT32_C(1) << state;
        text += length + (text[length] == ',');
    }
    return 0;
}

/* One page. *more and query->before: how to go on. Returns 0 or -1. */
static int print_page(struct client *client, const struct print_style *style,
                      struct job_list_query *query, bool *more, struct fault *fault)
{
    struct jsonw w;
    struct rpc_reply reply;
    size_t count;
    jsonw_init(&w);
    jsonw_object_begin(&w, NULL);
    job_list_query_write(&w, query);
    jsonw_object_end(&w);
    const struct client_request request = {
        .method = "job.list", .params = &w, .timeout_ms = CLIENT_ASK_MS};
    int status = client_call(client, &request, &reply, fault);
    jsonw_finish(&w);
    if (status)
        return -1;
    struct json jobs = json_member(&reply.result, "jobs"), item = {0};
    struct json rest = json_member(&reply.result, "more");
    status = json_array(&jobs, &count) || json_bool(&rest, more) ? -1 : 0;
    while (status == 0 && json_next(&jobs, &item)) {
        struct job_info info;
        status = job_info_read(&item, &info);
        if (status)
            break;
        if (style->json)
            job_print_json(&info);
        job_print_table(style, &info, query->before == 0);
        query->before = info.job;
    }
    if (status)
        client_unreadable(&reply, fault);
    *more = *more && count > 0;
    rpc_reply_finish(&reply);
    return status;
}

static enum exit_code jobs(const struct options *options)
{
    struct print_style style = options_style(options);
    struct client client = {0};
    struct fault fault;
    char name[PROTO_NAME_MAX + 1] = "";
    uint64_t limit = JOB_LIST_LIMIT;
    struct job_list_query query = {0};
    bool more = true, all = options_get(options, "all") != NULL;
    if (options->argument_count > 0)
        return command_misused(&cmd_jobs);
    if (take_states(options, &query.states) ||
        options_uint(options, "limit", 1, JOB_LIST_LIMIT_MAX, &limit))
        return EXIT_CODE_INVALID;
    if (options_get(options, "name")) {
        snprintf(name, sizeof(name), "%s", options_get(options, "name"));
        query.name = name;
    }
    bool pages = all && !options_get(options, "limit");
    query.limit = (uint32_t)(pages ? JOB_LIST_LIMIT_MAX : limit);
    enum exit_code code = EXIT_CODE_DONE;
    int status = client_open(&client, options, &fault);
    if (status == 0)
        status = print_page(&client, &style, &query, &more, &fault);
    while (status == 0 && pages && more)
        status = print_page(&client, &style, &query, &more, &fault);
    if (status)
        code = print_failure(&style, NULL, &fault);
    else if (query.before == 0)
        print_line(&style, "no jobs");
    else if (more)
        print_line(&style, "there are older ones%s", all ? "" : ": --all");
    client_finish(&client);
    return code;
}

static const struct example examples[] = {
    {"what is under way", "mlictl jobs --state running,queued,waiting"},
    {"the last that failed", "mlictl jobs --state failed --limit 1"},
    {0},
};

const struct command cmd_jobs = {
    .name = "jobs",
    .arguments = "",
    .summary = "list the jobs that a daemon knows",
    .details = "The latest first. Root sees those of all users.\n",
    .options = options_table,
    .examples = examples,
    .run = jobs,
};
