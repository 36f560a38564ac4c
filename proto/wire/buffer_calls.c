/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/buffer_calls.h"

#include "proto/json/members.h"

static const char *const access_names[] = {"read", "write", NULL};
static const enum buffer_access accesses[] = {BUFFER_ACCESS_READ, BUFFER_ACCESS_WRITE};

static int read_access(const struct json *object, enum buffer_access *access)
{
    struct json value = json_member(object, "access");
    size_t index;

    if (json_choice(&value, access_names, &index) < 0)
        return -1;
    *access = accesses[index];
    return 0;
}

static void write_access(struct jsonw *w, enum buffer_access access)
{
    jsonw_string(w, "access", access_names[access == BUFFER_ACCESS_WRITE]);
}

static int read_size(const struct json *object, uint64_t *size)
{
    struct json value = json_member(object, "size");
    int64_t number;

    if (json_int(&value, 1, MEMBER_MAX, &number) < 0)
        return -1;
    *size = (uint64_t)number;
    return 0;
}

int buffer_register_read(const struct json *params, uint32_t fds, struct buffer_register *call)
{
    static const char *const keys[] = {"fd", "size", "access", NULL};
    struct json fd = json_member(params, "fd"), size = json_member(params, "size");
    struct json access = json_member(params, "access");
    int64_t number;

    *call = (struct buffer_register){0};
    if (params_object(params, keys) < 0 || json_int(&fd, 0, UINT32_MAX, &number) < 0)
        return -1;
    if (number >= fds)
        return json_complain(&fd, "%u given, but the message carries %u descriptors (from 0)",
                             (unsigned)number, fds);
    call->has_size = json_present(&size);
    if (call->has_size && read_size(params, &call->size) < 0)
        return -1;
    return json_present(&access) ? read_access(params, &call->access) : 0;
}

void buffer_register_write(struct jsonw *w, const struct buffer_register *call)
{
    jsonw_uint(w, "fd", 0);
    if (call->has_size)
        jsonw_uint(w, "size", call->size);
    if (call->access != BUFFER_ACCESS_DEFAULT)
        write_access(w, call->access);
}

int buffer_alloc_read(const struct json *params, struct buffer_alloc *call)
{
    static const char *const keys[] = {"size", "memory", "address", NULL};
    struct json address = json_member(params, "address");

    *call = (struct buffer_alloc){0};
    if (params_object(params, keys) < 0 || read_size(params, &call->size) < 0 ||
        memory_name_read(params, call->memory) < 0)
        return -1;
    call->has_address = json_present(&address);
    if (call->has_address && call->memory[0] == '\0')
        return json_complain(&address, "allowed only with \"memory\"");
    return optional_u64(params, "address", &call->address);
}

void buffer_alloc_write(struct jsonw *w, const struct buffer_alloc *call)
{
    jsonw_uint(w, "size", call->size);
    if (call->memory[0] != '\0')
        jsonw_string(w, "memory", call->memory);
    if (call->has_address)
        jsonw_uint(w, "address", call->address);
}

static void write_rest(struct jsonw *w, const struct buffer_info *info)
{
    jsonw_uint(w, "size", info->size);
    write_access(w, info->access);
    jsonw_bool(w, "sealed", info->sealed);
    if (info->memory[0] == '\0')
        return;
    jsonw_string(w, "memory", info->memory);
    jsonw_uint(w, "address", info->address);
}

void buffer_info_write_members(struct jsonw *w, const struct buffer_info *info)
{
    jsonw_uint(w, "buffer", info->buffer);
    write_rest(w, info);
}

static const char *const kind_names[] = {"registered", "allocated", NULL};

void buffer_info_write_item(struct jsonw *w, const struct buffer_info *info)
{
    jsonw_object_begin(w, NULL);
    jsonw_uint(w, "buffer", info->buffer);
    jsonw_string(w, "kind", kind_names[info->allocated]);
    write_rest(w, info);
    jsonw_uint(w, "jobs", info->jobs);
    jsonw_uint(w, "prepared", info->prepared);
    jsonw_object_end(w);
}

int buffer_info_read(const struct json *value, struct buffer_info *info)
{
    struct json buffer = json_member(value, "buffer"), kind = json_member(value, "kind");
    size_t index;
    int64_t number;

    *info = (struct buffer_info){0};
    if (json_object(value, NULL) < 0 || json_int(&buffer, 1, UINT32_MAX, &number) < 0 ||
        member_u64(value, "size", &info->size) < 0 || read_access(value, &info->access) < 0 ||
        member_bool(value, "sealed", &info->sealed) < 0)
        return -1;
    info->buffer = (uint32_t)number;
    if (memory_name_read(value, info->memory) < 0 ||
        (info->memory[0] != '\0' && member_u64(value, "address", &info->address) < 0))
        return -1;
    if (!json_present(&kind))
        return 0;
    if (json_choice(&kind, kind_names, &index) < 0 || member_u32(value, "jobs", &info->jobs) < 0 ||
        member_u32(value, "prepared", &info->prepared) < 0)
        return -1;
    info->allocated = index == 1;
    return 0;
}
