/* SPDX-License-Identifier: BSD-3-Clause */
#include "boards/drivers/bcm2835/bcm2835_device.h"

#include "boards/drivers/chain.h"

struct bcm2835_platform bcm2835_platform;

/* The manual has the registers of full channels for the numbers 0 to 6 only. */
enum { FIRST_LITE = 7 };

/* Count the writes that have no response yet: END and INT then mean that memory has all bytes. */
enum { CS_RUN = BCM2835_CS_COUNT_WRITES | BCM2835_CS_PRIORITY };

static bool is_there(void)
{
    return bcm2835_platform.base != 0 || bcm2835_platform.read;
}

uint32_t bcm2835_channels(void)
{
    uint32_t count = 0;

    for (uint32_t number = 0; is_there() && number < BCM2835_CHANNELS_MAX; number++)
        count += bcm2835_platform.channels >> number & 1;
    return count;
}

uint32_t bcm2835_number(uint32_t channel)
{
    uint32_t number = 0;

    for (; number < BCM2835_CHANNELS_MAX - 1; number++) {
        if (bcm2835_platform.channels >> number & 1 && channel-- == 0)
            break;
    }
    return number;
}

static uint32_t load(uint32_t offset)
{
    return bcm2835_platform.read ? bcm2835_platform.read(offset)
                                 : *(volatile uint32_t *)(bcm2835_platform.base + offset);
}

static void store(uint32_t offset, uint32_t value)
{
    if (bcm2835_platform.write)
        bcm2835_platform.write(offset, value);
    else
        *(volatile uint32_t *)(bcm2835_platform.base + offset) = value;
}

uint32_t bcm2835_get(uint32_t number, enum bcm2835_register offset)
{
    return load(number * BCM2835_CHANNEL_BYTES + offset);
}

void bcm2835_set(uint32_t number, enum bcm2835_register offset, uint32_t value)
{
    store(number * BCM2835_CHANNEL_BYTES + offset, value);
}

enum bcm2835_kind bcm2835_kind_of(uint32_t number)
{
    return number < FIRST_LITE ? BCM2835_FULL : BCM2835_LITE;
}

bool bcm2835_take(uint32_t number)
{
    store(BCM2835_ENABLE, load(BCM2835_ENABLE) | 1u << number);
    if (bcm2835_get(number, BCM2835_CS) & BCM2835_CS_ACTIVE)
        return false;
    bcm2835_reset(number);
    return true;
}

void bcm2835_reset(uint32_t number)
{
    bcm2835_set(number, BCM2835_CS, BCM2835_CS_RESET);
    bcm2835_set(number, BCM2835_CS, BCM2835_CS_INT | BCM2835_CS_END);
    bcm2835_set(number, BCM2835_DEBUG, BCM2835_DEBUG_ERRORS);
}

void bcm2835_start(uint32_t number, uint32_t block)
{
    chain_barrier();
    bcm2835_set(number, BCM2835_CONBLK_AD, block);
    bcm2835_set(number, BCM2835_CS, CS_RUN | BCM2835_CS_INT | BCM2835_CS_END | BCM2835_CS_ACTIVE);
}

void bcm2835_pause(uint32_t number)
{
    bcm2835_set(number, BCM2835_CS, CS_RUN);
}

/* END is set by each block, and ACTIVE is cleared before the last response: look at all signs. */
bool bcm2835_has_ended(uint32_t number, uint32_t cs)
{
    return !(cs & (BCM2835_CS_ACTIVE | BCM2835_CS_WAITING)) && cs & BCM2835_CS_END &&
           bcm2835_get(number, BCM2835_CONBLK_AD) == 0;
}

bool bcm2835_is_quiet(uint32_t number, uint32_t cs)
{
    const uint32_t debug = bcm2835_get(number, BCM2835_DEBUG);

    return (!(cs & BCM2835_CS_ACTIVE) || cs & BCM2835_CS_PAUSED) && !(cs & BCM2835_CS_WAITING) &&
           !(debug >> BCM2835_DEBUG_WRITES_SHIFT & BCM2835_DEBUG_WRITES_MAX);
}
