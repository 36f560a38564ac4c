/* SPDX-License-Identifier: BSD-3-Clause */
#include "info.h"

#include <stdio.h>
#include <unistd.h>

#include "hello.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "state.h"

enum { NS_PER_MS = 1000 * 1000 };

void info_fill(struct daemon_info *info, const struct service *service)
{
    const struct config *config = &service->config;

    *info = (struct daemon_info){
        .protocol = PROTO_VERSION,
        .pid = (uint32_t)getpid(),
        .uptime_ms = (uv_hrtime() - service->started) / NS_PER_MS,
        .channels = config->channels,
        .channels_busy = service->channels_busy,
        .channel_offset = config->channel_offset,
        .clients = service->client_count,
        .clients_max = config->clients,
        .jobs_queued = service->queue.length,
        .jobs_running = service->running,
        .jobs_per_client_max = config->jobs_per_client,
        .jobs_done = service->jobs_done,
        .jobs_failed = service->jobs_failed,
        .bytes_moved = service->bytes_moved,
    };
    snprintf(info->version, sizeof info->version, "%s", mli_version());
    snprintf(info->engine, sizeof info->engine, "%s", mli_mov_engine_name());
}
