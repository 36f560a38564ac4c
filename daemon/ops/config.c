/* SPDX-License-Identifier: BSD-3-Clause */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "bounds.h"
#include "json.h"
#include "mli_mov_api.h"

enum { MS_MAX = 60 * 60 * 1000 };

/* Numbers of the top level and of "limits". */
static const struct number {
    const char *key;
    size_t at, size;
    int64_t min, max, standard;
} top_numbers[] =
    {
#define NUMBER(key, min, max, standard)                                                            \
    {                                                                                              \
#key, offsetof(struct config, key), sizeof(((struct config *)0)->key), min, max, standard  \
    }
        NUMBER(channel_offset, 0, MLI_MOV_MAX_CHANNELS - 1, 0),
        NUMBER(channels, 1, MLI_MOV_MAX_CHANNELS, 4),
        NUMBER(drain_ms, 0, MS_MAX, 10000),
        {0},
},
  limit_numbers[] = {
      NUMBER(clients, 1, 4096, 64),
      NUMBER(jobs_per_client, 1, 16384, 256),
      NUMBER(jobs, 1, 16384, 1024), /* each has two mappings, of 65530 that Linux allows */
      NUMBER(job_bytes, 1, (INT64_C(1) << 53) - 1, INT64_C(4) << 30),
      NUMBER(line_timeout_ms, 0, MS_MAX, 10000),
      {0},
#undef NUMBER
};

static const char *const log_level_names[] = {"error", "warning", "info", "debug", NULL};
static const int log_levels[] = {LOG_ERR, LOG_WARNING, LOG_INFO, LOG_DEBUG};

static void store(struct config *config, const struct number *number, int64_t value)
{
    char *field = (char *)config + number->at;
    uint32_t narrow = (uint32_t)value;

    if (number->size == sizeof narrow)
        memcpy(field, &narrow, sizeof narrow);
    else
        memcpy(field, &value, sizeof value);
}

void config_defaults(struct config *config)
{
    *config = (struct config){.socket_mode = 0600, .log_level = LOG_INFO};
    for (const struct number *n = top_numbers; n->key; n++)
        store(config, n, n->standard);
    for (const struct number *n = limit_numbers; n->key; n++)
        store(config, n, n->standard);
}

static int read_numbers(struct config *config, const struct number *numbers,
                        const struct json *object)
{
    for (const struct number *n = numbers; n->key; n++) {
        struct json value = json_member(object, n->key);
        int64_t number;

        if (!json_present(&value))
            continue;
        if (json_int(&value, n->min, n->max, &number) < 0)
            return -1;
        store(config, n, number);
    }
    return 0;
}

static int read_socket(struct config *config, const struct json *root)
{
    struct json value = json_member(root, "socket");
    const char *text;

    if (!json_present(&value))
        return 0;
    if (json_text(&value, sizeof config->socket - 1, &text) < 0)
        return -1;
    snprintf(config->socket, sizeof config->socket, "%s", text);
    return 0;
}

static int read_engine(struct config *config, const struct json *root)
{
    struct json value = json_member(root, "engine");
    const char *text;

    if (!json_present(&value))
        return 0;
    if (json_text(&value, sizeof config->engine - 1, &text) < 0)
        return -1;
    snprintf(config->engine, sizeof config->engine, "%s", text);
    return 0;
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
        return json_complain(&value, "octal digits from \"0000\" to \"0777\" are wanted");
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

static int read_log_level(struct config *config, const struct json *root)
{
    struct json value = json_member(root, "log_level");
    size_t index;

    if (!json_present(&value))
        return 0;
    if (json_choice(&value, log_level_names, &index) < 0)
        return -1;
    config->log_level = log_levels[index];
    return 0;
}

static int read_limits(struct config *config, const struct json *root)
{
    static const char *const keys[] = {"clients",   "jobs_per_client", "jobs",
                                       "job_bytes", "line_timeout_ms", NULL};
    struct json limits = json_member(root, "limits");

    if (!json_present(&limits))
        return 0;
    if (json_object(&limits, keys) < 0)
        return -1;
    return read_numbers(config, limit_numbers, &limits);
}

static int read_root(struct config *config, const struct json *root)
{
    static const char *const keys[] = {"socket",   "socket_mode", "channel_offset",
                                       "channels", "engine",      "limits",
                                       "drain_ms", "log_level",   NULL};

    if (json_object(root, keys) < 0 || read_socket(config, root) < 0 ||
        read_mode(config, root) < 0 || read_engine(config, root) < 0 ||
        read_numbers(config, top_numbers, root) < 0 || read_limits(config, root) < 0 ||
        read_log_level(config, root) < 0)
        return -1;
    return config_check(config, root->fault);
}

int config_read(struct config *config, const char *text, size_t length, struct fault *fault)
{
    struct config changed = *config;
    struct json root;
    int result;

    if (json_parse(text, length, &prescan_wire_limits, &root, fault) < 0)
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
        "channels: %" PRIu32 " given, at most %" PRIu32 " fit behind channel_offset %" PRIu32,
        config->channels, MLI_MOV_MAX_CHANNELS - config->channel_offset, config->channel_offset);
}

/* The whole file, or one byte more than is allowed, which the parser then refuses. */
static ssize_t read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t length = 0;
    ssize_t got = 0;

    if (fd < 0)
        return -errno;
    while (length < size && (got = read(fd, text + length, size - length)) > 0)
        length += (size_t)got;
    if (got < 0)
        got = -errno;
    close(fd);
    return got < 0 ? got : (ssize_t)length;
}

/* Puts the file's name, and the place in it where that is known, before the sentence. */
static void name_file(struct fault *fault, const char *path)
{
    struct fault bare = *fault;

    if (bare.line > 0)
        fault_set(fault, bare.code, bare.has_pointer ? bare.pointer : NULL, "%s:%u:%u: %s", path,
                  bare.line, bare.column, bare.text);
    else
        fault_set(fault, bare.code, bare.has_pointer ? bare.pointer : NULL, "%s: %s", path,
                  bare.text);
    fault->line = bare.line;
    fault->column = bare.column;
}

int config_load(struct config *config, const char *path, struct fault *fault)
{
    const size_t size = PROTO_LINE_MAX + 1;
    char *text = malloc(size);
    ssize_t length;
    int result;

    if (!text)
        return fault_set(fault, FAULT_INTERNAL, NULL, "%s: no memory", path);
    length = read_file(path, text, size);
    if (length < 0) {
        result =
            fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", path, strerror((int)-length));
    } else {
        result = config_read(config, text, (size_t)length, fault);
        if (result < 0)
            name_file(fault, path);
    }
    free(text);
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
    }
    snprintf(config->socket, sizeof config->socket, "/run/mlid.sock");
}
