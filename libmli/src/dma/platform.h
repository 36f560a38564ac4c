/* SPDX-License-Identifier: BSD-3-Clause */
/* The platform: maintains caches and translates addresses for devices (mli_engine.h). */
#ifndef MLI_DMA_PLATFORM_H
#define MLI_DMA_PLATFORM_H

#include "mli_engine.h"

/** Requests an interrupt of the channel. Returns false if the platform cannot. */
bool platform_pend(uint32_t channel);

/**
 * Returns whether several channels may write parts of the plan: the platform is coherent, or each
 * row of the destination begins a cache line. Otherwise the cache maintenance for one part could
 * overwrite bytes of another.
 */
bool platform_can_split(const struct mli_plan *plan);

#endif /* MLI_DMA_PLATFORM_H */
