/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/service.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "daemon/job/after.h"
#include "daemon/job/dispatch.h"
#include "daemon/job/dma_pool.h"
#include "daemon/job/task.h"
#include "daemon/memory/mapping.h"
#include "daemon/memory/sigbus.h"
#include "daemon/net/client.h"
#include "daemon/net/hold.h"
#include "daemon/ops/drain.h"
#include "daemon/ops/dropped.h"
#include "daemon/ops/stats.h"
#include "daemon/service_state.h"
#include "mli_engine.h"

int service_check(const struct config *config, struct fault *fault)
{
    const int error = pool_take(config, fault);

    if (error == 0)
        pool_give_back();
    return error == -EINVAL ? -1 : 0;
}

static void on_relieved(uv_async_t *relieved)
{
    client_relieve_all(relieved->data);
}

/* On a reaper thread. */
static void relieve(void *service)
{
    uv_async_send(&((struct service *)service)->relieved);
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
    error = reaper_start(config->clients, relieve, service);
    if (error == 0) {
        error = completions_init(&service->completions, loop);
        if (error < 0)
            reaper_stop();
    }
    if (error < 0)
        pool_give_back();
    return error;
}

/* All replies of a round go out together, and jobs that were held up come in where there is room
 * now: what they give goes out too. */
static void on_round(uv_prepare_t *round)
{
    struct service *service = round->data;

    service->intake_began = 0;
    client_let_in(service);
    service->intake_began = 0; /* the loop may sleep now */
    client_send_all(service);
}

static void init_lists(struct service *service)
{
    link_init(&service->clients);
    users_init(&service->users);
    link_init(&service->unsent);
    link_init(&service->full);
    held_init(&service->held);
    link_init(&service->drains);
    link_init(&service->tasks);
    link_init(&service->settling);
    link_init(&service->wide);
    link_init(&service->running_tasks);
}

static void set_shares(struct service *service)
{
    const struct mapping_policy mappings = {service->config.mappings, service->config.refuse_sparse,
                                            service->config.memory_only};

    mapping_set_policy(&mappings);
    service->scheduler.quantum = service->config.scheduling.quantum_bytes;
    service->scheduler.ageing_ns = (uint64_t)service->config.scheduling.ageing_ms * 1000 * 1000;
}

/* Forgets records beyond a lowered limits.history. */
static void on_trimming(struct chore *chore)
{
    struct service *service = LINK_OWNER(chore, struct service, trimming);
    const uint64_t begin = uv_hrtime();

    while (history_trim(&service->history)) {
        if (uv_hrtime() - begin < CHORE_SLICE_NS)
            continue;
        chore_add(&service->chores, chore);
        return;
    }
}

/*
 * Threads of this very process may be slow, but they do not get stuck, and there is no other user
 * who waits for their channels.
 */
