/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/flight.h"

#include <time.h>

/* Time for a transfer to end after an interrupt. */
#define INTERRUPT_NS (UINT64_C(200) * 1000 * 1000)

uint64_t flight_now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void flight_init(struct flight *flight)
{
    *flight = (struct flight){.flying = false};
    pthread_mutex_init(&flight->mutex, NULL);
}

void flight_finish(struct flight *flight)
{
    pthread_mutex_destroy(&flight->mutex);
}

void flight_begin(struct flight *flight, const mli_mov_handle_t *handle)
{
    pthread_mutex_lock(&flight->mutex);
    flight->flying = true;
    flight->has_handle = handle != NULL;
    if (handle)
        flight->handle = *handle;
    flight->expired = flight->interrupted = false;
    flight->since_ns = flight_now_ns();
    pthread_mutex_unlock(&flight->mutex);
}

void flight_end(struct flight *flight)
{
    pthread_mutex_lock(&flight->mutex);
    flight->flying = false;
    pthread_mutex_unlock(&flight->mutex);
}

bool flight_expired(struct flight *flight)
{
    pthread_mutex_lock(&flight->mutex);
    const bool expired = flight->expired || flight->interrupted;
    pthread_mutex_unlock(&flight->mutex);
    return expired;
}

bool flight_watch(struct flight *flight, uint64_t timeout_ns, bool interrupt)
{
    const uint64_t patience = interrupt && INTERRUPT_NS < timeout_ns ? INTERRUPT_NS : timeout_ns;
    bool lost = false;

    pthread_mutex_lock(&flight->mutex);
    const uint64_t now = flight_now_ns();
    if (flight->flying && (flight->expired || flight->interrupted)) {
        lost = now - flight->cancelled_ns > patience;
    } else if (flight->flying && now - flight->since_ns > patience) {
        flight->interrupted = interrupt;
        flight->expired = !interrupt;
        flight->cancelled_ns = now;
        /* The handle cannot be released meanwhile: its owner has to pass flight_end() first. */
        if (flight->has_handle)
            (void)mli_mov_cancel(&flight->handle);
    }
    pthread_mutex_unlock(&flight->mutex);
    return lost;
}
