/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The engine behind the channel pool: what moves the bytes of a plan. It knows copy boxes and fill
 * slabs, and nothing of tensors, handles or callbacks.
 */
#ifndef MLI_DMA_ENGINE_H
#define MLI_DMA_ENGINE_H

#include <stdint.h>

#include "../plan.h"
#include "mli_types.h"

struct engine {
    const char *name;
    uint32_t channels; /* channel numbers run from 0 to channels - 1 */

    /**
     * Begins a transfer on channels [first, first + count). The plan stays valid until the engine
     * calls engine_done(first, status), which it does exactly once for each submit, after the last
     * byte is written, from any thread, possibly before submit returns.
     */
    void (*submit)(uint32_t first, uint32_t count, const struct plan *plan);
};

/** Provided by the pool. */
void engine_done(uint32_t first, mli_status status);

/** Moves on the thread that calls submit: no threads, no operating system. */
extern const struct engine engine_inline;

#endif /* MLI_DMA_ENGINE_H */
