/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Asynchronous moves over libmli's DMA channels: those that run, and those that wait for channels.
 *
 *   flight    one start of a plan, from flight_start() until its last move is done
 *
 * No function needs the GIL, and no function of Python is called: the threads of the engine cannot
 * wait for the interpreter, which may be about to end.
 */
#pragma once

#include <stdbool.h>

#include "python/core/nest.h"

enum flight_state { FLIGHT_QUEUED, FLIGHT_RUNNING, FLIGHT_DONE };

struct flight {
    /* The nest; it and the memory must stay valid until the flight is done. */
    const struct nest *nest;
    uint32_t channels;
    void *user;     /* for the caller's use */
    bool of_parent; /* true: this is the child of a fork, and the parent process completes the
                       flight */
    /* Private: */
    struct move_iterator moves;
    mli_mov_handle_t handle;
    enum flight_state state;
    bool cancelled;
    mli_status status;
    int notify;          /* eventfd; -1: none */
    struct flight *next; /* next flight in the queue, or among the flights that are done */
};

/**
 * Starts the moves of flight->nest, or queues them until channels are free. Sets every member but
 * nest, channels and user. Returns MLI_STATUS_OK, or another status: *why is the reason, or null if
 * mli_last_error() has the reason.
 */
mli_status flight_start(struct flight *flight, const char **why);

/** Waits until the flight is done, at most `seconds`. Returns whether it is done. */
bool flight_wait(struct flight *flight, double seconds);

/** Returns the state, and the status of a flight that is done. */
enum flight_state flight_state(const struct flight *flight, mli_status *status);

/** Cancels a flight; does not wait until it has ended. */
void flight_cancel(struct flight *flight);

/** Writes 1 to an eventfd when the flight is done, or now if the flight is done. eventfd -1: writes
 * nothing. */
void flight_notify(struct flight *flight, int eventfd);

/** Removes a flight from the list of flights that are done; null if the list is empty. */
struct flight *flight_take_done(void);

/**
 * Chooses the engine (null: the same engine) and the number of channels (0: the default). Refused
 * with MLI_STATUS_ARGUMENT_ERROR while a flight runs. *why is as for flight_start().
 */
mli_status flight_configure(const char *engine, uint32_t channels, const char **why);

/** Returns the number of channels; 0 before the first flight. */
uint32_t flight_channels(void);

/** Cancels all flights and waits for their ends. Later starts fail. */
void flight_shutdown(void);
