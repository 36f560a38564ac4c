/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the Arm PL330 (CoreLink DMA-330). It is independent of the board: the board's code
 * says where the controller is, and calls pl330_interrupt() from its interrupt handler.
 *
 *   pl330_program.[ch]   the microcode for the pieces of a plan
 *   pl330_source.[ch]    the pieces, and where a fault is injected
 *   pl330_device.[ch]    the controller: starts and stops channel threads, and records their events
 *   pl330_engine.c       work items: programs that follow one another, ends, faults and cancels
 *   pl330_registers.h    the registers
 *
 *   pl330:interrupt=1    Complete by interrupts; 0: by polling (default: 0).
 *   pl330:program=BYTES  Start a thread with at most BYTES bytes of program, PL330_PROGRAM_MIN to
 *                        PL330_PROGRAM_MAX (default: PL330_PROGRAM_MAX). A program has as many
 *                        pieces as fit, and one interrupt at its end.
 *   pl330:run=BYTES      Let the processor move shorter rows (default: PL330_RUN_DEFAULT).
 *   pl330:piece=BYTES    Let the processor move boxes with fewer bytes for each piece (default:
 *                        PL330_PIECE_DEFAULT). With run=0,piece=0 the controller moves everything.
 *
 * Channel n sends event n. The board connects the interrupts of these events and that of aborts.
 */
#ifndef PL330_ENGINE_H
#define PL330_ENGINE_H

#include "mli_engine.h"

enum {
    PL330_CHANNELS_MAX = 8,
    PL330_PROGRAM_MIN = 263, /* the largest piece, and what pl330_inject() adds to it */
    PL330_PROGRAM_MAX = 2048,
    /* Assumed, not measured: a burst takes as long as some ten instructions of the processor. */
    PL330_RUN_DEFAULT = 8,
    /* Assumed, not measured: the processor encodes a piece in the time of these bytes. */
    PL330_PIECE_DEFAULT = 128
};

/** A controller, and what its driver needs of the board. */
struct pl330_platform {
    /** Address of the registers: the secure ones if the processor is in secure state. 0: none. */
    uintptr_t base;

    /**
     * Optional, for models of the controller and for tests: access a register in place of a load
     * or store at `base`.
     */
    uint32_t (*read)(uint32_t offset);
    void (*write)(uint32_t offset, uint32_t value);

    /**
     * Required for interrupt=1, and for several threads: keep pl330_interrupt() and other threads
     * out for a short time, on all processors, and let them in again. lock returns what unlock
     * needs; calls do not nest.
     */
    uintptr_t (*lock)(void);
    void (*unlock)(uintptr_t before);

    uint64_t (*clock_ns)(void); /**< optional: a clock for the statistics */

    /**
     * True for QEMU 7.2's model: wait after each burst of zeros. The model adds to DAR again each
     * time that it repeats a DMASTZ because its queue of writes is full.
     */
    bool zero_barriers;
};

/** The registers of a thread that had a fault. */
struct pl330_fault {
    uint32_t type; /**< FTR: bits of PL330_FAULT_; 0: no fault since the channel was opened */
    uint32_t pc, sar, dar;
};

/** Faults for tests (pl330_inject()). */
enum pl330_injection {
    PL330_INJECT_NONE,
    PL330_INJECT_TRAP, /**< an undefined instruction: a fault of the thread */
    PL330_INJECT_WAIT  /**< an event that nothing but pl330_release() sends: the thread is stuck */
};

extern const struct mli_engine pl330_engine;

/** Sets the controller. Copies *platform; call it before the engine is chosen. */
void pl330_set_platform(const struct pl330_platform *platform);

/**
 * Serves the interrupts of all events and faults that are pending. The board calls it from the
 * handler of each interrupt of the controller. Completion callbacks run inside.
 */
void pl330_interrupt(void);

/** Returns the last fault of a channel. */
struct pl330_fault pl330_last_fault(uint32_t channel);

/**
 * Makes the next work item of a channel fail or wait after `rows` of its rows, if it has more rows.
 * Call it while the channel is idle.
 */
void pl330_inject(uint32_t channel, enum pl330_injection injection, uint64_t rows);

/** Lets a channel go on that waits because of PL330_INJECT_WAIT. */
void pl330_release(uint32_t channel);

#endif /* PL330_ENGINE_H */
