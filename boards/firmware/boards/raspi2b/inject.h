/* SPDX-License-Identifier: BSD-3-Clause */
/* Faults of the DMA controller, between the engine and the registers: QEMU's model has none. */
#ifndef RASPI2B_INJECT_H
#define RASPI2B_INJECT_H

#include <stdint.h>

/** Access a register of the DMA controller, as struct bcm2835_platform does. */
uint32_t inject_read(uint32_t offset);
void inject_write(uint32_t offset, uint32_t value);

#endif /* RASPI2B_INJECT_H */
