/* SPDX-License-Identifier: BSD-3-Clause */
/* Links, indices and faults of the DMA controller, between the engine and the registers. */
#ifndef N800_INJECT_H
#define N800_INJECT_H

#include <stdint.h>

/** Access a register of the DMA controller, as struct omap_platform does. */
uint32_t inject_read(uint32_t offset);
void inject_write(uint32_t offset, uint32_t value);

#endif /* N800_INJECT_H */
