/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A service with its own loop on its own thread. Other threads add connections to a list and wake
 * the loop: only the loop's thread accesses the service.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/base/seam.h"
#include "daemon/service.h"

enum { DESCRIPTORS_NEEDED = 16 }; /* number of descriptors for a loop, a service and a job */

/* A connection to be served; it is on the stack of the thread that waits for the connection. */
struct arrival {
    struct arrival *next;
    int socket;
    int error;
    bool done;
};

struct service_thread {
    uv_loop_t loop;
    uv_async_t wake;
    uv_thread_t thread;
    struct service *service;
    uv_mutex_t mutex; /* guards the members below */
    uv_cond_t adopted;
    struct arrival *arrivals;
    bool stop;
};

/* Serves new connections. The mutex must be held. */
static void adopt_arrivals(struct service_thread *self)
{
    struct arrival *arrival = self->arrivals;

    self->arrivals = NULL;
    while (arrival) {
        struct arrival *next = arrival->next;

        arrival->error = service_adopt(self->service, arrival->socket);
        arrival->done = true;
        arrival = next;
    }
    uv_cond_broadcast(&self->adopted);
}

static void on_wake(uv_async_t *wake)
{
    struct service_thread *self = wake->data;

    uv_mutex_lock(&self->mutex);
    adopt_arrivals(self);
    const bool stop = self->stop;
    uv_mutex_unlock(&self->mutex);
    if (!stop || uv_is_closing((uv_handle_t *)wake))
        return;
    service_shutdown(self->service);
    uv_close((uv_handle_t *)wake, NULL);
}

static void serve(void *context)
{
    struct service_thread *self = context;

    /* Not 0: jobs outlast drain_ms. Wait until they end, because this process owns their memory. */
    while (uv_run(&self->loop, UV_RUN_DEFAULT) != 0)
        ;
}

/* Blocks all signals in the service's thread, except those that a fault of the thread causes. */
static int start_thread(struct service_thread *self)
{
    sigset_t blocked, before;
    int error;

    sigfillset(&blocked);
    sigdelset(&blocked, SIGBUS);
    sigdelset(&blocked, SIGSEGV);
    sigdelset(&blocked, SIGFPE);
    sigdelset(&blocked, SIGILL);
    pthread_sigmask(SIG_SETMASK, &blocked, &before);
    error = uv_thread_create(&self->thread, serve, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return error;
}

/* Frees all that service_thread_start() has created so far. The loop must not be running. */
static void dismantle(struct service_thread *self)
{
    if (!uv_is_closing((uv_handle_t *)&self->wake))
        uv_close((uv_handle_t *)&self->wake, NULL);
    if (self->service)
        service_destroy(self->service);
    uv_run(&self->loop, UV_RUN_DEFAULT);
    uv_loop_close(&self->loop);
    uv_cond_destroy(&self->adopted);
    uv_mutex_destroy(&self->mutex);
    free(self);
}

/* Initialises the loop and its wake handle. Returns 0, or -errno with nothing to close. */
static int init_loop(struct service_thread *self)
{
    int error = uv_loop_init(&self->loop);

    if (error < 0)
        return error;
    error = uv_async_init(&self->loop, &self->wake, on_wake);
    if (error < 0)
        uv_loop_close(&self->loop);
    return error;
}

static int init_lock(struct service_thread *self)
{
    int error = uv_mutex_init(&self->mutex);

    if (error < 0)
        return error;
    error = uv_cond_init(&self->adopted);
    if (error < 0)
        uv_mutex_destroy(&self->mutex);
    return error;
}

static void (*end_program)(void);

static void *realloc_or_end(void *old, size_t size)
{
    void *memory = realloc(old, size);

    if (!memory && size > 0)
        end_program();
    return memory;
}

int service_thread_on_no_memory(void (*end)(void))
{
    end_program = end;
    return uv_replace_allocator(malloc, realloc_or_end, calloc, free);
}

int service_check_descriptors(void)
{
    int fds[DESCRIPTORS_NEEDED], count = 0, error = 0;

    while (count < DESCRIPTORS_NEEDED && error == 0) {
        fds[count] = eventfd(0, EFD_CLOEXEC);
        if (fds[count] < 0)
            error = -errno;
        else
            count++;
    }
    while (count > 0)
        close(fds[--count]);
    return error;
}

static int create(const struct config *config, struct service_thread **out)
{
    struct config embedded = *config;
    struct service_thread *self;
    int error = service_check_descriptors();

    if (error < 0)
        return error;
    self = seam.calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    error = init_loop(self);
    if (error < 0) {
        free(self);
        return error;
    }
    error = init_lock(self);
    if (error < 0) {
        uv_close((uv_handle_t *)&self->wake, NULL);
        uv_run(&self->loop, UV_RUN_DEFAULT);
        uv_loop_close(&self->loop);
        free(self);
        return error;
    }
    self->wake.data = self;
    embedded.embedded = true;
    error = service_create(&self->loop, &embedded, &self->service);
    if (error < 0) {
        dismantle(self);
        return error;
    }
    *out = self;
    return 0;
}

int service_thread_start(const struct config *config, struct service_thread **out, int *socket)
{
    struct service_thread *self;
    int pair[2], error;

    *out = NULL;
    error = create(config, &self);
    if (error < 0)
        return error;
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0) {
        error = -errno;
        dismantle(self);
        return error;
    }
    error = service_adopt(self->service, pair[0]);
    if (error == 0)
        error = start_thread(self);
    if (error < 0) {
        close(pair[1]);
        dismantle(self);
        return error;
    }
    *out = self;
    *socket = pair[1];
    return 0;
}

int service_thread_connect(struct service_thread *self, int *socket)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
        return -errno;
    uv_mutex_lock(&self->mutex);
    struct arrival arrival = {.next = self->arrivals, .socket = pair[0]};

    self->arrivals = &arrival;
    uv_async_send(&self->wake);
    while (!arrival.done)
        uv_cond_wait(&self->adopted, &self->mutex);
    uv_mutex_unlock(&self->mutex);
    if (arrival.error < 0)
        close(pair[1]);
    else
        *socket = pair[1];
    return arrival.error;
}

void service_thread_stop(struct service_thread *self)
{
    if (!self)
        return;
    uv_mutex_lock(&self->mutex);
    self->stop = true;
    uv_mutex_unlock(&self->mutex);
    uv_async_send(&self->wake);
    uv_thread_join(&self->thread);
    dismantle(self);
}
