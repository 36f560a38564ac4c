/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Judges whether the answer to a well-behaved client is right, given the faults of the run and the
 * client's actions.
 */
#ifndef SIM_ANSWERS_H
#define SIM_ANSWERS_H

#include <stdbool.h>

#include "mli_client.h"

struct excuse {
    bool cancelled;   /* the client cancelled the job */
    bool limited;     /* the job has a time limit */
    bool shrunk;      /* the client made a file shorter */
    bool depends;     /* the job waits for another job, which may fail */
    bool has_buffers; /* the call may exceed a limit for buffers or prepared jobs */
};

/** Checks the answer to a request. `what` names the call in the report. */
void answer_check(const char *what, int code, const mli_client_error *error,
                  const struct excuse *excuse);

#endif /* SIM_ANSWERS_H */
