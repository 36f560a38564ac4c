/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bus of the mock device: the memory that answers at an address. Without the settings below,
 * all memory of the program answers at the processor's addresses.
 */
#ifndef MOCK_BUS_H
#define MOCK_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Returns the memory at an address of the bus, or null if some of the bytes do not answer: *fault
 * is the address of the first of these.
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
 * A cache of the processor that the device does not see. The processor accesses [memory, memory +
 * bytes), which begins a line, and the device accesses `behind` in its place. The functions for
 * ranges act on whole lines, like those of a processor. Null: no cache.
 */
enum { MOCK_LINE = 64 };
void mock_bus_set_cache(uint8_t *memory, uint8_t *behind, size_t bytes);
void mock_cache_clean(const void *address, size_t bytes);
void mock_cache_invalidate(const void *address, size_t bytes);

#endif /* MOCK_BUS_H */
