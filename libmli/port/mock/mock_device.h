/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A model of a DMA controller, as a programmer sees it: registers, and rings of descriptors in
 * memory. The driver in mock_engine.c drives it. Like hardware it knows nothing of the library. Its
 * bus (mock_bus.c) and the thread that lets time pass (mock_clock.c) are declared below.
 *
 * Use of a channel
 *   1. Write RING_BASE and RING_SIZE, then CONTROL = ENABLE.
 *   2. Fill descriptors from slot TAIL on, then write TAIL: the slot after the last one. One slot
 *      always stays free: TAIL == HEAD is an empty ring.
 *   3. The channel executes the descriptors from HEAD to TAIL, and moves HEAD past each descriptor
 *      when its last byte is in memory. BUSY becomes 0 a moment after HEAD has reached TAIL.
 *   4. To stop: CONTROL = ENABLE | ABORT, until BUSY is 0; HEAD is then the first descriptor that
 *      was not done. ERROR means that the descriptor at HEAD failed; ROWS is the number of its rows
 *      that were written. After both: CONTROL = ENABLE | RESET, which empties the ring.
 *
 *   5. With CONTROL's bit INTERRUPTS, the channel raises its interrupt when it has done a
 * descriptor, failed, or stopped. The interrupt stays raised until 1 is written to RAISED.
 *
 * Time passes for a channel when its STATUS is read, unless it has INTERRUPTS, and in
 * mock_device_run().
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MOCK_DEVICE_CHANNELS 8

/* Limits of the fields of a descriptor. */
#define MOCK_RUN_MAX   0xffffu  /* 16 bits */
#define MOCK_COUNT_MAX 0xffffu  /* 16 bits */
#define MOCK_STEP_MAX  0xfffffu /* 20 bits */
#define MOCK_LOOPS     2

/* A descriptor in memory. `loop[0]` is the outer loop; an unused loop has a count of 1. */
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
#define MOCK_FILL 1u /* write zeros, do not read src */

/* The registers of a channel. */
enum mock_register {
    MOCK_RING_BASE, /* address of slot 0; write it only while the channel is disabled */
    MOCK_RING_SIZE, /* number of slots; write it only while the channel is disabled */
    MOCK_HEAD,      /* read only: the current slot */
    MOCK_TAIL,      /* the slot after the last filled one; a write starts the channel */
    MOCK_STATUS,    /* read only */
    MOCK_CONTROL,   /* write only */
    MOCK_ROWS,      /* read only: number of rows that a failed descriptor has written */
    MOCK_FAULT,     /* read only: address that failed; 0 if the descriptor was illegal */
    MOCK_RAISED     /* 1 while the interrupt is raised; write 1 to clear it */
};

/* Bits of the register MOCK_STATUS */
#define MOCK_BUSY  1u
#define MOCK_ERROR 2u

/* Bits of the register MOCK_CONTROL */
#define MOCK_ENABLE     1u
#define MOCK_ABORT      2u
#define MOCK_RESET      4u /* ignored while BUSY */
#define MOCK_INTERRUPTS 8u

/* Accesses a register, for any thread: the bus lets one access through at a time. */
uint64_t mock_device_read(uint32_t channel, enum mock_register reg);
void mock_device_write(uint32_t channel, enum mock_register reg, uint64_t value);

/* Functions for tests. */

/* Sets the number of descriptors that a channel executes at each read of STATUS (default: 1). */
void mock_device_set_pace(uint32_t channel, uint32_t descriptors);

/*
 * Executes up to `descriptors` descriptors of a busy channel, as if time had passed, and calls the
 * handler while the channel's interrupt is raised. Does nothing if an access to the channel is in
 * progress, so that an interrupt of this access may call it. Returns whether the channel has more
 * to do.
 */
bool mock_device_run(uint32_t channel, uint32_t descriptors);

/* Sets the handler of all channels' interrupts. */
void mock_device_set_handler(void (*handler)(uint32_t channel));

/* Sets the function that is called when a channel with INTERRUPTS starts. */
void mock_device_set_listener(void (*listener)(void));

/* Sets the alignment in bytes of all numbers in a descriptor (default: 1). */
void mock_device_set_unit(uint32_t bytes);

/* Makes a descriptor fail once, after `descriptors` descriptors that succeed. */
void mock_device_fail_after(uint32_t channel, uint32_t descriptors);

/*
 * The bus of the mock device: the memory that answers at an address. Without the settings below,
 * all memory of the program answers at the processor's addresses.
 */

/*
 * Returns the memory at an address of the bus, or null if some of the bytes do not answer: *fault
 * is then the address of the first byte that does not.
 */
uint8_t *mock_bus_find(uint64_t address, uint64_t bytes, bool write, uint64_t *fault);

/* Makes accesses to [address, address + bytes) fail. Call it while all channels are idle. */
void mock_bus_poison(uint64_t address, uint64_t bytes);

/* Moves all memory up: it answers at the processor's addresses plus `offset`, and only there. */
void mock_bus_set_offset(uint64_t offset);

/*
 * An IOMMU: while it is on, only mapped memory answers. Any thread may map and unmap while channels
 * work. mock_bus_map() returns false if all MOCK_MAPPINGS entries of its table are in use.
 */
enum { MOCK_MAPPINGS = 64 };
void mock_bus_translate(bool on);
bool mock_bus_map(uint64_t address, void *memory, uint64_t bytes, bool write);
void mock_bus_unmap(uint64_t address);

/*
 * Simulates a cache of the processor that the device does not see: the processor accesses
 * [memory, memory + bytes), and the device accesses `behind` instead. `memory` must begin a cache
 * line, because the functions that clean or invalidate a range act on whole lines, as those of a
 * processor do. A null `memory` removes the cache.
 */
enum { MOCK_LINE = 64 };
void mock_bus_set_cache(uint8_t *memory, uint8_t *behind, size_t bytes);
void mock_cache_clean(const void *address, size_t bytes);
void mock_cache_invalidate(const void *address, size_t bytes);

/*
 * The time of mock channels with interrupts: a thread, which calls mock_device_run() while a
 * channel is busy. The interrupt handler runs on this thread, as on another processor. Without
 * threads, the caller's own timer must call mock_device_run().
 */

/* Starts the thread, or adds another user of the thread. Returns false if there are no resources.
 */
bool mock_clock_start(void);

/* Stops the thread after its last user. */
void mock_clock_stop(void);

/** Call this in a loop that reads a register until it changes: lets the clock's thread run. */
void mock_clock_yield(void);
