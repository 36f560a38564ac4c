/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A call into the library, watched by another thread: after a timeout the transfer is cancelled; if
 * the call does not return even then, it is lost.
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
    bool expired, interrupted; /* the call was cancelled: by the timeout; by the user */
    uint64_t cancelled_ns;
};

void flight_init(struct flight *flight);
void flight_finish(struct flight *flight);

/** Begins a call. `handle`: to cancel the transfer; null: the call cannot be cancelled. */
void flight_begin(struct flight *flight, const mli_mov_handle_t *handle);
/** Ends the call; `expired` and `interrupted` are valid from now on. */
void flight_end(struct flight *flight);

/** Returns whether the call is cancelled, while it is under way. */
bool flight_expired(struct flight *flight);

/** Cancels an overdue call; the watching thread calls this repeatedly. Returns whether the call is
 *  lost. */
bool flight_watch(struct flight *flight, uint64_t timeout_ns, bool interrupt);

uint64_t flight_now_ns(void);

#endif /* CLI_SELFTEST_FLIGHT_H */
