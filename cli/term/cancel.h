/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ^C. A handler only takes note; whoever waits polls cancel_fd() as well, whoever works long asks
 * cancel_requested() now and then, and the program unwinds the ordinary way: nothing is left
 * behind. A second signal, a moment later, ends the program at once. All of it may be asked by any
 * thread; threads that are started beside the first one hold these signals back.
 */
#ifndef CLI_CANCEL_H
#define CLI_CANCEL_H

#include <signal.h>
#include <stdbool.h>

#include "proto/json/fault.h"

/** Handles SIGINT, SIGTERM and SIGHUP from now on. Returns 0 or -errno. Once per process. */
int cancel_init(void);

bool cancel_requested(void);

/** Readable for ever once cancelled; -1 before cancel_init(). */
int cancel_fd(void);

/** Fills the fault: FAULT_CANCELLED. Returns -1. */
int cancel_fault(struct fault *fault);

/** Holds all signals back, for a stretch that must not be cut; *old goes to cancel_admit(). */
void cancel_hold(sigset_t *old);
void cancel_admit(const sigset_t *old);

#endif /* CLI_CANCEL_H */
