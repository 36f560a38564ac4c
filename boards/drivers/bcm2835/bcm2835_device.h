/* SPDX-License-Identifier: BSD-3-Clause */
/* The registers of the controller. Its channels have numbers from 0 to 14. */
#ifndef MLI_BCM2835_DEVICE_H
#define MLI_BCM2835_DEVICE_H

#include "boards/drivers/bcm2835/bcm2835_block.h"
#include "boards/drivers/bcm2835/bcm2835_engine.h"

/** The platform of bcm2835_set_platform(). */
extern struct bcm2835_platform bcm2835_platform;

/** Returns the number of channels that the engine may use; 0 without a controller. */
uint32_t bcm2835_channels(void);

/** Returns the number of the engine's channel: the n-th one that it may use. */
uint32_t bcm2835_number(uint32_t channel);

/** Access a register of a channel. */
uint32_t bcm2835_get(uint32_t number, enum bcm2835_register offset);
void bcm2835_set(uint32_t number, enum bcm2835_register offset, uint32_t value);

/** Returns the kind of a channel. */
enum bcm2835_kind bcm2835_kind_of(uint32_t number);

/** Enables a channel and resets it. Returns false if another program uses the channel. */
bool bcm2835_take(uint32_t number);

/** Stops a channel in any state, and clears its interrupt and its errors. */
void bcm2835_reset(uint32_t number);

/** Starts a channel with the control block at an address of the bus. Clears its interrupt. */
void bcm2835_start(uint32_t number, uint32_t block);

/** Has a channel pause. */
void bcm2835_pause(uint32_t number);

/** Returns whether a channel has executed its last block, and memory has all bytes. */
bool bcm2835_has_ended(uint32_t number, uint32_t cs);

/** Returns whether a channel does nothing, and memory has all bytes that it has written. */
bool bcm2835_is_quiet(uint32_t number, uint32_t cs);

#endif /* MLI_BCM2835_DEVICE_H */
