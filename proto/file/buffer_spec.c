/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/file/buffer_spec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/file/file_limits.h"
#include "proto/json/members.h"
#include "proto/json/nearest.h"
#include "proto/wire/job_ref.h"

void buffer_specs_finish(struct buffer_spec *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(buffers[i].name);
    free(buffers);
}

void buffer_specs_write(struct jsonw *w, const struct buffer_spec *buffers, size_t count)
{
    if (count == 0)
        return;
    jsonw_array_begin(w, "buffers");
    for (size_t i = 0; i < count; i++) {
        const struct buffer_spec *buffer = &buffers[i];
        char address[32];

        jsonw_object_begin(w, NULL);
        jsonw_string(w, "name", buffer->name);
        jsonw_uint(w, "bytes", buffer->bytes);
        if (buffer->memory[0] != '\0')
            jsonw_string(w, "memory", buffer->memory);
        if (buffer->has_address) {
            snprintf(address, sizeof address, "0x%" PRIx64, buffer->address);
            jsonw_string(w, "address", address);
        }
        jsonw_object_end(w);
    }
    jsonw_array_end(w);
}

static int read_bytes(struct buffer_spec *buffer, const struct json *object)
{
    struct json bytes = json_member(object, "bytes");
    int64_t number;

    if (json_int(&bytes, 1, MEMBER_MAX, &number) < 0)
        return -1;
    buffer->bytes = (uint64_t)number;
    return 0;
}

static int read_address(struct buffer_spec *buffer, const struct json *object)
{
    struct json address = json_member(object, "address");

    if (!json_present(&address))
        return 0;
    if (buffer->memory[0] == '\0')
        return json_complain(&address, "allowed only with \"memory\"");
    buffer->has_address = true;
    return address_read(&address, MEMBER_MAX, &buffer->address);
}

static int read_buffer(struct buffer_spec *buffer, const struct json *object)
{
    static const char *const keys[] = {"name", "bytes", "memory", "address", NULL};
    struct json name = json_member(object, "name");

    if (json_object(object, keys) < 0 ||
        member_require(object, "name", "jobs name the buffer") < 0 ||
        job_name_read(&name, &buffer->name) < 0 || read_bytes(buffer, object) < 0 ||
        memory_name_read(object, buffer->memory) < 0)
        return -1;
    return read_address(buffer, object);
}

int buffer_specs_read(const struct json *array, struct buffer_spec **buffers, size_t *count)
{
    struct json item = {0};
    size_t length;

    *buffers = NULL;
    *count = 0;
    if (!json_present(array))
        return 0;
    if (array_within(array, JOB_FILE_BUFFERS_MAX, &length) < 0)
        return -1;
    if (length == 0)
        return 0;
    *buffers = calloc(length, sizeof **buffers);
    if (!*buffers)
        return fault_set(array->fault, FAULT_INTERNAL, NULL, "no memory for %zu buffers", length);
    while (json_next(array, &item)) {
        if (read_buffer(&(*buffers)[(*count)++], &item) < 0)
            return -1;
    }
    return 0;
}

static int by_name(const void *left, const void *right)
{
    const struct buffer_spec *a = *(const struct buffer_spec *const *)left;
    const struct buffer_spec *b = *(const struct buffer_spec *const *)right;
    int order = strcmp(a->name, b->name);

    return order ? order : (a > b) - (a < b);
}

static int check_unique(const struct buffer_index *index, struct fault *fault)
{
    for (size_t i = 1; i < index->count; i++) {
        const struct buffer_spec *buffer = index->sorted[i], *other = index->sorted[i - 1];
        char pointer[FAULT_POINTER_MAX];

        if (strcmp(buffer->name, other->name) != 0)
            continue;
        snprintf(pointer, sizeof pointer, "/buffers/%zu/name", (size_t)(buffer - index->buffers));
        return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                         "name: \"%s\" is already the name of the buffer /buffers/%zu",
                         buffer->name, (size_t)(other - index->buffers));
    }
    return 0;
}

int buffer_index_init(struct buffer_index *index, const struct buffer_spec *buffers, size_t count,
                      struct fault *fault)
{
    *index = (struct buffer_index){.buffers = buffers, .count = count};
    if (count == 0)
        return 0;
    index->sorted = calloc(count, sizeof *index->sorted);
    if (!index->sorted)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for %zu buffers", count);
    for (size_t i = 0; i < count; i++)
        index->sorted[i] = &buffers[i];
    qsort(index->sorted, count, sizeof *index->sorted, by_name);
    return check_unique(index, fault);
}

void buffer_index_finish(struct buffer_index *index)
{
    free(index->sorted);
    *index = (struct buffer_index){0};
}

static int by_key(const void *name, const void *entry)
{
    return strcmp(name, (*(const struct buffer_spec *const *)entry)->name);
}

/* Fills the fault for a name that no buffer has. */
static int complain_name(const struct buffer_index *index, const char *name, struct fault *fault)
{
    const char **names = calloc(index->count + 1, sizeof *names);
    const char *nearest;

    for (size_t i = 0; names && i < index->count; i++)
        names[i] = index->buffers[i].name;
    nearest = names ? nearest_word(name, names) : NULL;
    if (index->count == 0)
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  "\"%s\" given, but the file has no \"buffers\" (in the form {\"buffers\": [...], "
                  "\"jobs\": [...]})",
                  name);
    else if (nearest)
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  "no buffer of this file is named \"%s\"; did you mean \"%s\"?", name, nearest);
    else
        fault_set(fault, FAULT_INVALID_PARAMS, NULL, "no buffer of this file is named \"%s\"",
                  name);
    free(names);
    return -1;
}

int buffer_index_find(const struct buffer_index *index, const char *name, size_t *found,
                      struct fault *fault)
{
    const struct buffer_spec *const *entry =
        index->count > 0 ? bsearch(name, index->sorted, index->count, sizeof *index->sorted, by_key)
                         : NULL;

    if (!entry)
        return complain_name(index, name, fault);
    *found = (size_t)(*entry - index->buffers);
    return 0;
}
