/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the PL080 for tests on a host: channels that take time, with a FIFO, and bus errors.
 * Written from the manual (ARM DDI 0196), not from the driver. Memory is that of the process; 32
 * bits of address reach it through windows.
 *
 * Time passes for all channels when PL080_ENABLED_CHANNELS is read, and in pl080_model_run(). All
 * functions are for one thread.
 */
#ifndef TEST_PL080_MODEL_H
#define TEST_PL080_MODEL_H

#include "libmli/port/pl080/pl080_engine.h"

struct pl080_model {
    uint32_t pace;          /* transfers of each channel when time passes */
    uint32_t items;         /* items executed */
    uint32_t handled;       /* interrupts */
    const uint8_t *fail_at; /* a transfer to this byte is an error; null: none */
};

extern struct pl080_model pl080_model;

/** Resets the controller and *pl080_model: a pace of 16; then sets the platforms. */
void pl080_model_reset(void);

/** Lets time pass, and handles an interrupt. */
void pl080_model_run(uint32_t steps);

/** Returns a sentence about the first illegal access or item; null: none. */
const char *pl080_model_complaint(void);

#endif /* TEST_PL080_MODEL_H */
