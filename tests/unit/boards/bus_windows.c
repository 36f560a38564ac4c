/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/boards/bus_windows.h"

#include <string.h>

/* A window maps 128 MiB of the process's memory around the first address that needed the window. */
enum { WINDOWS = 32, WINDOW_BITS = 27, NARROW = UINTPTR_MAX <= UINT32_MAX };
static uintptr_t windows[WINDOWS];

void bus_windows_reset(void)
{
    memset(windows, 0, sizeof(windows));
}

bool bus_windows_address(const void *memory, uint64_t *bus)
{
    const uintptr_t address = (uintptr_t)memory, half = (uintptr_t)1 << (WINDOW_BITS - 1);

    *bus = address;
    for (uint64_t i = 0; i < WINDOWS && !NARROW; i++) {
        if (windows[i] == 0) /* bit 0 marks a window that is in use */
            windows[i] = (address > half ? (address - half) & ~(uintptr_t)0xfff : 0) | 1;
        *bus = i << WINDOW_BITS | (address - (windows[i] & ~(uintptr_t)1));
        if (address - (windows[i] & ~(uintptr_t)1) < 2 * half)
            return true;
    }
    return NARROW;
}

uint8_t *bus_windows_memory(uint32_t bus)
{
    if (NARROW)
        return (uint8_t *)(uintptr_t)bus;
    return (uint8_t *)((windows[bus >> WINDOW_BITS] & ~(uintptr_t)1) +
                       (bus & ((1u << WINDOW_BITS) - 1)));
}
