/* SPDX-License-Identifier: BSD-3-Clause */
/* mlictl jobs: the list of the jobs that a daemon knows. */
#include <stdio.h>
#include <string.h>

#include "cli/cmd/command.h"
#include "cli/cmd/session.h"
#include "cli/options.h"

static const char *const state_words[] = {
#define STATE_WORD(name, word) word,
    JOB_STATE_TABLE(STATE_WORD)
#undef STATE_WORD
        NULL};
static const struct value states_value = {VALUE_WORDS, state_words};

static const struct option options_table[] = {
    {"state", "STATES",
     "List only jobs in these states: waiting, queued, running, done, failed, cancelled "
     "(default: all).",
     .takes = &states_value},
    {"name", "NAME", "List only jobs with this name (default: all)."},
    {"limit", "N", "List at most N jobs, the latest (default: 100)."},
    {"all", NULL, "List all jobs that the daemon remembers."},
    DAEMON_LINK_OPTIONS,
    OPTIONS_COMMON,
};

enum { STATE_WORD_MAX = 32 };

/* Reads the value of --state, for example "running,queued". */
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

/* A list of jobs, which arrives in pages, and the form of its output. */
struct list {
    const struct print_style *style;
    struct job_list_query query;
    bool pages;     /* true: print all pages of the list; false: print one page */
    bool has_lines; /* true: a job has been printed */
};

static void print_job(void *context, const struct job_info *info)
{
    struct list *list = context;

    if (list->style->json)
        job_print_json(info);
    job_print_table(list->style, info, !list->has_lines);
    list->has_lines = true;
}

static enum exit_code print_list(struct session *session, void *context)
{
    struct list *list = context;
    struct fault fault;
    bool more = true;

    list->style = &session->style;
    do {
        if (session_list(session, &list->query, print_job, list, &more, &fault))
            return print_failure(list->style, NULL, &fault);
    } while (list->pages && more);
    if (!list->has_lines)
        print_line(list->style, "no jobs");
    else if (more)
        print_line(list->style, "the daemon has older jobs%s",
                   options_get(session->options, "all") ? "" : ": --all lists them");
    return EXIT_CODE_DONE;
}

static enum exit_code jobs(const struct options *options)
{
    struct list list = {.style = NULL};
    char name[PROTO_NAME_MAX + 1] = "";
    uint64_t limit = JOB_LIST_LIMIT;

    if (take_states(options, &list.query.states) ||
        options_uint(options, "limit", 1, JOB_LIST_LIMIT_MAX, &limit))
        return EXIT_CODE_INVALID;
    if (options_get(options, "name")) {
        snprintf(name, sizeof(name), "%s", options_get(options, "name"));
        list.query.name = name;
    }
    list.pages = options_get(options, "all") && !options_get(options, "limit");
    list.query.limit = (uint32_t)(list.pages ? JOB_LIST_LIMIT_MAX : limit);
    return session_run(options, print_list, &list);
}

const struct command cmd_jobs = {
    .name = "jobs",
    .arguments = "",
    .summary = "list the jobs that a daemon knows",
    .details = "The latest job comes first. Root sees the jobs of all users.\n",
    .options = options_table,
    .examples = {{"the jobs under way", "mlictl jobs --state running,queued,waiting"},
                 {"the last failed job", "mlictl jobs --state failed --limit 1"}},
    .run = jobs,
};
