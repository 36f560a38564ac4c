/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef FIRMWARE_PROPERTY_GUARD_MEM_BARE_H
#define FIRMWARE_PROPERTY_GUARD_MEM_BARE_H

#include <stdbool.h>

/* Returns whether the bytes beside all memories of guard_mem_init() are unchanged. */
bool guards_intact(void);

#endif /* FIRMWARE_PROPERTY_GUARD_MEM_BARE_H */
