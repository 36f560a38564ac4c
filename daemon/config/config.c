/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/config/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>

#include "daemon/base/uid.h"
#include "daemon/config/address.h"
#include "daemon/memory/sigbus.h"
#include "mli_mov_api.h"
#include "proto/wire/rpc.h"
#include "proto/wire/wire_limits.h"

/* Reads `object` into *access. Returns 0, or -1 with *object->fault filled. */
static int access_read(const struct json *object, struct access *access)
{
    static const char *const keys[] = {"uids", NULL};
    struct json uids, item = {0};
    size_t count;

    if (json_object(object, keys) < 0)
        return -1;
    memset(access, 0, sizeof *access);
    uids = json_member(object, "uids");
    if (!json_present(&uids))
        return 0;
    if (json_array(&uids, &count) < 0)
        return -1;
    if (count > ACCESS_UIDS_MAX)
        return json_complain(&uids, "at most %d are allowed", ACCESS_UIDS_MAX);
    access->restricted = true;
    while (json_next(&uids, &item)) {
        int64_t uid;

        if (json_int(&item, 0, UINT32_MAX - 1, &uid) < 0)
            return -1;
        access->uids[access->count++] = (uint32_t)uid;
    }
    return 0;
}

bool access_allows(const struct access *access, uint32_t uid)
{
    if (!access->restricted || uid_is_master(uid))
        return true;
    for (uint32_t i = 0; i < access->count; i++)
        if (access->uids[i] == uid)
            return true;
    return false;
}

const struct member quota_members[] = {
    NUMBER(struct quota, clients, "clients", 1, 4096, QUOTA_SHARE),
    NUMBER(struct quota, jobs, "jobs", 1, 16384, QUOTA_SHARE),
    NUMBER(struct quota, buffer_bytes, "buffer_bytes", 0, (INT64_C(1) << 53) - 1, -1),
    NUMBER(struct quota, memory_percent, "memory_percent", 1, 100, 100),
    NUMBER(struct quota, reply_bytes, "reply_bytes", 1 << 20, (INT64_C(1) << 53) - 1, 16 << 20),
    NUMBER(struct quota, weight, "weight", 1, 100, 1),
    NUMBER(struct quota, max_priority, "max_priority", -1, 1, QUOTA_BY_USER),
    {0},
};

static const char standard_key[] = "default";

/* Sets the default quota, and no users. */
static void quotas_default(struct quotas *quotas)
{
    memset(quotas, 0, sizeof *quotas);
    members_default(&quotas->standard, quota_members);
}

static int read_user(const struct json *member, struct quotas *quotas)
{
    struct quota quota = quotas->standard;
    uint32_t uid;

    if (uid_parse(member->key, &uid) < 0)
        return json_complain(member, "\"default\" or the number of a user is required");
    for (uint32_t i = 0; i < quotas->count; i++)
        if (quotas->uids[i] == uid)
            return json_complain(member, "is given twice");
    if (quotas->count == QUOTA_USERS_MAX)
        return json_complain(member, "at most %d users are allowed", QUOTA_USERS_MAX);
    if (members_read_closed(&quota, quota_members, member) < 0)
        return -1;
    quotas->uids[quotas->count] = uid;
    quotas->users[quotas->count++] = quota;
    return 0;
}

/*
 * Reads {"default": {...}, "1000": {...}}. If the object of a user lacks a number, the number of
 * "default" applies; if "default" lacks it too, the built-in default applies. Replaces *quotas.
 * Returns 0, or -1 with the fault of `object` filled.
 */
static int quotas_read(const struct json *object, struct quotas *quotas)
{
    struct json member = {0}, standard;
    bool seen = false;

    if (!json_is_object(object))
        return json_complain(object, "an object is required");
    quotas_default(quotas);
    standard = json_member(object, standard_key);
    if (members_read_closed(&quotas->standard, quota_members, &standard) < 0)
        return -1;
    while (json_next(object, &member)) {
        if (strcmp(member.key, standard_key) != 0) {
            if (read_user(&member, quotas) < 0)
                return -1;
        } else if (seen) {
            return json_complain(&member, "is given twice");
        } else {
            seen = true;
        }
    }
    return 0;
}

/* Returns the quota of a user, which points into *quotas. */
static const struct quota *quotas_of(const struct quotas *quotas, uint32_t uid)
{
    for (uint32_t i = 0; i < quotas->count; i++)
        if (quotas->uids[i] == uid)
            return &quotas->users[i];
    return &quotas->standard;
}

bool quota_allows(uint32_t quota, uint32_t own, uint32_t total, uint32_t limit)
{
    if (total >= limit)
        return false;
    if (quota != QUOTA_SHARE)
        return own < quota;
    return uid_share_allows(own, total, limit);
}

/* These keys cannot change: sockets are bound, channels are taken, and the process has given up the
 * rights to bind other sockets or take other channels. */
