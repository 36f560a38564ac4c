/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The watchdog ends tasks whose transfers take too long, and puts their stuck channels into
 * quarantine: out of service for a while, and until the transfer has ended. Its timer runs only
 * while there are transfers or channels to watch. It fires several times within a limit: if it is
 * late, the process was stopped (SIGSTOP, a debugger) or starved, and that time does not count.
 */
#ifndef DAEMON_WATCHDOG_H
#define DAEMON_WATCHDOG_H

#include <uv.h>

#include "mli_mov_api.h"

struct task;

struct watchdog {
    uv_timer_t timer;
    uint64_t armed; /* uv_hrtime() at which the timer fires; UINT64_MAX: stopped */
    uint64_t lost;  /* sum of the nanoseconds by which the timer was late */
    uint64_t back[MLI_MOV_MAX_CHANNELS]; /* the earliest end of each channel's quarantine */
};

void watchdog_init(struct watchdog *watchdog, uv_loop_t *loop);
/** Begins to close the timer. The struct must stay until the loop has closed the timer. */
void watchdog_close(struct watchdog *watchdog);

/** Starts watching the running tasks; there must be one. */
void watchdog_start(struct watchdog *watchdog);
/** Handles the end of a transfer, after its channels were freed. */
void watchdog_remove(struct watchdog *watchdog);

/** Ends the quarantine of all channels that are not busy. */
void watchdog_pardon(struct watchdog *watchdog);

#endif /* DAEMON_WATCHDOG_H */
