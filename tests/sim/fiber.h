/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Fibers: threads of which only one runs at a time, and which switch only where the simulation
 * decides, so that one seed gives one schedule. A fiber belongs to a simulated process. Each fiber
 * has its own copy of the program's thread-local variables and of errno.
 */
#ifndef SIM_FIBER_H
#define SIM_FIBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fiber;
struct process;

#define FIBER_FOREVER UINT64_MAX

/**
 * Makes a fiber that executes `run`; the scheduler runs it later. Ends the program if memory is
 * exhausted.
 */
struct fiber *fiber_start(struct process *process, void (*run)(void *argument), void *argument);

/** Returns the running fiber; null if the scheduler itself runs. */
struct fiber *fiber_current(void);
struct process *fiber_process(const struct fiber *fiber);
/** Returns the fiber's number. Fibers are numbered 1, 2, ... in the order in which they start. */
unsigned fiber_number(const struct fiber *fiber);
/** Returns the fiber with this number; null if it has ended. */
struct fiber *fiber_find(unsigned number);

/** Lets other fibers run. */
void fiber_yield(void);
/**
 * Waits until `ready` returns true (the scheduler calls it before each step) or until the simulated
 * time `deadline`, in ns. Returns false after the deadline.
 */
bool fiber_wait(bool (*ready)(void *context), void *context, uint64_t deadline);
void fiber_sleep(uint64_t ns);

/** Ends all fibers of a process, except the running one, without running them again. */
void fiber_end_all(const struct process *process);

/**
 * Runs one fiber that can run, chosen at random, until it waits or yields. If none can run, sets
 * the clock to the next deadline. Returns false if no fiber will ever run again.
 */
bool fiber_step(void);

/** Returns the number of fibers of a process. */
unsigned fiber_count(const struct process *process);

#endif /* SIM_FIBER_H */
