/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_print.h"

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

void job_print_line(struct textw *w, const struct job_info *info)
{
    static const char *const priorities[] = {"low", "normal", "high"};
    char bytes[PRINT_TEXT_MAX], queued[PRINT_TEXT_MAX], moving[PRINT_TEXT_MAX];
    char where[PRINT_TEXT_MAX];
    textw_printf(w, "%8" PRIu64 "  %-9s  %-6s%8s  %11s  %8s  %8s%s%s%s%s", info->job,
                 job_state_name(info->state), priorities[info->priority + 1], channels(where, info),
                 print_bytes(bytes, info->bytes), print_time(queued, info->ns_queued),
                 print_time(moving, info->ns_moving), *info->name || info->error ? "  " : "",
                 info->name, *info->name && info->error ? ": " : "",
                 info->error ? info->error->text : "");
}

void job_print_json(const struct job_info *info)
{
    struct jsonw w;
    jsonw_init(&w);
    job_info_write(&w, NULL, info);
    print_json(&w);
}
