/* SPDX-License-Identifier: BSD-3-Clause */
/* A trial: all attempts at one case until its verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/connector.h"
#include "cli/batch/kept.h"
#include "cli/batch/workers.h"
#include "cli/term/cancel.h"

/* The results of the attempts of a trial. */
struct tally {
    uint32_t passed, attempts;
    uint64_t ns, bytes;                  /* time and moved bytes of the last attempt */
    uint64_t predicted_ns, transfers_ns; /* as in struct case_result, of the last attempt */
    struct fingerprint fingerprint;      /* fingerprint of the last attempt */
    bool failed;
    struct attempt failure; /* the first failed attempt */
};

/* Connects the link if necessary. Returns 0, or -1 with trial->end set. */
static int connect(struct trial *trial, const struct connector *connector, struct daemon_link *link)
{
    if (daemon_link_connected(link))
        return 0;
    daemon_link_finish(link);
    if (connector_open(connector, link, &trial->fault) == 0)
        return 0;
    trial->end = cancel_requested() ? ATTEMPT_INTERRUPTED : ATTEMPT_LOST;
    return -1;
}

/* Adds an attempt to the tally, which owns its members. Returns whether another one follows. */
static bool count(struct tally *tally, const struct trial_plan *plan, struct attempt *attempt)
{
    uint32_t failures = ++tally->attempts - tally->passed;

    tally->ns = attempt->result.ns;
    tally->bytes = attempt->result.bytes;
    tally->predicted_ns = attempt->result.predicted_ns;
    tally->transfers_ns = attempt->result.transfers_ns;
    fingerprint_finish(&tally->fingerprint);
    tally->fingerprint = attempt->result.fingerprint;
    attempt->result.fingerprint = (struct fingerprint){0}; /* The tally owns the fingerprint now. */
    if (attempt_passed(attempt)) {
        attempt_finish(attempt);
        return ++tally->passed < plan->repeat;
    }
    if (tally->failed) {
        attempt_finish(attempt);
    } else {
        tally->failed = true;
        tally->failure = *attempt;
    }
    return failures <= plan->retries;
}

static void attempt_all(struct trial *trial, struct tally *tally,
                        const struct batch_case *batch_case, const struct trial_plan *plan,
                        const struct connector *connector, struct daemon_link *link)
{
    struct attempt attempt;

    do {
        if (connect(trial, connector, link))
            return;
        if (plan->repeat_now)
            atomic_store_explicit(plan->repeat_now, tally->passed + 1, memory_order_relaxed);
        attempt_run(&attempt, batch_case, link, &plan->attempt);
        trial->end = attempt.end;
        if (attempt.end != ATTEMPT_ENDED) {
            trial->fault = attempt.lost;
            attempt_finish(&attempt);
            return;
        }
    } while (count(tally, plan, &attempt));
}

/* Adds the path of the kept result to the message. */
static void add_given(struct case_result *result, const char *given)
{
    char *message = NULL;

    if (!result->message || asprintf(&message, "%s" RESULT_GIVEN "%s", result->message, given) < 0)
        return;
    free(result->message);
    result->message = message;
}

static void keep(struct trial *trial, const struct batch_case *batch_case,
                 const struct trial_plan *plan, const struct attempt *failure)
{
    enum case_status status = trial->result.status;

    if (!plan->keeping.directory || !failure->evidence.job ||
        (status != CASE_FAILED && status != CASE_ERROR))
        return;
    struct kept kept;
    trial->complains =
        kept_save(&plan->keeping, batch_case->name, &failure->evidence, &kept, &trial->fault) != 0;
    trial->result.kept = kept.job;
    if (kept.job)
        trial->result.rerun_command = connector_rerun_command(plan->options, kept.job);
    if (kept.given && trial->result.reason == CASE_WHY_MISMATCH)
        add_given(&trial->result, kept.given);
    free(kept.given);
    /* Give no result: the continued run must report what an uninterrupted run would. */
    if (trial->complains && cancel_requested())
        trial->end = ATTEMPT_INTERRUPTED;
}

static void conclude(struct trial *trial, struct tally *tally, const struct batch_case *batch_case,
                     const struct trial_plan *plan)
{
    struct case_result *result = &trial->result;

    result->name = strdup(batch_case->name);
    result->file = strdup(batch_case->file);
    if (!result->name || !result->file) {
        trial->end = ATTEMPT_LOST;
        fault_no_memory(&trial->fault);
        return;
    }
    result->status = CASE_PASSED;
    result->attempts = tally->attempts;
    result->ns = tally->ns;
    result->bytes = tally->bytes;
    result->predicted_ns = tally->predicted_ns;
    result->transfers_ns = tally->transfers_ns;
    result->fingerprint = tally->fingerprint;
    result->fingerprint.setup = plan->setup;
    tally->fingerprint = (struct fingerprint){0};
    if (batch_case->rerun_reason)
        result->rerun_reason = strdup(batch_case->rerun_reason);
    if (batch_case->verdict) {
        result->status = CASE_ERROR;
        result->reason = batch_case->reason;
        result->message = strdup(batch_case->verdict);
    }
    if (!tally->failed)
        return;
    struct case_result *failure = &tally->failure.result;
    result->status = tally->passed == plan->repeat ? CASE_FLAKY : failure->status;
    result->reason = failure->reason;
    result->message = failure->message;
    result->pointer = failure->pointer;
    result->difference = failure->difference;
    *failure = (struct case_result){0}; /* The tally owns the strings of the result now. */
    keep(trial, batch_case, plan, &tally->failure);
}

void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct daemon_link *link)
{
    struct tally tally = {0};

    *trial = (struct trial){.end = ATTEMPT_ENDED};
    if (!batch_case->verdict)
        attempt_all(trial, &tally, batch_case, plan, connector, link);
    if (trial->end == ATTEMPT_ENDED)
        conclude(trial, &tally, batch_case, plan);
    if (tally.failed)
        attempt_finish(&tally.failure);
    fingerprint_finish(&tally.fingerprint);
}