static const struct {
    const char *key;
    size_t at, size;
} fixed[] = {
#define FIXED(key)                                                                                 \
    {                                                                                              \
#key, offsetof(struct config, key), sizeof(((struct config *)0)->key)                      \
    }
    FIXED(socket),   FIXED(socket_mode), FIXED(socket_group), FIXED(user),   FIXED(channel_offset),
    FIXED(channels), FIXED(engine),      FIXED(profile),      FIXED(tuning), FIXED(trace),
#undef FIXED
};

unsigned reload_keep(const struct config *live, struct config *fresh)
{
    unsigned count = 0;

    if (!live->channels_given &&
        !fresh->channels_given) /* the file of the profile may have changed */
        fresh->channels = live->channels;
    for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++) {
        const char *old = (const char *)live + fixed[i].at;
        char *new = (char *)fresh + fixed[i].at;

        if (memcmp(old, new, fixed[i].size) ==
            0) /* compare all bytes: texts are padded with zeros */
            continue;
        memcpy(new, old, fixed[i].size);
        count++;
        log_one_text(LOG_WARNING, "cannot change while the service runs", "key", fixed[i].key);
    }
    return count;
}

enum { MS_MAX = 60 * 60 * 1000, CHANNELS_DEFAULT = 4 };
#define BYTES_MAX ((INT64_C(1) << 53) - 1)

/*
 * Linux allows a process 65530 mappings. Each job has two. The default of `mappings` is less than
 * half of 65530, because a file that shrinks splits its mapping in two.
 */
static const struct member limit_members[] = {
    NUMBER(struct config, clients, "clients", 1, 4096, 64),
    NUMBER(struct config, clients_reserved, "clients_reserved", 0, 1024, 4),
    NUMBER(struct config, jobs_per_client, "jobs_per_client", 1, 16384, 256),
    NUMBER(struct config, jobs, "jobs", 1, 16384, 1024),
    NUMBER(struct config, job_bytes, "job_bytes", 1, BYTES_MAX, INT64_C(4) << 30),
    NUMBER(struct config, buffers_per_client, "buffers_per_client", 0, 4096, 64),
    NUMBER(struct config, buffer_bytes_per_client, "buffer_bytes_per_client", 0, BYTES_MAX,
           INT64_C(4) << 30),
    NUMBER(struct config, prepared_per_client, "prepared_per_client", 0, 16384, 256),
    NUMBER(struct config, mappings, "mappings", 8, SIGBUS_GUARDS_MAX, 30000),
    NUMBER(struct config, history, "history", 0, 65536, 1024),
    NUMBER(struct config, line_timeout_ms, "line_timeout_ms", 0, MS_MAX, 10000),
    NUMBER(struct config, reply_timeout_ms, "reply_timeout_ms", 0, MS_MAX, 60000),
    {0},
};

static const struct member scheduling_members[] = {
    NUMBER(struct config, scheduling.ageing_ms, "ageing_ms", 0, MS_MAX, 500),
    NUMBER(struct config, scheduling.quantum_bytes, "quantum_bytes", 4096, 1 << 30, 1 << 20),
    {0},
};

static const struct member watchdog_members[] = {
    NUMBER(struct config, watchdog.limit_ms, "limit_ms", 0, MS_MAX, 10000),
    NUMBER(struct config, watchdog.bytes_per_second, "bytes_per_second", 1, BYTES_MAX,
           10 * 1000 * 1000),
    NUMBER(struct config, watchdog.quarantine_ms, "quarantine_ms", 0, MS_MAX, 60000),
    {0},
};

static const char *const log_level_names[] = {"error", "warning", "info", "debug", NULL};
static const int log_levels[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};
static const char *const log_format_names[] = {"text", "json",
                                               NULL}; /* indexed by enum log_format */

#define TEXT(key) MEMBER(struct config, key, #key, KIND_TEXT, .optional = true)
#define BOOL(key) MEMBER(struct config, key, #key, KIND_BOOL, .optional = true)
#define OTHER(name)                                                                                \
    {                                                                                              \
        .key = (name), .kind = KIND_OTHER                                                          \
    }
const struct member config_members[] = {
    OTHER(JSON_SCHEMA_KEY),
    TEXT(socket),
    OTHER("socket_mode"),
    TEXT(socket_group),
    TEXT(user),
    NUMBER(struct config, channel_offset, "channel_offset", 0, MLI_MOV_MAX_CHANNELS - 1, 0),
    NUMBER(struct config, channels, "channels", 0, MLI_MOV_MAX_CHANNELS, 0),
    TEXT(engine),
    TEXT(profile),
    TEXT(tuning),
    OTHER("access"),
    {"limits", KIND_OBJECT, true, true, .members = limit_members},
    OTHER("quotas"),
    {"scheduling", KIND_OBJECT, true, true, .members = scheduling_members},
    {"watchdog", KIND_OBJECT, true, true, .members = watchdog_members},
    NUMBER(struct config, drain_ms, "drain_ms", 0, MS_MAX, 10000),
    OTHER("log_level"),
    MEMBER(struct config, log_format, "log_format", KIND_WORD, .words = log_format_names,
           .optional = true),
    OTHER("metrics"),
    TEXT(trace),
    BOOL(refuse_sparse),
    BOOL(memory_only),
    {0},
};

