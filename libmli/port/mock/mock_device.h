/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A DMA controller as a programmer sees it: registers, and rings of descriptors in memory. It is
 * played by software, so that the driver beside it (mock_engine.c) has something to drive. Like
 * silicon it knows nothing of the library.
 *
 * How a channel is used
 *   1. write RING_BASE and RING_SIZE, then CONTROL = ENABLE
 *   2. fill descriptors from slot TAIL on, then write TAIL: the slot behind the last one. One slot
 *      always stays free: TAIL == HEAD is an empty ring.
 *   3. the channel does what is between HEAD and TAIL, and moves HEAD over each descriptor whose
 *      last byte is in memory. BUSY falls a moment after it has caught up with TAIL.
 *   4. to stop: CONTROL = ENABLE | ABORT, until BUSY falls; HEAD is then the first descriptor that
 *      was not done. ERROR says that HEAD is a descriptor that could not be done, and ROWS how many
 *      rows of it were. After both: CONTROL = ENABLE | RESET, which empties the ring.
 *
 * Time passes for a channel when its STATUS is read, and in mock_device_run().
 */
#ifndef MOCK_DEVICE_H
#define MOCK_DEVICE_H

#include <stdint.h>

#define MOCK_DEVICE_CHANNELS 8

/* What the fields of a descriptor can hold. */
#define MOCK_RUN_MAX   0xffffu  /* 16 bits */
#define MOCK_COUNT_MAX 0xffffu  /* 16 bits */
#define MOCK_STEP_MAX  0xfffffu /* 20 bits */
#define MOCK_LOOPS     2

/* As it lies in memory. `loop[0]` is the outer one; a loop that is not needed has a count of 1. */
struct mock_descriptor {
    uint64_t src, dst;
    uint32_t run; /* bytes of a row, 1 to MOCK_RUN_MAX */
    uint32_t flags;
    struct {
        uint32_t count;              /* 1 to MOCK_COUNT_MAX */
        uint32_t src_step, dst_step; /* bytes, up to MOCK_STEP_MAX */
    } loop[MOCK_LOOPS];
};

/* descriptor.flags; all other bits must be 0 */
#define MOCK_FILL 1u /* zeros are written, src is not looked at */

/* A channel's registers. */
enum mock_register {
    MOCK_RING_BASE, /* address of slot 0, while not enabled */
    MOCK_RING_SIZE, /* slots, while not enabled */
    MOCK_HEAD,      /* read only: the slot it is at */
    MOCK_TAIL,      /* the slot behind the last that is filled; writing it wakes the channel */
    MOCK_STATUS,    /* read only */
    MOCK_CONTROL,   /* write only */
    MOCK_ROWS,      /* read only: rows that were written of a descriptor that failed */
    MOCK_FAULT      /* read only: the address that failed; 0 where the descriptor was bad */
};

/* MOCK_STATUS */
#define MOCK_BUSY  1u
#define MOCK_ERROR 2u

/* MOCK_CONTROL */
#define MOCK_ENABLE 1u
#define MOCK_ABORT  2u
#define MOCK_RESET  4u /* ignored while BUSY */

/* The bus to the registers. It lets one access through at a time, whoever they come from. */
uint64_t mock_device_read(uint32_t channel, enum mock_register reg);
void mock_device_write(uint32_t channel, enum mock_register reg, uint64_t value);

/*
 * For tests.
 */

/* How many descriptors a channel does for each look at its STATUS: 1 if nobody says otherwise. */
void mock_device_set_pace(uint32_t channel, uint32_t descriptors);

/* Gives a channel the time for so many descriptors. */
void mock_device_run(uint32_t channel, uint32_t descriptors);

/* From now on nobody on the bus answers in [address, address + bytes). While all channels rest. */
void mock_device_poison(uint64_t address, uint64_t bytes);

/* After so many good ones a descriptor fails on the bus, once. */
void mock_device_fail_after(uint32_t channel, uint32_t descriptors);

#endif /* MOCK_DEVICE_H */
