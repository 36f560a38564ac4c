/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Names of the simulated functions (real.h), and functions that one file of the simulated kernel
 * calls in another.
 */
#ifndef SIM_WRAPPED_H
#define SIM_WRAPPED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The linker requires these names. */
#define WRAP(name) __wrap_##name /* NOLINT(bugprone-reserved-identifier) */

struct object;
struct process;

/** Simulates fcntl() with F_GET_SEALS or F_ADD_SEALS. */
int file_seals(struct object *object, int command, int seals);
/** Returns the number of bytes that have arrived at a socket. */
size_t stream_unread(struct object *object);
/** Simulate read() and write() of a socket or a pipe. */
ssize_t stream_read(struct object *object, void *bytes, size_t size);
ssize_t stream_write(struct object *object, const void *bytes, size_t size);
/** Prints the live blocks of the service. */
void allocations_describe(void);
/** Returns the address at which the program was loaded. */
const char *program_base(void);
/** Sleeps until the time has passed, or until pthread_kill() wakes the thread. */
void interruptible_sleep(uint64_t ns);
/** A turn of the service's loop ends when the loop waits for events, and begins when it has events.
 */
void turn_ended(struct process *process);
void turn_begins(struct process *process);

#endif /* SIM_WRAPPED_H */
