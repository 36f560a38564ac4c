/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine for the ZDMA of AMD Zynq UltraScale+ (GDMA and ADMA, eight channels each). It works
 * polled or with interrupts, needs no operating system, and knows no addresses: the board's code
 * describes the channels by zdma_set_platform() and calls zdma_interrupt().
 *
 *   zdma:list=N       Give a channel at most N elements of each side at a time, 1 to ZDMA_LIST_MAX
 *                     (default: ZDMA_LIST_MAX).
 *   zdma:run=N        Move at most N bytes by an element, 1 to 0x3fffffff (default: 1 MiB). A list
 *                     ends when it has this number of bytes. A cancel takes effect at the end of a
 *                     list, because a channel cannot be stopped inside one.
 *   zdma:least=N      Let the processor move a box whose elements have fewer than N bytes on
 *                     average (default: 32). 0: the channels move every byte.
 *   zdma:linear=1     Use elements of 16 bytes, one behind the other (default: 0, linked elements
 *                     of 32 bytes).
 *   zdma:interrupt=0  Poll the channels, although the board has interrupts (default: 1 if it has).
 */
#ifndef MLI_ZDMA_ENGINE_H
#define MLI_ZDMA_ENGINE_H

#include "mli_engine.h"

/* Memory of a channel: 160 bytes for each element of ZDMA_LIST_MAX, and about 1 KiB. */
#ifndef ZDMA_LIST_MAX
#define ZDMA_LIST_MAX 64 /* a power of two, at most 128 */
#endif
#ifndef ZDMA_CHANNELS_MAX
#define ZDMA_CHANNELS_MAX 16
#endif

/* The channels of a board, and how the engine accesses them. */
struct zdma_platform {
    uint32_t channels;                 /* number of channels in base[] */
    uintptr_t base[ZDMA_CHANNELS_MAX]; /* address of each channel's registers */
    bool interrupts;                   /* the board calls zdma_interrupt() */
    bool coherent; /* the channels are ADMA channels behind a coherent port: mark all accesses */
    /* Access a register, by its offset (zdma_registers.h). Null: loads and stores of 32 bits. */
    uint32_t (*read)(uint32_t channel, uint32_t offset);
    void (*write)(uint32_t channel, uint32_t offset, uint32_t value);
    /* Returns the time, for statistics. Null: there is no clock. */
    uint64_t (*clock_ns)(void);
};

extern const struct mli_engine zdma_engine;

/** Describes the channels. Copies *platform. Call it while the pool is empty. */
void zdma_set_platform(const struct zdma_platform *platform);

/**
 * Handles the interrupt of a channel: masks it in the controller and lets the library poll the
 * channel, which takes the time of one list. Any context; the interrupt is level-sensitive.
 */
void zdma_interrupt(uint32_t channel);

/**
 * Ends the work items of the channels [first, first + count) with MLI_STATUS_DMA_ERROR. Call it
 * after a reset of the controller, the only way to stop a channel that hangs; it resets all eight
 * channels of a controller. No function of the library may use these channels during the reset and
 * this call: mask their interrupts.
 */
void zdma_recover(uint32_t first, uint32_t count);

#endif /* MLI_ZDMA_ENGINE_H */
