/* SPDX-License-Identifier: BSD-3-Clause */
/* A case carried out through the public API, on whichever engine there is. */
#ifndef CLI_SELFTEST_TRANSFER_H
#define CLI_SELFTEST_TRANSFER_H

#include <stdatomic.h>

#include "cli/selftest/failure.h"
#include "cli/selftest/flight.h"
#include "cli/selftest/mailbox.h"

/* Who carries it out, and what it took. */
struct transfer {
    const struct move_case *c;
    struct flight *flight;
    struct mailbox *mailbox;
    const atomic_bool *stop; /* do not go on waiting for channels */
    uint32_t channels;       /* of the pool */
    uint64_t timeout_ns;
    struct failure *failure;

    mli_tensor src, dst; /* with memory */
    mli_mov_handle_t handle;
    uint64_t moving_ns;   /* from start to done */
    uint64_t starts;      /* on channels */
    uint64_t busy_claims; /* that found no channels free */
    bool interrupted;     /* given up because the user wanted an end: no result */
};

/** Moves from images->src to images->dst. Returns 0, or -1 with the failure, or interrupted. */
int transfer_run(struct transfer *t, const struct images *images);

#endif /* CLI_SELFTEST_TRANSFER_H */
