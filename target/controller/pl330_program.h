/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Programs for channel threads of the Arm PL330 (CoreLink DMA-330). Source: Arm DDI 0424 (PL330
 * technical reference manual), instruction set and channel control register. A piece of a plan
 * becomes a part of a program; the parts of a program follow one another in memory:
 *
 *     DMAMOV SAR, DAR          addresses; a fill has no SAR
 *     DMALP LC1                rows
 *         DMAMOV CCR           beats of the bursts that follow
 *         DMALP LC0            bursts of a row
 *             DMALD, DMAST     one burst from memory to the FIFO, and from there to memory;
 *             (DMASTZ)         or one burst of zeros
 *         DMALPEND LC0
 *         DMAADDH, DMAADNH     SAR and DAR from the end of a row to the next row
 *         (DMAWMB)             only with `barriers`
 *     DMALPEND LC1
 *     ...                      further parts
 *     DMAWMB, DMASEV, DMAEND   pl330_program_end()
 *
 * Source and destination of each burst are multiples of its size. So no burst crosses a boundary of
 * 4 KiB, and the FIFO need not shift bytes, which would take further lines of it. Bursts of several
 * beats have beats as wide as the bus; shorter bursts move the bytes before and after them. Each
 * burst is stored before the next is loaded, so that no channel holds more of the FIFO than one
 * burst (pl330_bus.burst_bytes) while it waits for space.
 *
 * `mlictl explain` shows these programs (controller_pl330.c), and the driver of a board executes
 * them (boards/drivers/pl330.c). Therefore the file needs nothing but <stdint.h>.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Instructions: their first bytes. */
enum {
    DMAEND = 0x00,
    DMALD = 0x04,
    DMAST = 0x08,
    DMASTZ = 0x0c,
    DMAWMB = 0x13,
    DMANOP = 0x18,
    DMALP = 0x20,
    DMASEV = 0x34,
    DMAWFE = 0x36,
    DMALPEND = 0x38,
    DMAADDH = 0x54,
    DMAADNH = 0x5c,
    DMAMOV = 0xbc
};

/* Registers of DMAMOV. DMAADDH has SAR and DAR in this order. */
enum { SAR = 0, CCR = 1, DAR = 2 };

/* Limits of a part, and sizes. */
enum {
    PL330_ROWS_MAX = 256, /* maximum iterations of a loop, whose counter has 8 bits */
    PL330_RUN_MAX = 64 * PL330_ROWS_MAX, /* maximum bytes of a run if a piece has several rows:
                                            256 iterations of 64 bursts of one byte */
    /* maximum bytes of a run if a piece has one row */
    PL330_LINEAR_MAX = 32 * PL330_ROWS_MAX * PL330_ROWS_MAX,
    PL330_GAP_MAX = 4 * 65535, /* maximum bytes between two rows: four additions of 16 bits */
    PL330_PART_MAX = 256,      /* maximum bytes of a part */
    PL330_END_BYTES = 4,
    PL330_INJECTION_BYTES = 3, /* maximum bytes of the code of pl330_program_wait() */
};

/* The properties of the controller and its channel that programs depend on. */
struct pl330_bus {
    uint32_t bytes;       /* width of the bus: 4, 8 or 16 */
    uint32_t burst_bytes; /* longest burst: a power of two, at most 16 beats */
    uint32_t control;   /* bits of the channel control register that are the same for all bursts */
    bool zero_barriers; /* each burst of zeros is written before the next instruction */
};

/* A piece: rows of `run` bytes each, with addresses of the bus. */
struct pl330_piece {
    bool copies;   /* false: writes zeros */
    bool barriers; /* true: the next row begins after the row is written; false: rows overlap */
    uint32_t src, dst, run;
    uint32_t rows;               /* 1 to PL330_ROWS_MAX */
    uint32_t src_step, dst_step; /* bytes from the start of a row to the start of the next, at most
                                    run + PL330_GAP_MAX; valid if rows > 1 */
};

/* A part of a program in memory. */
struct pl330_part {
    uint32_t size; /* bytes */
    uint32_t loop; /* offset of the first instruction in the loop of rows; 0: no loop */
};

/**
 * Writes the part of a piece to code[], which has space for PL330_PART_MAX bytes. The part leaves a
 * thread with unknown SAR, DAR, CCR and loop counters.
 */
struct pl330_part pl330_program_part(const struct pl330_bus *bus, const struct pl330_piece *piece,
                                     uint8_t *code);

/**
 * Returns the number of rows whose bursts a thread has executed when it is at an offset of the part
 * and its loop counter 1 has the value `counter`.
 */
uint32_t pl330_program_rows(const struct pl330_piece *piece, const struct pl330_part *part,
                            uint32_t offset, uint32_t counter);

/**
 * Writes the end of a program, which waits until all bursts are written, then sends an event.
 * Returns PL330_END_BYTES.
 */
uint32_t pl330_program_end(uint32_t event, uint8_t *code);

/* Programs for tests. The functions return a number of bytes, at most PL330_INJECTION_BYTES. */

/** Writes code that waits until all bursts are written, then for an event. */
uint32_t pl330_program_wait(uint32_t event, uint8_t *code);

/** Writes an undefined instruction, at which a thread has a fault. */
uint32_t pl330_program_trap(uint8_t *code);
