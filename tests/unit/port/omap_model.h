/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of the system DMA of the OMAP2420 for tests on a host: logical channels that take time,
 * read an element before they write it, follow links one step later, and report bus errors. Written
 * from the registers, not from the driver. Memory is that of the process; 32 bits of address reach
 * it through windows.
 *
 * Time passes for all channels when a CCR is read, and in omap_model_run(). All functions are for
 * one thread.
 */
#ifndef TEST_OMAP_MODEL_H
#define TEST_OMAP_MODEL_H

#include "libmli/port/omap/omap_engine.h"

enum { OMAP_MODEL_FIRST = 3 }; /* the engine may use the logical channels from this one on */

struct omap_model {
    uint32_t pace;          /* steps of each channel when time passes: an element is two */
    uint32_t blocks;        /* executed to their end */
    uint32_t links;         /* followed */
    uint32_t handled;       /* interrupts */
    const uint8_t *fail_at; /* a write to this byte is an error; null: none */
    bool stuck;             /* no channel makes progress */
};

extern struct omap_model omap_model;

/** Resets the controller and *omap_model: a pace of 16; then sets the platforms. */
void omap_model_reset(void);

/** Sets ENABLE of a logical channel, as if another program used it. */
void omap_model_start_elsewhere(uint32_t number);

/** Lets time pass, and handles an interrupt. */
void omap_model_run(uint32_t steps);

/** Returns a sentence about the first illegal access or block; null: none. */
const char *omap_model_complaint(void);

#endif /* TEST_OMAP_MODEL_H */
