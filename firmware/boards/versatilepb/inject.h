/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the DMA controller, between the engine and the registers: QEMU's model has none. */
#ifndef VERSATILEPB_INJECT_H
#define VERSATILEPB_INJECT_H

#include <stdint.h>

/** Access a register of the DMA controller, as struct pl080_platform does. */
uint32_t inject_read(uint32_t offset);
void inject_write(uint32_t offset, uint32_t value);

#endif /* VERSATILEPB_INJECT_H */
