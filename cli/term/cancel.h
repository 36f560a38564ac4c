/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ^C and other signals that end the program. The handler sets a flag: code that waits also polls
 * cancel_fd(), long loops check cancel_requested(), and the program cleans up and returns as usual.
 * A second signal, 200 ms or more later, kills the program at once. All functions may be called
 * from any thread. Create threads between cancel_hold() and cancel_admit(): they must block
 * signals.
 */
#pragma once

#include <signal.h>
#include <stdbool.h>

#include "proto/json/fault.h"

/** Installs handlers for SIGINT, SIGTERM and SIGHUP, once per process. Returns 0 or -errno. */
int cancel_init(void);

/** Returns whether a signal has arrived. */
bool cancel_requested(void);

/** Returns a descriptor that is readable from the first signal on, or -1 before cancel_init(). */
int cancel_fd(void);

/** Sets the fault to FAULT_CANCELLED. Returns -1. */
int cancel_fault(struct fault *fault);

/**
 * Blocks all signals in this thread, for code that must not be interrupted. Faults of the thread
 * itself, such as SIGBUS, still reach their handlers.
 */
void cancel_hold(sigset_t *old);
/** Restores the signal mask that cancel_hold() saved in *old. */
void cancel_admit(const sigset_t *old);
