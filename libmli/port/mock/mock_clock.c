/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/mock/mock_device.h"

#if defined(__linux__) && __STDC_HOSTED__ && !defined(MLI_NO_THREADS)

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>

static pthread_t thread;
static sem_t ticks;
static uint32_t users;
static atomic_bool waits; /* true: the thread sleeps, or is about to */
static atomic_bool stops;

static void wake(void)
{
    if (atomic_exchange(&waits, false))
        sem_post(&ticks);
}

static bool run_channels(void)
{
    bool more = false;

    for (uint32_t i = 0; i < MOCK_DEVICE_CHANNELS; i++)
        more |= mock_device_run(i, 1);
    return more;
}

static void *tick(void *context)
{
    (void)context;
    while (!atomic_load(&stops)) {
        if (run_channels())
            continue;
        atomic_store(&waits, true);
        if (!run_channels()) /* look again: a channel may have started before `waits` was set */
            sem_wait(&ticks);
    }
    return NULL;
}

bool mock_clock_start(void)
{
    if (users > 0) {
        users++;
        return true;
    }
    atomic_store(&stops, false);
    atomic_store(&waits, false);
    mock_device_set_listener(wake);
    if (sem_init(&ticks, 0, 0) != 0 || pthread_create(&thread, NULL, tick, NULL) != 0)
        return false;
    users = 1;
    return true;
}

void mock_clock_stop(void)
{
    if (users == 0 || --users > 0)
        return;
    atomic_store(&stops, true);
    sem_post(&ticks);
    pthread_join(thread, NULL);
    sem_destroy(&ticks);
    mock_device_set_listener(0);
}

void mock_clock_yield(void)
{
    sched_yield();
}

#else

void mock_clock_yield(void)
{
}

bool mock_clock_start(void)
{
    return true;
}

void mock_clock_stop(void)
{
}

#endif
