/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine of the SiFive PDMA (pdma_registers.h). It is independent of the board: the board's
 * code says where the controller is, and calls pdma_interrupt() from its interrupt handler.
 *
 *   pdma:interrupt=1   Complete by interrupts; 0: by polling (default: 0).
 *   pdma:block=BYTES   Copy at most BYTES bytes in one start, 64 to 2^31 (default: 65536). A cancel
 *                      takes effect between two blocks, because the controller cannot stop in one.
 *
 * A row of a plan becomes one block, or up to three if its ends are aligned worse than its middle.
 * The controller cannot fill: zeros are copied from a page of zeros.
 */
#ifndef PDMA_ENGINE_H
#define PDMA_ENGINE_H

#include "mli_engine.h"

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
     * Required for interrupt=1: keep the handler of the channel from running, on this processor and
     * on others, and let it run again. lock returns what unlock needs; the calls nest.
     */
    uintptr_t (*lock)(uint32_t channel);
    void (*unlock)(uint32_t channel, uintptr_t before);

    uint64_t (*clock_ns)(void); /**< optional: a clock for the statistics */
};

/** Sets the controller. Copies *platform; call it before the engine is chosen. */
void pdma_set_platform(const struct pdma_platform *platform);

/**
 * Serves an interrupt of the channel, either of its two lines: collects the block that has ended,
 * and starts the next one or completes the work item. Completion callbacks run inside.
 */
void pdma_interrupt(uint32_t channel);

extern const struct mli_engine pdma_engine;

#endif /* PDMA_ENGINE_H */
