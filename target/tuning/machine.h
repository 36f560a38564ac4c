/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine that a tuning was measured on: its processor and the caches that Linux reports. */
#ifndef TARGET_TUNING_MACHINE_H
#define TARGET_TUNING_MACHINE_H

#include <stdbool.h>

#include "mli_tuning.h"

enum { MACHINE_CPU_MAX = 128 };

struct machine {
    char cpu[MACHINE_CPU_MAX]; /* model of the processor; "unknown" if it is not reported */
    mli_caches caches;         /* bytes; 0: not reported */
};

/**
 * Reads the machine: the caches from sys/devices/system/cpu/cpu0 below `root` ("" for the running
 * system), the model from the processor itself or, on AArch64, from the same folder. Files that are
 * missing or have another form count as not reported.
 */
void machine_read(struct machine *machine, const char *root);

/** Returns whether two machines have equal processors and caches. */
bool machine_is(const struct machine *a, const struct machine *b);

#endif /* TARGET_TUNING_MACHINE_H */
