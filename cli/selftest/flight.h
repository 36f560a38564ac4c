/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call into the library that may not return, watched by another thread: when its time is up the
 * transfer is cancelled, and where that does not help either, it is lost.
 */
#ifndef CLI_SELFTEST_FLIGHT_H
#define CLI_SELFTEST_FLIGHT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "mli_mov_api.h"

struct flight {
    pthread_mutex_t mutex;
    bool flying, has_handle;
    mli_mov_handle_t handle; /* a copy */
    uint64_t since_ns;
    bool expired, interrupted; /* cancelled: its time was up; the user wanted an end */
    uint64_t cancelled_ns;
};

void flight_init(struct flight *flight);
void flight_finish(struct flight *flight);

/** A call begins; `handle` is null where there is none to cancel it by. */
void flight_begin(struct flight *flight, const mli_mov_handle_t *handle);
/** It has returned; `expired` and `interrupted` tell how. */
void flight_end(struct flight *flight);

/** Whether its time is up, while it still goes on. */
bool flight_expired(struct flight *flight);

/** For the watching thread, now and then: cancels what is overdue. True where it is lost. */
bool flight_watch(struct flight *flight, uint64_t timeout_ns, bool interrupt);

uint64_t flight_now_ns(void);

#endif /* CLI_SELFTEST_FLIGHT_H */
