/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "rpc.h"

/* To add a number to daemon.info, add it here and to struct daemon_info. */
#define INFO_NUMBERS(X)                                                                            \
    X(pid)                                                                                         \
    X(uptime_ms)                                                                                   \
    X(channels)                                                                                    \
    X(channels_busy)                                                                               \
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
    jsonw_string(w, "engine", info->engine);
#define WRITE(name) jsonw_uint(w, #name, info->name);
    INFO_NUMBERS(WRITE)
#undef WRITE
    jsonw_object_end(w);
}

static int read_number(const struct json *object, const char *key, size_t size, uint64_t *number)
{
    struct json value = json_member(object, key);
    int64_t read;

    if (json_int(&value, 0, size == sizeof(uint32_t) ? UINT32_MAX : INT64_MAX, &read) < 0)
        return -1;
    *number = (uint64_t)read;
    return 0;
}

static int read_name(const struct json *object, const char *key, char *out, size_t size)
{
    struct json value = json_member(object, key);
    const char *text;

    if (json_text(&value, size - 1, &text) < 0)
        return -1;
    snprintf(out, size, "%s", text);
    return 0;
}

int daemon_info_read(const struct json *result, struct daemon_info *info)
{
#define KEY(name) #name,
    static const char *const keys[] = {"version", "engine", INFO_NUMBERS(KEY) NULL};
#undef KEY
    uint64_t number;

    *info = (struct daemon_info){0};
    if (json_object(result, keys) < 0 ||
        read_name(result, "version", info->version, sizeof info->version) < 0 ||
        read_name(result, "engine", info->engine, sizeof info->engine) < 0)
        return -1;
#define READ(name)                                                                                 \
    if (read_number(result, #name, sizeof info->name, &number) < 0)                                \
        return -1;                                                                                 \
    info->name = (__typeof__(info->name))number;
    INFO_NUMBERS(READ)
#undef READ
    return 0;
}
