/* SPDX-License-Identifier: BSD-3-Clause */
#include "service.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "client.h"
#include "log.h"
#include "pool.h"
#include "seam.h"
#include "sigbus.h"
#include "state.h"
#include "task.h"

int service_check(const struct config *config, struct fault *fault)
{
    const int error = pool_take(config, fault);

    if (error == 0)
        pool_give_back();
    return error == -EINVAL ? -1 : 0;
}

/* What may fail. Returns 0, or -errno with nothing taken. */
static int acquire(struct service *service, uv_loop_t *loop, const struct config *config)
{
    struct fault fault;
    int error = sigbus_install();

    if (error == 0)
        error = pool_take(config, &fault);
    if (error < 0)
        return error;
    error = completions_init(&service->completions, loop);
    if (error < 0)
        pool_give_back();
    return error;
}

int service_create(struct uv_loop_s *loop, const struct config *config, struct service **out)
{
    struct service *service = seam.calloc(1, sizeof *service);
    int error;

    *out = NULL;
    if (!service)
        return -ENOMEM;
    error = acquire(service, loop, config);
    if (error < 0) {
        free(service);
        return error;
    }
    log_set_level(config->log_level);
    service->loop = loop;
    service->config = *config;
    service->started = uv_hrtime();
    link_init(&service->clients);
    queue_init(&service->queue);
    jsonw_init(&service->scratch);
    deadlines_init(&service->deadlines, loop);
    uv_timer_init(loop, &service->drain); /* cannot fail */
    service->drain.data = service;
    *out = service;
    return 0;
}

int service_listen(struct service *service)
{
    if (service->state != SERVICE_SERVING)
        return -ESHUTDOWN;
    return listener_open(&service->listener, service);
}

int service_listen_on(struct service *service, int socket)
{
    if (service->state == SERVICE_SERVING)
        return listener_adopt(&service->listener, service, socket);
    close(socket);
    return -ESHUTDOWN;
}

int service_adopt(struct service *service, int socket)
{
    if (service->state == SERVICE_SERVING)
        return client_create(service, socket);
    close(socket);
    return -ESHUTDOWN;
}

static void log_event(int level, const char *event, const char *key, uint64_t value)
{
    struct log_line line;

    if (!log_begin(&line, level, event))
        return;
    log_uint(&line, key, value);
    log_end(&line);
}

static void shutting_down(struct fault *fault)
{
    fault_set(fault, FAULT_SHUTTING_DOWN, NULL, "the service is shutting down");
}

/* Whoever runs the loop decides whether to wait until the cancelled transfers have ended. */
static void on_drain(uv_timer_t *timer)
{
    struct service *service = timer->data;
    struct fault fault;

    log_event(LOG_WARNING, "jobs outlast drain_ms", "jobs", service->running);
    shutting_down(&fault);
    for (struct link *c = service->clients.next; c != &service->clients; c = c->next) {
        struct client *client = LINK_OWNER(c, struct client, link);

        for (struct link *t = client->tasks.next; t != &client->tasks; t = t->next) {
            struct task *task = LINK_OWNER(t, struct task, client_link);

            complete_cancel(task);
            task_give_up(task, &fault);
        }
    }
    uv_stop(service->loop);
}

void service_shutdown(struct service *service)
{
    struct fault fault;
    struct task *task;

    if (service->state != SERVICE_SERVING)
        return;
    log_event(LOG_INFO, "shutting down", "jobs", service->jobs);
    service->state = SERVICE_DRAINING;
    listener_close(&service->listener);
    shutting_down(&fault);
    while ((task = queue_head(&service->queue)))
        task_fail(task, &fault);
    if (service->config.drain_ms > 0 && service->jobs > 0)
        uv_timer_start(&service->drain, on_drain, service->config.drain_ms, 0);
    service_settle(service);
}

/* The last handle of ours: those closed before it are closed too when uv_run() returns. */
static void on_closed(uv_handle_t *drain)
{
    struct service *service = drain->data;

    service->gone = true;
}

void service_settle(struct service *service)
{
    if (service->state == SERVICE_DRAINING && service->jobs == 0) {
        service->state = SERVICE_CLOSING;
        uv_timer_stop(&service->drain);
        for (struct link *c = service->clients.next; c != &service->clients; c = c->next)
            client_end(LINK_OWNER(c, struct client, link));
    }
    if (service->state == SERVICE_CLOSING && link_empty(&service->clients)) {
        service->state = SERVICE_CLOSED;
        deadlines_close(&service->deadlines);
        completions_close(&service->completions);
        uv_close((uv_handle_t *)&service->drain, on_closed);
    }
}

void service_destroy(struct service *service)
{
    if (!service)
        return;
    /* A loop that nothing kept alive has returned without a shutdown. */
    service_shutdown(service);
    while (!service->gone)
        uv_run(service->loop, UV_RUN_ONCE);
    pool_give_back();
    jsonw_finish(&service->scratch);
    free(service);
}
