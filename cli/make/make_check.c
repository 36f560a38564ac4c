/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/make/make_check.h"

#include <errno.h>
#include <inttypes.h>
#include <unistd.h>

#include "cli/job/judge.h"
#include "cli/job/resolve.h"
#include "proto/file/slice.h"

static bool is_missing(const char *path)
{
    return path && access(path, F_OK) != 0 && errno == ENOENT;
}

/* No tensor says how many dimensions there are, but each list of the job does. */
static int check_lists(const struct job_spec *job, struct fault *fault)
{
    const struct {
        const char *pointer, *name;
        uint32_t count;
    } lists[] = {
        {"/src/shape", "src.shape", job->src.desc.rank},
        {"/cfg/padding_pre", "cfg.padding_pre", job->common.lengths.padding_pre},
        {"/cfg/perm_dim", "cfg.perm_dim", job->common.lengths.perm_dim},
        {"/cfg/dst_offset", "cfg.dst_offset", job->common.lengths.dst_offset},
    };
    size_t first = 0, count = sizeof(lists) / sizeof(lists[0]);
    while (first < count && lists[first].count == 0)
        first++;
    if (first == count)
        return 0;
    for (size_t i = first + 1; i < count; i++) {
        if (lists[i].count > 0 && lists[i].count != lists[first].count)
            return fault_set(fault, FAULT_INVALID_PARAMS, lists[i].pointer,
                             "%s: %" PRIu32 " entries given, %s has %" PRIu32, lists[i].name,
                             lists[i].count, lists[first].name, lists[first].count);
    }
    struct slice slice;
    struct fault why;
    if (job->slice && slice_parse(job->slice, &slice, &why) == 0 &&
        slice.count > lists[first].count)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/slice",
                         "slice: %" PRIu32 " entries given, %s has %" PRIu32, slice.count,
                         lists[first].name, lists[first].count);
    return 0;
}

static int check_golden(const struct resolved *r, struct fault *fault)
{
    char text[COMPARE_TEXT_MAX];
    struct outcome outcome = {.verdict = VERDICT_NONE};
    judge_plan(r, &outcome);
    if (outcome.verdict == VERDICT_NONE)
        return 0;
    difference_text(&outcome.difference, "the result", r->job->expect.golden.file, text);
    return fault_set(fault, FAULT_INVALID_PARAMS, "/expect", "expect: %s", text);
}

int make_check(const struct job_file *file, struct fault *fault)
{
    static const struct produced nothing = {0};
    struct job_spec job = file->list.jobs[0]; /* borrows */
    struct resolved r;
    if (is_missing(job.src.file))
        return check_lists(&job, fault);
    if (is_missing(job.expect.golden.file))
        job.expect = (struct expectation){0};
    if (job.dst.update && is_missing(job.dst.file))
        job.dst.update = false;
    int status = resolved_plan(&r, file, &job, &nothing, fault);
    if (status == 0)
        status = check_golden(&r, fault);
    resolved_finish(&r);
    return status;
}
