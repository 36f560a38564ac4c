/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers that take too long, and the channels that are to blame: they are out of service for a
 * while, and as long as their transfer has not ended. One timer, which runs only while there is
 * something to watch. It fires several times within the shortest limit: when it is late, the
 * process was stopped (SIGSTOP, a debugger) or starved, and this time does not count.
 */
#ifndef DAEMON_WATCHDOG_H
#define DAEMON_WATCHDOG_H

#include <uv.h>

#include "mli_mov_api.h"

struct task;

struct watchdog {
    uv_timer_t timer;
    uint64_t armed;                      /* uv_hrtime() at which it fires; UINT64_MAX: never */
    uint64_t lost;                       /* nanoseconds in all by which the timer was late */
    uint64_t back[MLI_MOV_MAX_CHANNELS]; /* when a quarantine is over at the earliest */
};

void watchdog_init(struct watchdog *watchdog, uv_loop_t *loop);
/** Begins to close; the memory must stay until the loop has run on. */
void watchdog_close(struct watchdog *watchdog);

/** Begins to look after the running transfers, of which there is at least one. */
void watchdog_start(struct watchdog *watchdog);
/** One is over, its channels are not busy any more. */
void watchdog_remove(struct watchdog *watchdog);

/** Channels in quarantine whose transfers have ended are taken back into service now. */
void watchdog_pardon(struct watchdog *watchdog);

#endif /* DAEMON_WATCHDOG_H */
