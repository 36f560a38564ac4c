/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transfer with a completion callback that runs until the test lets it return. The variable
 * `returning` is not atomic: if a wait returns too early, the thread sanitizer finds a data race,
 * and in other builds an assertion fails.
 */
#ifndef TEST_SLOW_CALLBACK_H
#define TEST_SLOW_CALLBACK_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tests/support/load.h"

enum { SLOW_DEADLINE_S = 30 };

extern struct slow {
    struct load load;
    atomic_bool entered; /* true: the callback runs */
    atomic_bool leave;   /* true: the callback may return */
    bool returning;      /* true: the last statement of the callback has run */
} slow;

/* Resets `slow`. Claims one of `channels` channels for a move of (rows, run) bytes. */
void slow_init(uint32_t rows, uint32_t run, int channels);

/*
 * Teardown of a test: lets the callback return, releases the handle, and removes all channels from
 * the pool.
 */
int slow_finish(void **state);

/*
 * The callback. With the inline engine, mli_mov_start() returns only after the callback has
 * returned.
 */
void slow_callback(int32_t cookie);

/* Thread function that starts the transfer. Returns null if the start fails. */
void *slow_start(void *unused);

/* Waits for another thread to set a flag; fails the test after SLOW_DEADLINE_S. */
void slow_await(atomic_bool *flag);

void slow_pause_ms(long ms);

#endif /* TEST_SLOW_CALLBACK_H */
