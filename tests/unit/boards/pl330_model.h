/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the Arm PL330 for tests on a host: its registers, channel threads that execute
 * programs, late bus errors, and interrupts. Written from documents about the controller (the
 * sources are in decode_pl330.c), not from the driver. Memory is that of the process; 32-bit bus
 * addresses reach it through pl330_model_bus_address().
 *
 * Time passes for all threads when a status register is read, and in pl330_model_run(). A store is
 * executed at once, but reaches memory up to LATE instructions later; only then does a bus error
 * occur. An interrupt is a call of pl330_interrupt() in unlock(), or at the end of
 * pl330_model_run(). All functions are for one thread.
 */
#ifndef TEST_PL330_MODEL_H
#define TEST_PL330_MODEL_H

#include "boards/drivers/pl330.h"

struct pl330_model {
    uint32_t pace;    /* instructions that each thread executes when a status register is read */
    bool instant;     /* threads run in unlock() until they stop or wait, as in QEMU */
    bool nonsecure;   /* the manager thread is non-secure */
    bool refuses;     /* DMAGO is refused */
    bool immune;      /* DMAKILL has no effect */
    bool far;         /* memory is at addresses of more than 32 bits */
    bool interrupts;  /* the processor handles interrupts */
    uint32_t errors;  /* number of bus errors after which poison has no effect; 0: poison always has
                         effect */
    uint32_t handled; /* number of interrupts */
    uint32_t programs; /* number of programs started */
    uint64_t loaded;   /* number of bytes that bursts have read */
};

/** The settings and counters of the model. Tests change it while the controller is idle. */
extern struct pl330_model pl330_model;

/** Resets the controller, sets pl330_model.pace to 16 and the other settings and counters to
 * defaults, and sets the platforms of the driver and of libmli. */
void pl330_model_reset(void);

/** Makes accesses to these bytes fail. */
void pl330_model_poison(const void *memory, size_t bytes);

/** Executes up to `instructions` instructions of each thread. */
void pl330_model_run(uint32_t instructions);

/** Returns a sentence about the first illegal access or instruction; null: none. */
const char *pl330_model_complaint(void);

#endif /* TEST_PL330_MODEL_H */
