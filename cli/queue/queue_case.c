/* SPDX-License-Identifier: BSD-3-Clause */
/* Encodes cases as bytes, and frees the lists that redis.c fills. */
#include "cli/queue/queue.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void queue_case_finish(struct queue_case *item)
{
    free(item->name);
    free(item->path);
    *item = (struct queue_case){0};
}

char *queue_record_write(const struct queue_case *item, size_t *length)
{
    const size_t name = strlen(item->name) + 1, path = strlen(item->path);
    const size_t head = QUEUE_INPUTS_DIGITS + 1;
    char *bytes = malloc(head + name + path + 1);

    if (!bytes)
        return NULL;
    snprintf(bytes, head + 1, "%016" PRIx64 " ", item->inputs);
    memcpy(bytes + head, item->name, name);
    memcpy(bytes + head + name, item->path, path + 1);
    *length = head + name + path;
    return bytes;
}

static int read_inputs(const char *bytes, size_t length, uint64_t *inputs)
{
    char digits[QUEUE_INPUTS_DIGITS + 1] = "";

    if (length < QUEUE_INPUTS_DIGITS + 1 || bytes[QUEUE_INPUTS_DIGITS] != ' ')
        return -1;
    memcpy(digits, bytes, QUEUE_INPUTS_DIGITS);
    *inputs = strtoull(digits, NULL, 16);
    return strspn(digits, "0123456789abcdef") == QUEUE_INPUTS_DIGITS ? 0 : -1;
}

enum queue_record_fault queue_record_read(const char *bytes, size_t length, struct queue_case *item)
{
    uint64_t inputs;

    if (read_inputs(bytes, length, &inputs))
        return RECORD_INVALID;
    const char *name = bytes + QUEUE_INPUTS_DIGITS + 1, *end = bytes + length;
    const char *zero = memchr(name, '\0', (size_t)(end - name));
    if (!zero || zero == name || zero + 1 == end ||
        memchr(zero + 1, '\0', (size_t)(end - zero - 1)))
        return RECORD_INVALID;
    *item = (struct queue_case){.name = strdup(name),
                                .path = strndup(zero + 1, (size_t)(end - zero - 1)),
                                .inputs = inputs};
    if (item->name && item->path)
        return RECORD_GOOD;
    queue_case_finish(item);
    return RECORD_NO_MEMORY;
}

int queue_path_is_below(const char *path)
{
    if (*path == '/' || *path == '\0')
        return 0;
    for (const char *part = path; part; part = strchr(part, '/') ? strchr(part, '/') + 1 : NULL) {
        if (strncmp(part, "..", 2) == 0 && (part[2] == '/' || part[2] == '\0'))
            return 0;
    }
    return 1;
}

void queue_status_finish(struct queue_status *status)
{
    for (size_t i = 0; i < status->count; i++) {
        free(status->holders[i].name);
        free(status->holders[i].worker);
    }
    free(status->holders);
    *status = (struct queue_status){0};
}

void queue_entries_finish(struct queue_entries *entries)
{
    for (size_t i = 0; i < entries->count; i++) {
        queue_case_finish(&entries->list[i].item);
        free(entries->list[i].result);
    }
    free(entries->list);
    *entries = (struct queue_entries){0};
}
