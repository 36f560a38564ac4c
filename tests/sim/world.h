/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The global state of one simulation: random numbers, the clock, a checksum of all events, and the
 * rates of faults. world_fail() reports a violated invariant.
 */
#ifndef SIM_WORLD_H
#define SIM_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#define US UINT64_C(1000)
#define MS (1000 * US)
#define S  (1000 * MS)

/* Probabilities of faults, in 10 000 calls. */
struct fault_rates {
    uint32_t short_count; /* recv() or send() moves only a part of the bytes */
    uint32_t again;       /* recv() or send() returns EAGAIN */
    uint32_t interrupted; /* a call returns EINTR */
    uint32_t memory;      /* an allocation, mmap() or memfd_create() fails */
    uint32_t descriptors; /* accept4(), F_DUPFD or a received message finds no free descriptor */
    uint32_t threads;     /* pthread_create() fails */
    uint32_t change;      /* another fiber runs before a system call */
    uint32_t device;      /* a transfer ends with DMA_ERROR */
    uint32_t stuck;       /* a transfer does not end by itself */
    uint32_t slow_close;  /* close() of a file on a disk takes seconds */
};

void world_begin(uint64_t seed);
/** The current rates, and the rates of the whole run. A failure is allowed only if its rate in
 * world_excuses is not 0. */
extern struct fault_rates world_rates, world_excuses;
/** True: the log of the service is printed. */
extern bool world_log;
/** Name of the kind of run, for messages. */
extern const char *world_name;

/** Returns a random number 0 .. count - 1. */
uint32_t world_below(uint32_t count);
uint32_t world_between(uint32_t lo, uint32_t hi);
/** Returns true with a probability of `rate` in 10 000. */
bool world_chance(uint32_t rate);
uint64_t world_random(void);

/** Returns the simulated time in ns; CLOCK_REALTIME is `world_jump` later. */
uint64_t world_now(void);
void world_set_now(uint64_t now);
void world_pass(uint64_t ns);
extern int64_t world_jump;

/** Adds an event to the checksum. */
void world_note(uint64_t event);
uint64_t world_checksum(void);

/** Reports a violated invariant and ends the program with exit code 1. */
_Noreturn void world_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/** Number of the current step, counted from 1. */
extern uint64_t world_step;

#endif /* SIM_WORLD_H */
