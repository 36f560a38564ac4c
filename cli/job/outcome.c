/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/outcome.h"

void outcome_finish(struct outcome *outcome)
{
    job_result_finish(&outcome->result);
    *outcome = (struct outcome){0};
}

void outcome_describe(struct outcome *outcome, const struct resolved *resolved)
{
    outcome->src = resolved->src.header;
    outcome->dst = resolved->whole.header;
    outcome->type = resolved->wire.src.desc.type;
    outcome->described = true;
}
