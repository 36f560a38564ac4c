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
#pragma once

#include "mli_engine.h"

/*
 * Registers and descriptors of the ZDMA of AMD Zynq UltraScale+. Sources: Zynq UltraScale+ Device
 * TRM (UG1085), chapter 19 "DMA Controller"; Zynq UltraScale+ Devices Register Reference (UG1087),
 * module ZDMA.
 *
 *   side        source (SRC) or destination (DST) of a channel
 *   element     one entry of the descriptor queue of a side: a run of contiguous bytes
 *   linear      an element of 16 bytes; the next element follows it
 *   linked      an element of 32 bytes, with the address of the next element
 */

/* Offsets from the base address of a channel. */
enum zdma_register {
    ZDMA_ISR = 0x100, /* a write of 1 clears a bit */
    ZDMA_IMR = 0x104, /* read only; 1: masked */
    ZDMA_IEN = 0x108, /* a write of 1 unmasks */
    ZDMA_IDS = 0x10c, /* a write of 1 masks */
    ZDMA_CTRL0 = 0x110,
    ZDMA_STATUS = 0x11c,
    ZDMA_DATA_ATTR = 0x120,
    ZDMA_DSCR_ATTR = 0x124,
    ZDMA_SRC_WORD0 = 0x128, /* four registers, with the layout of words 0 to 3 of an element */
    ZDMA_SRC_WORD1 = 0x12c,
    ZDMA_SRC_WORD2 = 0x130,
    ZDMA_SRC_WORD3 = 0x134,
    ZDMA_DST_WORD0 = 0x138,
    ZDMA_DST_WORD1 = 0x13c,
    ZDMA_DST_WORD2 = 0x140,
    ZDMA_DST_WORD3 = 0x144,
    ZDMA_PATTERN0 = 0x148, /* WR_ONLY_WORD0 to 3 */
    ZDMA_PATTERN3 = 0x154,
    ZDMA_SRC_START_LSB = 0x158,
    ZDMA_SRC_START_MSB = 0x15c,
    ZDMA_DST_START_LSB = 0x160,
    ZDMA_DST_START_MSB = 0x164,
    ZDMA_DST_COUNT = 0x194, /* IRQ_DST_ACCT: elements done with INTR; a read clears it */
    ZDMA_CTRL2 = 0x200,
};
#define ZDMA_AXI_RD_DATA    (1u << 8)
#define ZDMA_AXI_WR_DATA    (1u << 9)
#define ZDMA_DMA_DONE       (1u << 10)
#define ZDMA_DMA_PAUSE      (1u << 11)
#define ZDMA_ALL_INTERRUPTS 0xfffu

/* CTRL0. OVER_FETCH lets reads extend to the end of the last word of the bus. */
#define ZDMA_CONT           (1u << 1)
#define ZDMA_WRITE_ONLY     (1u << 4)
#define ZDMA_SCATTER_GATHER (1u << 6)
#define ZDMA_OVER_FETCH     (1u << 7)
#define ZDMA_STATE_BUSY     2u
#define ZDMA_STATE_ERROR    3u

/* CTRL2 */
#define ZDMA_ENABLE 1u

/*
 * DATA_ATTR: incrementing bursts of 16 beats. The cache attributes of reads (bits 25:22) and writes
 * (bits 11:8) are 2 after a reset: normal, not cacheable.
 */
#define ZDMA_DATA_ATTR_RESET 0x0483d20fu
#define ZDMA_LINKED          (1u << 1)
#define ZDMA_INTR            (1u << 2)
/* Commands that a source element executes after its bytes; 0: continue with the next element. */
#define ZDMA_PAUSE (1u << 3)
#define ZDMA_STOP  (2u << 3)

/* Words of an element. Words 6 and 7 are 0. */
enum { ZDMA_LINEAR_WORDS = 4, ZDMA_LINKED_WORDS = 8 };
#define ZDMA_SIZE_MAX 0x3fffffffu /* 30 bits of word 2 */

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
    bool coherent; /* the channels are ADMA channels behind a coherent port: mark all accesses as
                      coherent */
    /* Functions that access the register at an offset; null for plain 32-bit loads and stores. */
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
 * channel. May take as long as the making of one list. Any context; the interrupt is
 * level-sensitive.
 */
void zdma_interrupt(uint32_t channel);

/**
 * Ends the work items of the channels [first, first + count) with MLI_STATUS_DMA_ERROR. Call it
 * after a reset of the controller, the only way to stop a channel that hangs; it resets all eight
 * channels of a controller. No function of the library may use these channels during the reset and
 * this call: mask their interrupts.
 */
void zdma_recover(uint32_t first, uint32_t count);
