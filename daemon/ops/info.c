/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/ops/info.h"

#include <stdio.h>
#include <unistd.h>

#include "daemon/ops/drain.h"
#include "daemon/service_state.h"
#include "mli_helpers_api.h"
#include "mli_mov_api.h"
#include "proto/wire/build_id.h"
#include "proto/wire/hello.h"

enum { NS_PER_MS = 1000 * 1000 };

void info_fill(struct daemon_info *info, const struct service *service)
{
    const struct config *config = &service->config;

    *info = (struct daemon_info){
        .protocol = PROTO_VERSION,
        .phase = drain_phase(service),
        .pid = (uint32_t)getpid(),
        .uptime_ms = (uv_hrtime() - service->started) / NS_PER_MS,
        .channels = config->channels,
        .channels_busy = channels_count(service->channels.busy),
        .channels_quarantined = channels_count(service->channels.quarantined),
        .channel_offset = config->channel_offset,
        .clients = slots_used(&service->slots),
        .clients_max = config->clients,
        .jobs_queued = service->jobs - service->running,
        .jobs_running = service->running,
        .jobs_per_client_max = config->jobs_per_client,
        .jobs_done = service->totals.done,
        .jobs_failed = service->totals.failed + service->totals.cancelled + service->totals.refused,
        .bytes_moved = service->totals.bytes_moved,
    };
    snprintf(info->version, sizeof info->version, "%s", mli_version());
    snprintf(info->build, sizeof info->build, "%s", build_id());
    snprintf(info->engine, sizeof info->engine, "%s", mli_mov_engine_name());
}
