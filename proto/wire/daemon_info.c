/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/members.h"
#include "proto/wire/rpc.h"

/* To add a number to daemon.info, add it here and to struct daemon_info. */
#define INFO_NUMBERS(X)                                                                            \
    X(pid)                                                                                         \
    X(uptime_ms)                                                                                   \
    X(channels)                                                                                    \
    X(channels_busy)                                                                               \
    X(channels_quarantined)                                                                        \
    X(channel_offset)                                                                              \
    X(clients)                                                                                     \
    X(clients_max)                                                                                 \
    X(jobs_queued)                                                                                 \
    X(jobs_running)                                                                                \
    X(jobs_per_client_max)                                                                         \
    X(jobs_done)                                                                                   \
    X(jobs_failed)                                                                                 \
    X(bytes_moved)

void daemon_info_write(struct jsonw *w, const char *key, const struct daemon_info *info)
{
    jsonw_object_begin(w, key);
    jsonw_string(w, "version", info->version);
    if (*info->build)
        jsonw_string(w, "build", info->build);
    jsonw_uint(w, "protocol", info->protocol);
    jsonw_string(w, "state", service_phase_name(info->phase));
    jsonw_string(w, "engine", info->engine);
#define WRITE(name) jsonw_uint(w, #name, info->name);
    INFO_NUMBERS(WRITE)
#undef WRITE
    jsonw_object_end(w);
}

int daemon_info_read(const struct json *result, struct daemon_info *info)
{
    struct json state = json_member(result, "state"), build = json_member(result, "build");
    uint64_t number;

    *info = (struct daemon_info){0};
    if (json_object(result, NULL) < 0 ||
        member_text(result, "version", info->version, sizeof info->version) < 0 ||
        (json_present(&build) &&
         member_text(result, "build", info->build, sizeof info->build) < 0) ||
        member_u32(result, "protocol", &info->protocol) < 0 ||
        service_phase_read(&state, &info->phase) < 0 ||
        member_text(result, "engine", info->engine, sizeof info->engine) < 0)
        return -1;
#define READ(name)                                                                                 \
    if (member_number(result, #name, sizeof info->name, &number) < 0)                              \
        return -1;                                                                                 \
    info->name = (__typeof__(info->name))number;
    INFO_NUMBERS(READ)
#undef READ
    return 0;
}

int daemon_drain_read(const struct json *params, bool *wait)
{
    static const char *const keys[] = {"wait", NULL};

    *wait = true;
    return params_object(params, keys) < 0 ? -1 : optional_bool(params, "wait", wait);
}