void config_defaults(struct config *config)
{
    memset(config, 0, sizeof *config);
    config->socket_mode = 0600;
    config->log_level = LOG_INFO;
    quotas_default(&config->quotas);
    members_default(config, config_members);
    config->channels = CHANNELS_DEFAULT;
}

static int read_mode(struct config *config, const struct json *root)
{
    struct json value = json_member(root, "socket_mode");
    const char *text;

    if (!json_present(&value))
        return 0;
    if (json_string(&value, 4, &text) < 0)
        return -1;
    if (strlen(text) < 3 || text[strspn(text, "01234567")] != '\0' || strtoul(text, NULL, 8) > 0777)
        return json_complain(&value, "octal digits from \"0000\" to \"0777\" are required");
    config->socket_mode = (uint32_t)strtoul(text, NULL, 8);
    return 0;
}

int config_set_log_level(struct config *config, const char *name)
{
    for (size_t i = 0; log_level_names[i]; i++) {
        if (strcmp(name, log_level_names[i]) == 0) {
            config->log_level = log_levels[i];
            return 0;
        }
    }
    return -1;
}

int config_set_log_format(struct config *config, const char *name)
{
    for (size_t i = 0; log_format_names[i]; i++) {
        if (strcmp(name, log_format_names[i]) == 0) {
            config->log_format = (enum log_format)i;
            return 0;
        }
    }
    return -1;
}

static int read_log_level(struct config *config, const struct json *root)
{
    struct json level = json_member(root, "log_level");
    size_t index;

    if (!json_present(&level))
        return 0;
    if (json_choice(&level, log_level_names, &index) < 0)
        return -1;
    config->log_level = log_levels[index];
    return 0;
}

static int read_metrics(struct config *config, const struct json *root)
{
    static const struct member members[] = {
        MEMBER(struct config, metrics, "listen", KIND_TEXT, .optional = true), {0}};
    struct json metrics = json_member(root, "metrics"), listen = json_member(&metrics, "listen");
    struct address address;
    char complaint[ADDRESS_COMPLAINT_MAX];

    if (members_read_closed(config, members, &metrics) < 0)
        return -1;
    if (!json_present(&listen) || config->metrics[0] == '\0' ||
        address_parse(config->metrics, &address, complaint) == 0)
        return 0;
    return json_complain(&listen, "%s", complaint);
}

static int read_root(struct config *config, const struct json *root)
{
    struct json channels = json_member(root, "channels"), access = json_member(root, "access");
    struct json quotas = json_member(root, "quotas");

    if (members_read_closed(config, config_members, root) < 0 || json_check_schema(root) < 0 ||
        read_mode(config, root) < 0 ||
        (json_present(&access) && access_read(&access, &config->access) < 0) ||
        (json_present(&quotas) && quotas_read(&quotas, &config->quotas) < 0) ||
        read_log_level(config, root) < 0 || read_metrics(config, root) < 0)
        return -1;
    config->channels_given = json_present(&channels) && config->channels > 0;
    if (config->channels == 0)
        config->channels = CHANNELS_DEFAULT;
    return config_check(config, root->fault);
}

int config_read(struct config *config, const char *text, size_t length, struct fault *fault)
{
    struct config changed = *config;
    struct json root;
    int result;

    if (json_file_parse(text, length, &rpc_request_limits, &root, fault) < 0)
        return -1;
    result = read_root(&changed, &root);
    json_free(&root);
    if (result == 0)
        *config = changed;
    return result;
}

int config_check(const struct config *config, struct fault *fault)
{
    if (config->channels <= MLI_MOV_MAX_CHANNELS - config->channel_offset)
        return 0;
    return fault_set(
        fault, FAULT_INVALID_PARAMS, "/channels",
        "channels: %" PRIu32 " given; at most %" PRIu32 " fit behind channel_offset %" PRIu32,
        config->channels, MLI_MOV_MAX_CHANNELS - config->channel_offset, config->channel_offset);
}

int config_load(struct config *config, const char *path, struct fault *fault)
{
    char *text;
    size_t length;
    int result = json_file_read(path, PROTO_LINE_MAX, &text, &length, fault);

    if (result == 0) {
        result = config_read(config, text, length, fault);
        free(text);
    }
    if (result < 0)
        json_file_name(fault, path);
    return result;
}

void config_default_socket(struct config *config)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    int length;

    if (config->socket[0] != '\0')
        return;
    if (runtime && runtime[0] == '/') {
        length = snprintf(config->socket, sizeof config->socket, "%s/mlid.sock", runtime);
        if (length > 0 && (size_t)length < sizeof config->socket)
            return;
        memset(config->socket, 0, sizeof config->socket);
    }
    snprintf(config->socket, sizeof config->socket, "/run/mlid.sock");
}

const struct quota *config_quota(const struct config *config, uint32_t uid)
{
    return quotas_of(&config->quotas, uid);
}
