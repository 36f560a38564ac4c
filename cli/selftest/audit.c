/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/audit.h"

#include <inttypes.h>

#include "cli/term/cancel.h"
#include "mli_plan.h"

static int complain(struct failure *failure, uint32_t channel, const mli_mov_channel_stats *s,
                    const char *what)
{
    return failure_set(failure, FAILURE_counters,
                       "channel %" PRIu32 ": %" PRIu64 " submitted, %" PRIu64 " completed, %" PRIu64
                       " failed, %" PRIu64 " cancelled: %s",
                       channel, s->submitted, s->completed, s->failed, s->cancelled, what);
}

static uint64_t ended(const mli_mov_channel_stats *s)
{
    return s->completed + s->failed + s->cancelled;
}

void audit_running(struct round *round)
{
    struct failure failure = {.kind = FAILURE_none};
    mli_mov_channel_stats now;
    for (uint32_t i = 0; i < round->channels; i++) {
        if (mli_mov_get_channel_stats((int)i, &now) != MLI_STATUS_OK)
            failure_set(&failure, FAILURE_counters, "channel %" PRIu32 ": no statistics", i);
        else if (ended(&now) > now.submitted)
            complain(&failure, i, &now, "more ended than began");
    }
    if (failure.kind != FAILURE_none)
        round_fail(round, &failure);
}

/* What all channels have counted together. */
static void check_sums(struct round *round, struct failure *failure)
{
    uint64_t completed = 0, bytes = 0, rows = 0;
    for (uint32_t i = 0; i < round->channels; i++) {
        completed += round->stats[i].completed;
        bytes += round->stats[i].bytes;
        rows += round->stats[i].rows;
    }
    /* Synchronous moves may have used channels too; who moved them is the library's choice. */
    if (bytes < round->channel_bytes || bytes > round->channel_bytes + round->sync_bytes)
        failure_set(failure, FAILURE_counters,
                    "the channels have counted %" PRIu64 " B, they were given %" PRIu64
                    " B, and synchronous moves of %" PRIu64 " B",
                    bytes, round->channel_bytes, round->sync_bytes);
    if (completed < round->channel_starts || rows < completed)
        failure_set(failure, FAILURE_counters,
                    "the channels have counted %" PRIu64 " completed in %" PRIu64 " rows; %" PRIu64
                    " transfers were started",
                    completed, rows, round->channel_starts);
}

void audit_read(struct round *round)
{
    for (uint32_t i = 0; i < round->channels; i++)
        (void)mli_mov_get_channel_stats((int)i, &round->stats[i]);
}

void audit_final(struct round *round)
{
    struct failure failure = {.kind = FAILURE_none};
    audit_read(round);
    for (uint32_t i = 0; i < round->channels; i++) {
        const mli_mov_channel_stats *s = &round->stats[i];
        if (s->submitted != ended(s))
            complain(&failure, i, s, "they do not add up");
        else if (s->queue_high_water > 1 + MLI_PLAN_SLABS_MAX ||
                 (s->submitted > 0 && s->queue_high_water == 0))
            complain(&failure, i, s, "the queue's high water mark is no number of descriptors");
    }
    /* Where something has failed or was interrupted, nobody knows how much was moved. */
    if (round->failures == 0 && !cancel_requested())
        check_sums(round, &failure);
    if (failure.kind != FAILURE_none)
        round_fail(round, &failure);
}
