/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The controller: its registers, and the reports of its threads. A thread is a channel of the
 * controller that executes a program.
 */
#ifndef MLI_PL330_DEVICE_H
#define MLI_PL330_DEVICE_H

#include "boards/drivers/pl330/pl330_engine.h"
#include "boards/drivers/pl330/pl330_program.h"

/** The platform of pl330_set_platform(). */
extern struct pl330_platform pl330_platform;

/** The report of a thread since its last start. */
enum pl330_report { PL330_NOTHING, PL330_ENDED, PL330_FAULTED };

/** The position of a thread in its program. */
struct pl330_position {
    uint32_t pc;      /* address of the instruction */
    uint32_t counter; /* loop counter 1 */
    bool waits;       /* for an event: all stores before are complete */
};

/** Returns the number of threads, each with an event; 0 without a controller. */
uint32_t pl330_device_probe(void);

/** Returns the properties that programs depend on. */
const struct pl330_bus *pl330_device_bus(void);

/** Returns an event that no program sends. */
uint32_t pl330_device_spare_event(uint32_t thread);

/** Sends an event. */
void pl330_device_send(uint32_t event);

/**
 * Records events and faults of threads, and clears them in the controller. Returns the threads that
 * have any, as bits.
 */
uint32_t pl330_device_observe(uint32_t threads);

/** Stops a thread in any state and enables its event. Returns false if it does not stop. */
bool pl330_thread_open(uint32_t thread);

/** Disables the event of a thread. */
void pl330_thread_close(uint32_t thread);

/** Starts a thread with a program. Returns false if the controller refuses, which is a fault. */
bool pl330_thread_start(uint32_t thread, uint32_t program);

/** Waits until a thread that has sent its event has executed the end of its program. */
void pl330_thread_finish(uint32_t thread);

/**
 * Stops a thread in any state; accesses to memory that have begun are completed. Records its event
 * or fault, and sets *at. Returns false if the thread does not stop.
 */
bool pl330_thread_kill(uint32_t thread, struct pl330_position *at);

/** Returns what pl330_device_observe() or pl330_thread_kill() has recorded. */
enum pl330_report pl330_thread_report(uint32_t thread);

/** Returns where a thread was when it faulted. */
struct pl330_position pl330_thread_fault(uint32_t thread, struct pl330_fault *fault);

#endif /* MLI_PL330_DEVICE_H */
