/* SPDX-License-Identifier: BSD-3-Clause */
/* The memory that this process may use. */
#pragma once

#include <stdint.h>

/**
 * Returns the smallest of the machine's physical memory and the memory limits of this process's
 * control groups, in bytes.
 */
uint64_t memory_limit(void);

/** Like memory_limit(), for a machine with `physical` bytes, and for the groups that the text of
 * /proc/self/cgroup names, below the directory `root` (normally /sys/fs/cgroup). */
uint64_t memory_limit_of(uint64_t physical, const char *groups, const char *root);
