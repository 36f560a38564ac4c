/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/summary.h"

#include "cli/batch/count.h"

size_t batch_summary_ended(const struct batch_summary *summary)
{
    size_t ended = 0;
    for (int status = 0; status < CASE_STATUS_COUNT; status++)
        ended += summary->count[status];
    return ended;
}

enum exit_code batch_summary_exit(const struct batch_summary *summary, bool flaky_is_good)
{
    bool good = summary->not_run == 0;
    for (int status = 0; status < CASE_STATUS_COUNT; status++)
        good = good && (summary->count[status] == 0 ||
                        case_status_is_good((enum case_status)status, flaky_is_good));
    return good ? EXIT_CODE_DONE : EXIT_CODE_FAILED;
}

void batch_summary_write(struct jsonw *w, const struct batch_summary *summary)
{
    jsonw_string(w, "event", "end");
    for (int status = 0; status < CASE_STATUS_COUNT; status++)
        jsonw_uint(w, case_status_word((enum case_status)status), summary->count[status]);
    jsonw_uint(w, "not_run", summary->not_run);
    jsonw_uint(w, "ns", summary->ns);
    jsonw_uint(w, "exit", summary->exit);
}

int batch_summary_read(const struct json *value, struct batch_summary *summary)
{
#define SUMMARY_KEY(name, word) word,
    static const char *const keys[] = {"event", CASE_STATUS_TABLE(SUMMARY_KEY) "not_run", "ns",
                                       "exit", NULL};
#undef SUMMARY_KEY
    uint64_t number = 0, exit = 0;
    *summary = (struct batch_summary){0};
    if (json_object(value, keys))
        return -1;
    for (int status = 0; status < CASE_STATUS_COUNT; status++) {
        if (count_read(value, case_status_word((enum case_status)status), UINT32_MAX, &number))
            return -1;
        summary->count[status] = (size_t)number;
    }
    if (count_read(value, "not_run", UINT32_MAX, &number) ||
        count_read(value, "ns", COUNT_MAX, &summary->ns) ||
        count_read(value, "exit", EXIT_CODE_STOPPED, &exit))
        return -1;
    summary->not_run = (size_t)number;
    summary->exit = (enum exit_code)exit;
    return 0;
}
