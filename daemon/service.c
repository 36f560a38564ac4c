/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/service.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/base/chores.h"
#include "daemon/base/log.h"
#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "daemon/job/hardware.h"
#include "daemon/job/jobs.h"
#include "daemon/memory/region.h"
#include "daemon/memory/sigbus.h"
#include "daemon/net/net.h"
#include "mli_engine.h"

enum service_state {
    SERVICE_SERVING,
    SERVICE_STOPPING, /* the service takes no new jobs, and waits for running jobs */
    SERVICE_CLOSING,  /* no job is left; the remaining replies are sent to clients */
    SERVICE_CLOSED    /* all handles are closed or closing */
};

/* The service: all its state, which belongs to the loop's thread. */
struct service {
    uv_loop_t *loop;
    struct config config;
    enum service_state state;
    bool cut_jobs; /* true: jobs have outlasted drain_ms */
    bool gone;     /* true: the service is closed, and the loop no longer uses its handles */
    struct chores chores;
    struct board *board; /* null: no target profile */
    struct jobs jobs;
    struct net net;
    uv_timer_t drain; /* runs during a shutdown, for config.drain_ms */
};

uint32_t service_profile_channels(const struct config *config)
{
    return target_board_channels(config);
}

int service_check_profile(const struct config *config, struct fault *fault)
{
    return target_board_check(config, fault);
}

int service_check(const struct config *config, struct fault *fault)
{
    int error;

    if (target_board_check(config, fault) < 0)
        return -1;
    error = dma_pool_take(config, fault);
    if (error == 0)
        dma_pool_give_back();
    return error == -EINVAL ? -1 : 0;
}

/*
 * An embedded service needs no watchdog for channels that are threads of this process: they may be
 * slow, but do not get stuck, and no other user waits for them.
 */
static bool is_unwatched(const struct config *config)
{
    struct mli_channel_caps caps = {0};

    mli_mov_engine_caps(&caps);
    return config->embedded && caps.flags & MLI_CHANNEL_CPU;
}

/* Applies a configuration: the first configuration, or a changed one. */
static void copy_config(struct service *service, const struct config *config)
{
    const struct mapping_policy mappings = {config->mappings, config->refuse_sparse,
                                            config->memory_only};

    service->config = *config;
    if (is_unwatched(config))
        service->config.watchdog.limit_ms = 0;
    log_set_level(config->log_level);
    log_set_format(config->log_format);
    mapping_set_policy(&mappings);
}

/* Does all steps that can fail: takes the handler of SIGBUS, the board, the channels, the reaper's
 * threads and the first handles. Returns 0, or -errno with nothing taken. */
static int acquire(struct service *service)
{
    struct fault fault;
    int error = sigbus_install();

    if (error == 0)
        error = target_board_create(&service->config, &service->board);
    if (error < 0)
        return error;
    error = dma_pool_take(&service->config, &fault);
    if (error < 0) {
        log_one_text(LOG_ERR, "channels not opened", "why", fault.text);
        target_board_destroy(service->board);
        return error;
    }
    error = reaper_start(service->config.clients, net_relieve, &service->net);
    if (error == 0) {
        service->jobs.board = service->board;
        error = jobs_init(&service->jobs, service->loop, &service->config, &service->chores);
        if (error < 0)
            reaper_stop();
    }
    if (error < 0) {
        dma_pool_give_back();
        target_board_destroy(service->board);
    }
    return error;
}

static void on_settled(void *context);

int service_create(struct uv_loop_s *loop, const struct config *config, struct service **out)
{
    struct service *service = seam.calloc(1, sizeof *service);
    int error;

    *out = NULL;
    if (!service)
        return -ENOMEM;
    service->loop = loop;
    service->config = *config;
    error = acquire(service);
    if (error < 0) {
        free(service);
        return error;
    }
    copy_config(service, config);
    chores_init(&service->chores, loop);
    net_init(&service->net, &service->jobs, on_settled, service);
    uv_timer_init(loop, &service->drain); /* cannot fail */
    service->drain.data = service;
    *out = service;
    return 0;
}

int service_listen(struct service *service)
{
    if (service->state != SERVICE_SERVING)
        return -ESHUTDOWN;
    return listener_open(&service->net.listener, &service->net);
}

int service_listen_on(struct service *service, int socket)
{
    if (service->state == SERVICE_SERVING)
        return listener_adopt(&service->net.listener, &service->net, socket);
    close(socket);
    return -ESHUTDOWN;
}

int service_adopt(struct service *service, int socket)
{
    if (service->state == SERVICE_SERVING)
        return client_create(&service->net, socket, SLOT_OPEN);
    close(socket);
    return -ESHUTDOWN;
}

void service_reconfigure(struct service *service, const struct config *config)
{
    copy_config(service, config);
    if (service->state != SERVICE_CLOSED)
        jobs_reconfigure(&service->jobs);
    held_check_again(&service->net.held);
}

void service_set_trace(struct service *service, struct trace *trace)
{
    events_set_trace(&service->jobs.events, trace);
}

void service_stats(struct service *service, struct daemon_stats *stats)
{
    stats_fill(stats, &service->net, NULL);
}

/* The caller of uv_run() decides whether to wait until the cancelled transfers have ended. */
static void on_drain(uv_timer_t *timer)
{
    struct service *service = timer->data;

    log_one_uint(LOG_WARNING, "jobs outlast drain_ms", "jobs", service->jobs.running);
    service->cut_jobs = true;
    jobs_end_all(&service->jobs);
    client_send_all(&service->net);
    uv_stop(service->loop);
}

void service_shutdown(struct service *service)
{
    if (service->state != SERVICE_SERVING)
        return;
    log_one_uint(LOG_INFO, "shutting down", "jobs", service->jobs.count);
    service->state = SERVICE_STOPPING;
    held_check_again(&service->net.held);
    listener_close(&service->net.listener);
    jobs_stop(&service->jobs);
    if (service->config.drain_ms > 0 && service->jobs.count > 0)
        uv_timer_start(&service->drain, on_drain, service->config.drain_ms, 0);
    net_settle(&service->net);
}

bool service_has_cut_jobs(const struct service *service)
{
    return service->cut_jobs;
}

/* Close callback of the last handle: all handles are closed now. */
static void on_closed(uv_handle_t *drain)
{
    struct service *service = drain->data;

    service->gone = true;
}

/* Continues a shutdown after a job or a client was destroyed. */
static void on_settled(void *context)
{
    struct service *service = context;

    if (service->state == SERVICE_STOPPING && service->jobs.count == 0) {
        service->state = SERVICE_CLOSING;
        uv_timer_stop(&service->drain);
        net_end_clients(&service->net);
    }
    if (service->state == SERVICE_CLOSING && link_empty(&service->net.clients)) {
        service->state = SERVICE_CLOSED;
        jobs_close(&service->jobs);
        net_close(&service->net);
        chores_close(&service->chores);
        uv_close((uv_handle_t *)&service->drain, on_closed);
    }
}

void service_destroy(struct service *service)
{
    size_t left;

    if (!service)
        return;
    /* uv_run() may have returned without a shutdown, because no handle kept the loop alive. */
    service_shutdown(service);
    while (!service->gone)
        uv_run(service->loop, UV_RUN_ONCE);
    left = reaper_stop();
    if (left > 0)
        log_one_uint(LOG_WARNING, "descriptors do not close", "pieces", left);
    dma_pool_give_back();
    jobs_finish(&service->jobs);
    target_board_destroy(service->board);
    net_finish(&service->net);
    free(service);
}
