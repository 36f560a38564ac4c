/* SPDX-License-Identifier: BSD-3-Clause */
/* What a task does, without where: shared by all starts of a prepared job. Read only once made. */
#ifndef DAEMON_WORK_H
#define DAEMON_WORK_H

#include "daemon/job/operands.h"
#include "proto/wire/job.h"

struct work {
    uint32_t holders;
    struct job job;
    struct operands operands;
    bool prepared; /* its result is known to whoever starts it */
};

/** Held once, with an empty job and empty operands. Null where memory is short. */
struct work *work_create(void);
/** Returns the work. */
struct work *work_hold(struct work *work);
/** Null is fine. */
void work_drop(struct work *work);

#endif /* DAEMON_WORK_H */
