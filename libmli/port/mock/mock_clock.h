/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of mock channels with interrupts: a thread, which calls mock_device_run() while a
 * channel is busy. The interrupt handler runs on this thread, as on another processor. Without
 * threads, the caller's own timer must call mock_device_run().
 */
#ifndef MOCK_CLOCK_H
#define MOCK_CLOCK_H

#include <stdbool.h>

/* Starts the thread, or counts another user of it. Returns false if there are no resources. */
bool mock_clock_start(void);

/* Ends the thread after its last user. */
void mock_clock_stop(void);

/** Lets the thread of the clock run, for a program that reads a register until it changes. */
void mock_clock_yield(void);

#endif /* MOCK_CLOCK_H */
