/* SPDX-License-Identifier: BSD-3-Clause */
/* A service with its own loop on its own thread. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <uv.h>

#include "seam.h"
#include "service.h"

enum { DESCRIPTORS_NEEDED = 16 }; /* by a loop, a service and a job */

struct service_thread {
    uv_loop_t loop;
    uv_async_t stop;
    uv_thread_t thread;
    struct service *service;
};

static void on_stop(uv_async_t *stop)
{
    struct service_thread *self = stop->data;

    service_shutdown(self->service);
    uv_close((uv_handle_t *)stop, NULL);
}

static void serve(void *context)
{
    struct service_thread *self = context;

    /* Not 0: jobs outlast drain_ms. Their memory is this process's, so they are waited for. */
    while (uv_run(&self->loop, UV_RUN_DEFAULT) != 0)
        ;
}

/* Signals are for the program's own threads, but for those that a fault sends to its thread. */
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

/* Frees what service_thread_start() made, up to where it came. The loop does not run. */
static void dismantle(struct service_thread *self)
{
    if (!uv_is_closing((uv_handle_t *)&self->stop))
        uv_close((uv_handle_t *)&self->stop, NULL);
    if (self->service)
        service_destroy(self->service);
    uv_run(&self->loop, UV_RUN_DEFAULT);
    uv_loop_close(&self->loop);
    free(self);
}

/* libuv aborts where it finds no descriptors for its signal pipe: returns 0 or -errno before. */
static int check_descriptors(void)
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
    struct service_thread *self;
    int error = check_descriptors();

    if (error < 0)
        return error;
    self = seam.calloc(1, sizeof *self);
    if (!self)
        return -ENOMEM;
    error = uv_loop_init(&self->loop);
    if (error < 0) {
        free(self);
        return error;
    }
    error = uv_async_init(&self->loop, &self->stop, on_stop);
    if (error < 0) {
        uv_loop_close(&self->loop);
        free(self);
        return error;
    }
    self->stop.data = self;
    error = service_create(&self->loop, config, &self->service);
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

void service_thread_stop(struct service_thread *self)
{
    if (!self)
        return;
    uv_async_send(&self->stop);
    uv_thread_join(&self->thread);
    dismantle(self);
}
