/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the Arm PL330 (CoreLink DMA-330). It is independent of the board: the board's code
 * says where the controller is, and calls pl330_interrupt() from its interrupt handler.
 *
 *   pl330:interrupt=1    Complete by interrupts; 0: by polling (default: 0).
 *   pl330:program=BYTES  Start a thread with at most BYTES bytes of program, PL330_PROGRAM_MIN to
 *                        PL330_PROGRAM_MAX (default: PL330_PROGRAM_MAX). A program has as many
 *                        pieces as fit, and one interrupt at its end.
 *   pl330:run=BYTES      Let the processor move rows shorter than BYTES (default:
 *                        PL330_RUN_DEFAULT).
 *   pl330:piece=BYTES    Let the processor move boxes with fewer than BYTES bytes for each piece
 *                        (default: PL330_PIECE_DEFAULT). With run=0,piece=0 the controller moves
 *                        everything.
 *
 * Channel n sends event n. The board connects the interrupts of these events and that of aborts.
 */
#pragma once

#include <stdint.h>

#include "mli_engine.h"
#include "target/controller/pl330_program.h"

/*
 * Registers of the Arm PL330 (CoreLink DMA-330), as offsets from its base. Source: Arm DDI 0424,
 * programmers model.
 */

/* Registers of the controller. */
enum {
    PL330_DSR = 0x000,       /* status of the manager thread */
    PL330_INTEN = 0x020,     /* events that are interrupts, as bits */
    PL330_EVENT_RIS = 0x024, /* events that are pending, interrupts or not */
    PL330_INTMIS = 0x028,    /* interrupts that are active */
    PL330_INTCLR = 0x02c,    /* write 1: clear an interrupt */
    PL330_FSRD = 0x030,      /* 1: the manager thread has a fault */
    PL330_FSRC = 0x034,      /* channel threads that have a fault, as bits */
    PL330_FTRD = 0x038,      /* kind of the manager's fault */
    PL330_DBGSTATUS = 0xd00, /* bit 0: busy with an instruction of the debug registers */
    PL330_DBGCMD = 0xd04,    /* write 0: execute it */
    PL330_DBGINST0 = 0xd08,
    PL330_DBGINST1 = 0xd0c,
    PL330_CR0 = 0xe00, /* numbers of channels and events */
    PL330_CRD = 0xe14, /* bus and FIFO */
    PL330_PERIPH_ID0 = 0xfe0,
    PL330_PERIPH_ID1 = 0xfe4,
};

/* Kinds of faults: bits of FTR. */
enum {
    PL330_FAULT_UNDEFINED = 1 << 0, /* undefined instruction */
    PL330_FAULT_OPERAND = 1 << 1,   /* operand that the configuration does not allow */
    PL330_FAULT_FIFO = 1 << 12,     /* the FIFO is too small for a burst */
    PL330_FAULT_STORE = 1 << 13,    /* store without data */
    PL330_FAULT_FETCH = 1 << 16,    /* bus error of an instruction */
    PL330_FAULT_WRITE = 1 << 17,    /* bus error of a store */
    PL330_FAULT_READ = 1 << 18,     /* bus error of a load */
};

/*
 * The controller: its registers, and the reports of its threads. A thread is a channel of the
 * controller that executes a program.
 */

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

enum {
    PL330_CHANNELS_MAX = 8,
    PL330_PROGRAM_MIN = 263, /* bytes of the largest piece with the code of pl330_inject() */
    PL330_PROGRAM_MAX = 2048,
    /* Bytes of a run. Assumed, not measured: a burst takes as long as some ten instructions of
       the processor. */
    PL330_RUN_DEFAULT = 8,
    /* Assumed, not measured: the processor copies this number of bytes in the time in which it
       encodes a piece. */
    PL330_PIECE_DEFAULT = 128
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
    PL330_INJECT_WAIT  /**< a wait for an event that only pl330_release() sends: the thread hangs */
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

/** Resumes a channel that waits because of PL330_INJECT_WAIT. */
void pl330_release(uint32_t channel);
