/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/worker.h"

#include <string.h>

int worker_init(struct worker *worker, struct round *round, uint32_t number)
{
    *worker = (struct worker){.round = round, .number = number};
    flight_init(&worker->flight);
    return images_init(&worker->images, round->plan->limits.max_bytes);
}

void worker_finish(struct worker *worker)
{
    images_finish(&worker->images);
    flight_finish(&worker->flight);
}

static void run_case(struct worker *worker, uint64_t index)
{
    struct round *round = worker->round;
    struct failure *failure = &worker->failure;
    struct move_case *c = &failure->c;
    struct transfer transfer = {.c = c,
                                .flight = &worker->flight,
                                .mailbox = mailbox_of(worker->number),
                                .stop = &round->stop,
                                .channels = round->channels,
                                .timeout_ns = round->plan->timeout_ns,
                                .failure = failure};
    failure->kind = FAILURE_none;
    failure->has_case = true;
    case_draw(c, round->plan->seed, index, &round->plan->limits);
    images_fill(&worker->images, c);
    const int result = transfer_run(&transfer, &worker->images);
    if (transfer.interrupted)
        return;
    if (result == 0 && mismatch_find(&failure->mismatch, &worker->images, c)) {
        char text[MISMATCH_TEXT_MAX];
        failure_set(failure, FAILURE_mismatch, "%s",
                    mismatch_text(&failure->mismatch, &worker->images, c, text));
    }
    round_note(round, &transfer);
}

void *worker_main(void *argument)
{
    struct worker *worker = argument;
    uint64_t index;
    while (round_take(worker->round, &index))
        run_case(worker, index);
    round_leave(worker->round);
    return NULL;
}
