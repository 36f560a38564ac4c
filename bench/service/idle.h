/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures a process while it does nothing. */
#ifndef BENCH_IDLE_H
#define BENCH_IDLE_H

#include <sys/types.h>

struct idle {
    unsigned long resident_kib; /* memory of the process, which all threads share */
    unsigned long wakeups;      /* context switches of all threads while the process was watched */
    double cpu_ms;
};

/** Watches the process for `ms` milliseconds. */
struct idle idle_watch(pid_t pid, unsigned ms);

unsigned long resident_kib(pid_t pid);

#endif
