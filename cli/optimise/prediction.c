/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/optimise/prediction.h"

#include "cli/explain/timeline.h"
#include "cli/job/resolve.h"
#include "cli/term/cancel.h"
#include "target/cost/cost.h"

/* Adds a job to the timeline. Returns 0 or -1. */
static int add_job(struct timeline *timeline, const struct job_board_context *context,
                   const struct job_spec *job, struct produced *produced, struct fault *fault)
{
    struct resolved resolved;
    int status = resolved_plan(&resolved, context->file, job, produced, fault);

    if (status == 0) {
        timeline_predict(timeline, context, &resolved);
        status = resolved_produce(&resolved, produced, fault);
    }
    resolved_finish(&resolved);
    return status;
}

/* Adds all jobs that write something. */
static int add_jobs(struct timeline *timeline, const struct job_board_context *context,
                    struct produced *produced, size_t *added, struct fault *fault)
{
    const struct job_file *file = context->file;

    *added = 0;
    for (size_t i = 0; i < file->list.count; i++) {
        const struct job_spec *job = &file->list.jobs[file->order[i]];

        if (job->expect.kind == EXPECT_ERROR)
            continue;
        if (cancel_requested())
            return cancel_fault(fault);
        if (add_job(timeline, context, job, produced, fault)) {
            fault_prefix(fault, job->pointer);
            return -1;
        }
        ++*added;
    }
    return 0;
}

int prediction_find(uint64_t *ns, const struct job_file *file, const struct target_profile *profile,
                    struct fault *fault)
{
    struct produced produced = {.without_golden = true};
    struct buffer_places places;
    struct timeline timeline;
    struct fault unplaced;
    size_t added;
    int status = 0;

    *ns = 0;
    timeline_init(&timeline, profile);
    if (buffer_places_init(&places, profile, file, &unplaced) == 0) {
        const struct job_board_context context = {profile, file, &places, &produced};

        status = add_jobs(&timeline, &context, &produced, &added, fault);
        timeline_end(&timeline);
        if (status == 0 && !timeline.failed && timeline.all.jobs == added)
            *ns = cost_ns(profile, timeline.all.end);
    }
    buffer_places_finish(&places);
    timeline_finish(&timeline);
    produced_finish(&produced);
    return status;
}
