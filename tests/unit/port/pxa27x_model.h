/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the DMA controller of the PXA27x for tests on a host: channels that take time, with a
 * buffer of one burst, and bus errors. Written from the registers, not from the driver. Memory is
 * that of the process; 32 bits of address reach it through windows.
 *
 * Time passes for all channels when a DCSR is read, and in pxa27x_model_run(). All functions are
 * for one thread.
 */
#ifndef TEST_PXA27X_MODEL_H
#define TEST_PXA27X_MODEL_H

#include "libmli/port/pxa27x/pxa27x_engine.h"

enum { PXA27X_MODEL_FIRST = 3 }; /* channel 0 of the engine is this channel of the controller */

struct pxa27x_model {
    uint32_t pace;          /* steps of each channel when time passes: a fetch, or 8 bytes */
    uint32_t items;         /* descriptors executed */
    uint32_t handled;       /* interrupts */
    const uint8_t *fail_at; /* a write to this byte is an error; null: none */
    bool stuck;             /* channels stand still */
};

extern struct pxa27x_model pxa27x_model;

/** Resets the controller and *pxa27x_model: a pace of 16; then sets the platforms. */
void pxa27x_model_reset(void);

/** Lets time pass, and handles an interrupt. */
void pxa27x_model_run(uint32_t steps);

/** Returns a sentence about the first illegal access or descriptor; null: none. */
const char *pxa27x_model_complaint(void);

#endif /* TEST_PXA27X_MODEL_H */