static bool is_unwatched(const struct config *config)
{
    struct mli_channel_caps caps = {0};

    mli_mov_engine_caps(&caps);
    return config->embedded && caps.flags & MLI_CHANNEL_CPU;
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
    log_set_format(config->log_format);
    service->loop = loop;
    service->config = *config;
    if (is_unwatched(config))
        service->config.watchdog.limit_ms = 0;
    service->started = uv_hrtime();
    stats_init(service);
    init_lists(service);
    channels_init(&service->channels, config->channel_offset, config->channels);
    scheduler_init(&service->scheduler, 0, 0);
    set_shares(service);
    registry_init(&service->registry);
    history_init(&service->history, &service->registry, config->history);
    jsonw_init(&service->scratch);
    deadlines_init(&service->deadlines, loop);
    watchdog_init(&service->watchdog, loop);
    chores_init(&service->chores, loop);
    chore_init(&service->trimming, on_trimming);
    news_init(&service->news, loop);
    uv_timer_init(loop, &service->drain); /* cannot fail */
    service->drain.data = service;
    /* Cannot fail: completions_init() has opened the eventfd of the loop. */
    uv_async_init(loop, &service->relieved, on_relieved);
    service->relieved.data = service;
    uv_unref((uv_handle_t *)&service->relieved);
    uv_prepare_init(loop, &service->round); /* cannot fail */
    service->round.data = service;
    uv_prepare_start(&service->round, on_round);
    uv_unref((uv_handle_t *)&service->round);
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

void service_reconfigure(struct service *service, const struct config *config)
{
    log_set_level(config->log_level);
    log_set_format(config->log_format);
    service->config = *config;
    history_set_limit(&service->history, config->history);
    if (service->state != SERVICE_CLOSED && !chore_queued(&service->trimming))
        chore_add(&service->chores, &service->trimming);
    set_shares(service);
    held_look_again(&service->held);
}

void service_set_trace(struct service *service, struct trace *trace)
{
    service->trace = trace;
    news_trace_changed(service);
}

int service_adopt(struct service *service, int socket)
{
    if (service->state == SERVICE_SERVING)
        return client_create(service, socket, SLOT_OPEN);
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

/* Ends all tasks, or those that do not run. Ending one may end others that wait for it. */
static void end_tasks(struct service *service, bool running_too)
{
    struct fault fault;
    struct link *l = service->tasks.next;

    dropped_log(service, running_too);
    shutting_down(&fault);
    while (l != &service->tasks) {
        struct task *task = LINK_OWNER(l, struct task, all_link);

        l = l->next;
        if (!task->ended && (running_too || task->state != JOB_STATE_RUNNING))
            task_abort(task, &fault);
    }
}

/* Whoever runs the loop decides whether to wait until the cancelled transfers have ended. */
static void on_drain(uv_timer_t *timer)
{
    struct service *service = timer->data;

    log_event(LOG_WARNING, "jobs outlast drain_ms", "jobs", service->running);
    end_tasks(service, true);
    client_send_all(service);
    uv_stop(service->loop);
}

void service_shutdown(struct service *service)
{
    if (service->state != SERVICE_SERVING)
        return;
    log_event(LOG_INFO, "shutting down", "jobs", service->jobs);
    service->state = SERVICE_STOPPING;
    held_look_again(&service->held);
    listener_close(&service->listener);
    end_tasks(service, false);
    if (service->config.drain_ms > 0 && service->jobs > 0)
        uv_timer_start(&service->drain, on_drain, service->config.drain_ms, 0);
    service_settle(service);
}

bool service_has_room(const struct service *service, const struct client *client)
{
    const struct config *config = &service->config;
    const struct flow *flow = client->flow;

    if (!service_takes_jobs(service))
        return true;
    if (service->jobs >= config->jobs)
        return false;
    return flow->jobs < config->jobs_per_client &&
           quota_allows(config_quota(config, flow->user->uid)->jobs, flow->user->jobs,
                        service->jobs, config->jobs);
}

/* The last handle of ours: those closed before it are closed too when uv_run() returns. */
static void on_closed(uv_handle_t *drain)
{
    struct service *service = drain->data;

    service->gone = true;
}

void service_settle(struct service *service)
{
    if (service->jobs == 0 && !link_empty(&service->drains))
        drain_settle(service);
    if (service->state == SERVICE_STOPPING && service->jobs == 0) {
        service->state = SERVICE_CLOSING;
        uv_timer_stop(&service->drain);
        for (struct link *c = service->clients.next; c != &service->clients; c = c->next)
            client_end(LINK_OWNER(c, struct client, link));
    }
    if (service->state == SERVICE_CLOSING && link_empty(&service->clients)) {
        service->state = SERVICE_CLOSED;
        deadlines_close(&service->deadlines);
        watchdog_close(&service->watchdog);
        chore_remove(&service->held.again);
        chore_remove(&service->trimming);
        chores_close(&service->chores);
        news_close(&service->news);
        uv_close((uv_handle_t *)&service->round, NULL);
        uv_close((uv_handle_t *)&service->relieved, NULL);
        completions_close(&service->completions);
        uv_close((uv_handle_t *)&service->drain, on_closed);
    }
}

void service_destroy(struct service *service)
{
    size_t left;

    if (!service)
        return;
    /* A loop that nothing kept alive has returned without a shutdown. */
    service_shutdown(service);
    while (!service->gone)
        uv_run(service->loop, UV_RUN_ONCE);
    left = reaper_stop();
    if (left > 0)
        log_event(LOG_WARNING, "descriptors do not close", "pieces", left);
    pool_give_back();
    while (!link_empty(&service->settling))
        after_settle(service); /* no job is left: frees empty lists of dependents */
    history_finish(&service->history);
    registry_finish(&service->registry);
    users_finish(&service->users);
    jsonw_finish(&service->scratch);
    free(service);
}
