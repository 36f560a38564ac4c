/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/work.h"

#include <stdlib.h>

#include "daemon/base/seam.h"

struct work *work_create(void)
{
    struct work *work = seam.calloc(1, sizeof *work);

    if (!work)
        return NULL;
    work->holders = 1;
    job_init(&work->job);
    return work;
}

struct work *work_hold(struct work *work)
{
    work->holders++;
    return work;
}

void work_drop(struct work *work)
{
    if (!work || --work->holders > 0)
        return;
    operands_finish(&work->operands);
    job_finish(&work->job);
    free(work);
}
