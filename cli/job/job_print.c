/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/job_print.h"

#include <inttypes.h>
#include <stdio.h>

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

/* A line of the table in three parts. */
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
