/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives memory of the process 32-bit addresses on the bus, for models of controllers. On 32-bit
 * processors, the addresses on the bus are those of the processor.
 */
#ifndef TEST_BUS_WINDOWS_H
#define TEST_BUS_WINDOWS_H

#include <stdbool.h>
#include <stdint.h>

/* Forgets all windows. */
void bus_windows_reset(void);

/* Sets *bus to the address of a byte on the bus. Returns false if there are too many windows. */
bool bus_windows_address(const void *memory, uint64_t *bus);

/* Returns the memory at an address that bus_windows_address() has returned. */
uint8_t *bus_windows_memory(uint32_t bus);

#endif /* TEST_BUS_WINDOWS_H */
