/* SPDX-License-Identifier: BSD-3-Clause */
/* A case until its verdict: as many attempts as that takes. */
#ifndef CLI_BATCH_TRIAL_H
#define CLI_BATCH_TRIAL_H

#include <stdatomic.h>

#include "cli/batch/attempt.h"
#include "cli/batch/connector.h"
#include "cli/batch/kept.h"

struct trial_plan {
    struct attempt_plan attempt;
    uint32_t repeat;               /* times that it has to pass */
    atomic_uint *repeat_now;       /* set to the number of each attempt that begins; null: not */
    uint32_t retries;              /* attempts that may fail, if the next one passes */
    struct keeping keeping;        /* where failed cases are kept */
    const struct options *options; /* of the command line, which tell how to do that again */
    struct setup setup;            /* what all results depend on, where they are noted */
};

/* What came of it. */
struct trial {
    enum attempt_end end;
    struct case_result result; /* where it ended: of the whole case, to be finished */
    struct fault fault;        /* why the connection is lost, or why nothing could be kept */
    bool complains;            /* the latter */
};

/** `client` is opened where it is not connected, and stays open. */
void trial_run(struct trial *trial, const struct batch_case *batch_case,
               const struct trial_plan *plan, const struct connector *connector,
               struct client *client);

#endif /* CLI_BATCH_TRIAL_H */
