/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the SiFive PDMA. It is independent of the board: the board's
 * code says where the controller is, and calls pdma_interrupt() from its interrupt handler.
 *
 *   pdma:interrupt=1      Complete by interrupts; 0: by polling (default: 0).
 *   pdma:block=BYTES      Copy at most BYTES bytes in one start, 64 to 2^31 (default: 65536). A
 *                         cancel takes effect between two blocks, because the controller cannot
 *                         stop in one.
 *   pdma:piece_min=BYTES  Let the processor move boxes whose rows have fewer than BYTES bytes on
 *                         average; 0: the controller moves everything (default: 512).
 *
 * A row of a plan becomes one block, or up to three if its ends are aligned worse than its middle.
 * The controller cannot fill: zeros are copied from a page of zeros.
 */
#pragma once

#include "mli_engine.h"

/*
 * Registers of the SiFive platform DMA engine (PDMA) of FU540-C000, FU740-C000 and PolarFire SoC.
 * Sources: PolarFire SoC MSS Technical Reference, "DMA Engine", which documents the same
 * controller; its numbers agree with the FU540-C000 manual. docs/boards.md says what QEMU models
 * differently.
 *
 * A channel copies one contiguous block per start: no descriptors in memory, no strides, no fills.
 * Software writes the Next registers and sets RUN; the channel copies them to its Exec registers
 * and counts these.
 */

enum {
    PDMA_CHANNELS = 4,
    PDMA_CHANNEL_BYTES = 0x1000, /* distance of the registers of two channels */

    PDMA_CONTROL = 0x000,          /* 32 bits */
    PDMA_NEXT_CONFIG = 0x004,      /* 32 bits */
    PDMA_NEXT_BYTES = 0x008,       /* 64 bits, like all registers below without another width */
    PDMA_NEXT_DESTINATION = 0x010, /* physical address */
    PDMA_NEXT_SOURCE = 0x018,
    PDMA_EXEC_CONFIG = 0x104, /* 32 bits, read only */
    PDMA_EXEC_BYTES = 0x108,  /* number of bytes that are not moved yet */
};

/* Control */
#define PDMA_CLAIM    (1u << 0) /* setting it clears the Next registers; stays set during RUN */
#define PDMA_RUN      (1u << 1) /* set: start; the channel clears it at the end */
#define PDMA_DONE_IE  (1u << 14)
#define PDMA_ERROR_IE (1u << 15)
#define PDMA_DONE     (1u << 30) /* DONE and ERROR stay until software writes 0 */
#define PDMA_ERROR    (1u << 31)

/** A controller, and what its driver needs of the board. */
struct pdma_platform {
    uintptr_t base;    /**< address of the registers of channel 0 */
    uint32_t channels; /**< number of channels, at most PDMA_CHANNELS; 0: no controller */

    /**
     * Optional, for models of the controller and for tests: access a register in place of a load
     * or store at `base`.
     */
    uint64_t (*read)(uint32_t channel, uint32_t offset);
    void (*write)(uint32_t channel, uint32_t offset, uint64_t value);

    /**
     * Required for interrupt=1: enables or disables the two interrupts of the channel. Interrupts
     * of other channels may come during the call.
     */
    void (*enable_interrupts)(uint32_t channel, bool enable);

    /**
     * Optional: returns whether there is memory at all these bus addresses. If not, the engine does
     * not start the block, and the transfer fails.
     */
    bool (*has_memory)(uint64_t address, size_t bytes);

    uint64_t (*clock_ns)(void); /**< optional: a clock for the statistics */
};

/** Sets the controller. Copies *platform; call it before the engine is chosen. */
void pdma_set_platform(const struct pdma_platform *platform);

/**
 * Handles an interrupt of the channel, either of its two: disables both until the controller runs
 * again, and has the library poll the channel. Completion callbacks run inside.
 */
void pdma_interrupt(uint32_t channel);

extern const struct mli_engine pdma_engine;
