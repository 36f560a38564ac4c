/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FIRMWARE_PROPERTY_FIRST_TRANSFER_H
#define FIRMWARE_PROPERTY_FIRST_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

/**
 * Moves 4 KiB on a channel of the pool. If the transfer does not end within a second, prints
 * whether interrupts have come and bytes are moved, and returns false. The random cases, which wait
 * for their transfers, would never end.
 */
bool first_transfer(uint32_t channel);

#endif /* FIRMWARE_PROPERTY_FIRST_TRANSFER_H */
