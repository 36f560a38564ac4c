/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/batch/trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/batch/again.h"
#include "cli/batch/keep.h"
#include "cli/term/cancel.h"

/* What the attempts have come to. */
struct tally {
    uint32_t passed, attempts;
    uint64_t ns, bytes, fingerprint; /* of the last one */
    struct basis basis;              /* of the last one */
    bool failed;
    struct attempt failure; /* the first */
};

/* Returns 0, or -1 with the trial ended. */
static int connect(struct trial *trial, const struct connector *connector, struct client *client)
{
    if (client_connected(client))
        return 0;
    client_finish(client);
    if (connector_open(connector, client, &trial->fault) == 0)
        return 0;
    trial->end = cancel_requested() ? ATTEMPT_INTERRUPTED : ATTEMPT_LOST;
    return -1;
}

/* Takes the attempt; whether another one is to follow. */
static bool count(struct tally *tally, const struct trial_plan *plan, struct attempt *attempt)
{
    uint32_t failures = ++tally->attempts - tally->passed;
    tally->ns = attempt->result.ns;
    tally->bytes = attempt->result.bytes;
    tally->fingerprint = attempt->result.fingerprint;
    basis_finish(&tally->basis);
    tally->basis = attempt->result.basis;
    attempt->result.basis = (struct basis){0}; /* has moved */
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
                        const struct connector *connector, struct client *client)
{
    struct attempt attempt;
    do {
        if (connect(trial, connector, client))
            return;
        if (plan->repeat_now)
            atomic_store_explicit(plan->repeat_now, tally->passed + 1, memory_order_relaxed);
        attempt_run(&attempt, batch_case, client, &plan->attempt);
        trial->end = attempt.end;
        if (attempt.end != ATTEMPT_ENDED) {
            trial->fault = attempt.lost;
            attempt_finish(&attempt);
            return;
        }
    } while (count(tally, plan, &attempt));
}

static void tell_given(struct case_result *result, const char *given)
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
        keep_case(&plan->keeping, batch_case->name, &failure->evidence, &kept, &trial->fault) != 0;
    trial->result.kept = kept.job;
    if (kept.job)
        trial->result.again = again_command(plan->options, kept.job);
    if (kept.given && trial->result.reason == CASE_WHY_MISMATCH)
        tell_given(&trial->result, kept.given);
    free(kept.given);
    /* The run that goes on is to tell the same as one that was never interrupted. */
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
        fault_set(&trial->fault, FAULT_INTERNAL, NULL, "out of memory");
        return;
    }
    result->status = CASE_PASSED;
    result->attempts = tally->attempts;
    result->ns = tally->ns;
    result->bytes = tally->bytes;
    result->fingerprint = tally->fingerprint;
    result->basis = tally->basis;
    result->basis.setup = plan->setup;
    tally->basis = (struct basis){0};
    if (batch_case->rerun)
        result->rerun = strdup(batch_case->rerun);
    if (!tally->failed)
        return;
    struct case_result *failure = &tally->failure.result;
    result->status = tally->passed == plan->repeat ? CASE_FLAKY : failure->status;
    result->reason = failure->reason;
    result->message = failure->message;
    result->pointer = failure->pointer;
    result->difference = failure->difference;
    *failure = (struct case_result){0}; /* its texts have moved */
    keep(trial, batch_case, plan, &tally->failure);
}

void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct client *client)
{
    struct tally tally = {0};
    *trial = (struct trial){.end = ATTEMPT_ENDED};
    attempt_all(trial, &tally, batch_case, plan, connector, client);
    if (trial->end == ATTEMPT_ENDED)
        conclude(trial, &tally, batch_case, plan);
    if (tally.failed)
        attempt_finish(&tally.failure);
    basis_finish(&tally.basis);
}
