/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the DMA controller of the BCM2835 for tests on a host: full and lite channels whose
 * steps take time, writes with late responses, bus errors and interrupts. Written from the manual
 * (BCM2835 ARM Peripherals, chapter 4), not from the driver. Memory is that of the process; 32-bit
 * bus addresses reach it through bus_windows.h.
 *
 * Time passes for all channels when a status register is read, and in bcm2835_model_run(). An
 * interrupt is a call of bcm2835_interrupt() in bcm2835_model_run(). All functions are for one
 * thread.
 */
#ifndef TEST_BCM2835_MODEL_H
#define TEST_BCM2835_MODEL_H

#include "boards/drivers/bcm2835.h"

enum {
    BCM2835_MODEL_FULL = 3,        /* channels 0 to 2 of the engine */
    BCM2835_MODEL_CHANNELS = 5,    /* channels 3 and 4 are lite channels */
    BCM2835_MODEL_NUMBERS = 0x307, /* controller's numbers of these channels, a bit mask as in
                                      struct bcm2835_platform */
};

struct bcm2835_model {
    uint32_t pace;   /* steps that each channel makes when a status register is read */
    bool interrupts; /* the processor handles interrupts */
    bool far;        /* memory is at addresses of more than 32 bits */
    bool stalled;    /* channels make no steps, but can be paused */
    bool hung;       /* channels make no steps, cannot be paused, and never complete their writes */
    uint32_t step_bytes; /* bytes that a step moves */
    uint32_t handled;    /* number of interrupts */
    uint32_t chains;     /* number of chains started */
    uint32_t blocks;     /* number of control blocks loaded */
    uint32_t rectangles; /* number of control blocks loaded in 2-D mode */
};

/** The settings and counters of the model. Tests change it while the controller is idle. */
extern struct bcm2835_model bcm2835_model;

/** Resets the controller, sets bcm2835_model.pace to 16 and the other settings and counters to
 * defaults, and sets the platforms of the driver and of libmli. */
void bcm2835_model_reset(void);

/** Makes reads of these bytes fail. */
void bcm2835_model_poison(const void *memory, size_t bytes);

/** Sets ACTIVE of a channel, as if another program used it. */
void bcm2835_model_start_elsewhere(uint32_t number);

/** Executes up to `steps` steps of each channel, then handles interrupts. */
void bcm2835_model_run(uint32_t steps);

/** Returns a sentence about the first illegal access or control block; null: none. */
const char *bcm2835_model_complaint(void);

#endif /* TEST_BCM2835_MODEL_H */
