/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/job_board.h"

#include "cli/explain/explained.h"
#include "cli/job/staging.h"

/* Places a job that is not staged. */
static int place(struct explained_board *board, const struct job_board_context *context,
                 const struct resolved *resolved, struct fault *fault)
{
    const uint32_t channels = resolved->job->common.channels;
    struct explained explained;

    if (explained_init(&explained, context->file, resolved, channels, fault))
        return -1;
    const struct board_move move =
        board_move_of(&explained, context->file, context->buffers, channels);
    return explained_board_init(board, context->profile, resolved, &move, 0, fault);
}

static int add_step(struct explained_board *sum, const struct job_board_context *context,
                    const struct staging *stage, int step, struct fault *fault)
{
    struct explained_board board;
    struct resolved resolved;
    int status =
        resolved_plan(&resolved, &stage->file, &stage->jobs[step], context->produced, fault);

    if (status == 0)
        status = place(&board, context, &resolved, fault);
    resolved_finish(&resolved);
    if (status)
        return -1;
    if (step == STAGING_LOAD)
        *sum = board;
    else
        explained_board_append(sum, &board);
    if (step == STAGING_PERMUTE)
        sum->remarks = board.remarks;
    return 0;
}

static int add_steps(struct explained_board *sum, const struct job_board_context *context,
                     const struct resolved *resolved, struct fault *fault)
{
    static const struct produced nothing = {0};
    struct buffer_places places = {0};
    struct staging stage;
    const struct job_board_context steps = {.profile = context->profile,
                                            .file = &stage.file,
                                            .buffers = &places,
                                            .produced =
                                                context->produced ? context->produced : &nothing};
    int status = staging_init(&stage, context->file, resolved, fault);

    if (status == 0)
        status = buffer_places_init(&places, context->profile, &stage.file, fault);
    for (int step = 0; step < STAGING_STEPS && status == 0; step++)
        status = add_step(sum, &steps, &stage, step, fault);
    buffer_places_finish(&places);
    staging_finish(&stage);
    return status;
}

int job_board_init(struct explained_board *board, const struct job_board_context *context,
                   const struct resolved *resolved, struct fault *fault)
{
    return is_staged(resolved->job) ? add_steps(board, context, resolved, fault)
                                    : place(board, context, resolved, fault);
}
