/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job_common.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/members.h"
#include "proto/wire/job_ref.h"
#include "proto/wire/wire_limits.h"

/* The object "cfg": eight arrays, read and written with one table. */

#define FIELD(field, minimum, maximum)                                                             \
    {                                                                                              \
        .name = #field, .at = offsetof(mli_mov_cfg_t, field),                                      \
        .length_at = offsetof(struct cfg_lengths, field),                                          \
        .size = sizeof(((const mli_mov_cfg_t *)0)->field[0]), .min = (minimum), .max = (maximum)   \
    }

/* To add a field of mli_mov_cfg_t, add it here and to struct cfg_lengths. */
static const struct field {
    const char *name;
    size_t at, length_at, size;
    int64_t min, max;
} fields[] = {
    FIELD(offset, 0, UINT32_MAX),          FIELD(size, 0, UINT32_MAX),
    FIELD(sub_sample_step, 1, UINT32_MAX), FIELD(perm_dim, 0, MLI_MAX_RANK - 1),
    FIELD(padding_pre, 0, UINT8_MAX),      FIELD(padding_post, 0, UINT8_MAX),
    FIELD(dst_offset, 0, UINT32_MAX),      FIELD(dst_mem_stride, 0, INT32_MAX),
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static void store(mli_mov_cfg_t *cfg, const struct field *field, size_t index, int64_t number)
{
    char *array = (char *)cfg + field->at;

    /* The numbers are not negative, so signed and unsigned fields have the same representation. */
    if (field->size == 1)
        ((uint8_t *)array)[index] = (uint8_t)number;
    else
        ((uint32_t *)(void *)array)[index] = (uint32_t)number;
}

static int64_t load(const mli_mov_cfg_t *cfg, const struct field *field, size_t index)
{
    const char *array = (const char *)cfg + field->at;

    if (field->size == 1)
        return ((const uint8_t *)array)[index];
    return ((const uint32_t *)(const void *)array)[index];
}

static uint8_t *length_of(struct cfg_lengths *lengths, const struct field *field)
{
    return (uint8_t *)lengths + field->length_at;
}

static uint8_t get_length(const struct job_common *common, const struct field *field)
{
    return ((const uint8_t *)&common->lengths)[field->length_at];
}

static int read_field(struct job_common *common, const struct json *cfg, const struct field *field)
{
    struct json array = json_member(cfg, field->name), item = {0};
    size_t count;
    int64_t number;

    if (!json_present(&array))
        return 0;
    if (array_within(&array, MLI_MAX_RANK, &count) < 0)
        return -1;
    while (json_next(&array, &item)) {
        if (json_int(&item, field->min, field->max, &number) < 0)
            return -1;
        store(&common->cfg, field, item.index, number);
    }
    *length_of(&common->lengths, field) = (uint8_t)count;
    return 0;
}

static int read_cfg(struct job_common *common, const struct json *cfg)
{
    static const char *const keys[] = {"offset",     "size",           "sub_sample_step",
                                       "perm_dim",   "padding_pre",    "padding_post",
                                       "dst_offset", "dst_mem_stride", NULL};

    if (!json_present(cfg))
        return 0;
    if (json_object(cfg, keys) < 0)
        return -1;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (read_field(common, cfg, &fields[i]) < 0)
            return -1;
    }
    return 0;
}

static void write_cfg(struct jsonw *w, const struct job_common *common)
{
    bool open = false;

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t count = get_length(common, &fields[i]);

        if (count == 0)
            continue;
        if (!open)
            jsonw_object_begin(w, "cfg");
        open = true;
        jsonw_array_begin(w, fields[i].name);
        for (size_t k = 0; k < count; k++)
            jsonw_int(w, NULL, load(&common->cfg, &fields[i], k));
        jsonw_array_end(w);
    }
    if (open)
        jsonw_object_end(w);
}

static int check_cfg(const struct job_common *common, uint32_t rank, struct fault *fault)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        uint32_t count = get_length(common, &fields[i]);
        char pointer[40];

        snprintf(pointer, sizeof pointer, "/cfg/%s", fields[i].name);
        if (count == 0)
            continue;
        if (common->op == JOB_OP_PERMUTE && fields[i].at != offsetof(mli_mov_cfg_t, perm_dim))
            return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                             "cfg.%s: a permute takes perm_dim only; use \"op\": \"mov\"",
                             fields[i].name);
        if (rank != 0 && count != rank)
            return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                             "cfg.%s: %u entries given, but the source has %u dimensions",
                             fields[i].name, count, rank);
    }
    return 0;
}

/* All members of struct job_common. */

void job_common_init(struct job_common *common)
{
    *common = (struct job_common){.channels = 1};
    mli_mov_cfg_for_copy(&common->cfg);
}

void job_common_finish(struct job_common *common)
{
    free(common->name);
    job_common_init(common);
}

static const char *const op_names[] = {"mov", "permute", NULL};
static const enum job_op ops[] = {JOB_OP_MOV, JOB_OP_PERMUTE};

static int read_op(struct job_common *common, const struct json *object)
{
    struct json op = json_member(object, "op");
    size_t index;

    if (!json_present(&op))
        return 0;
    if (json_choice(&op, op_names, &index) < 0)
        return -1;
    common->op = ops[index];
    return 0;
}

int job_common_read(struct job_common *common, const struct json *object)
{
    struct json defaults, cfg = json_member_merged(object, "cfg", &defaults);
    struct json name = json_member(object, "name");
    int64_t channels = common->channels, priority = common->priority,
            timeout_ms = common->timeout_ms;

    if (read_op(common, object) < 0 || read_cfg(common, &cfg) < 0)
        return -1;
    if (json_present(&name) && job_name_read(&name, &common->name) < 0)
        return -1;
    if (optional_int(object, "channels", 1, MLI_MOV_MAX_CHANNELS, &channels) < 0 ||
        optional_int(object, "priority", -1, 1, &priority) < 0 ||
        optional_int(object, "timeout_ms", 0, JOB_TIMEOUT_MAX_MS, &timeout_ms) < 0)
        return -1;
    common->channels = (uint32_t)channels;
    common->priority = (int32_t)priority;
    common->timeout_ms = (uint32_t)timeout_ms;
    return 0;
}

void job_common_write(struct jsonw *w, const char *name, const struct job_common *common)
{
    for (size_t i = 0; op_names[i]; i++) {
        if (ops[i] == common->op)
            jsonw_string(w, "op", op_names[i]);
    }
    if (name)
        jsonw_string(w, "name", name);
    write_cfg(w, common);
    if (common->channels != 1)
        jsonw_uint(w, "channels", common->channels);
    if (common->priority != 0)
        jsonw_int(w, "priority", common->priority);
    if (common->timeout_ms != 0)
        jsonw_uint(w, "timeout_ms", common->timeout_ms);
}

int job_check_dst(const struct tensor_desc *src, const struct tensor_desc *dst,
                  const struct json *object)
{
    struct tensor_desc typed = *dst;

    typed.has_type = src->has_type;
    typed.type = src->type;
    return tensor_desc_check_at(&typed, object);
}

void job_common_set_lengths(struct job_common *common, uint32_t rank)
{
    const mli_mov_cfg_t *cfg = &common->cfg;
    struct cfg_lengths *lengths = &common->lengths;

    for (uint32_t d = 0; d < rank; d++) {
        if (cfg->offset[d] != 0)
            lengths->offset = (uint8_t)rank;
        if (cfg->size[d] != 0)
            lengths->size = (uint8_t)rank;
        if (cfg->sub_sample_step[d] != 1)
            lengths->sub_sample_step = (uint8_t)rank;
        if (cfg->dst_offset[d] != 0)
            lengths->dst_offset = (uint8_t)rank;
        if (cfg->perm_dim[d] != d)
            lengths->perm_dim = (uint8_t)rank;
        if (cfg->padding_pre[d] != 0)
            lengths->padding_pre = (uint8_t)rank;
        if (cfg->padding_post[d] != 0)
            lengths->padding_post = (uint8_t)rank;
    }
}

int job_check_rank(const struct job_common *common, const struct tensor_desc *dst, uint32_t rank,
                   struct fault *fault)
{
    if (check_cfg(common, rank, fault) < 0)
        return -1;
    if (rank == 0)
        return 0;
    if (dst->rank != 0 && dst->rank != rank)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/shape",
                         "dst.shape: %u entries given, but the source has %u dimensions", dst->rank,
                         rank);
    if (dst->has_strides && dst->stride_count != 0 && dst->stride_count != rank)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/strides",
                         "dst.strides: %u entries given, but the source has %u dimensions",
                         dst->stride_count, rank);
    return 0;
}

int memory_name_read(const struct json *object, char out[MEMORY_NAME_MAX])
{
    return memory_member_read(object, "memory", out);
}

int memory_member_read(const struct json *object, const char *key, char out[MEMORY_NAME_MAX])
{
    struct json value = json_member(object, key);
    const char *name;

    memset(out, 0, MEMORY_NAME_MAX);
    if (!json_present(&value))
        return 0;
    if (json_string(&value, MEMORY_NAME_MAX - 1, &name) < 0)
        return -1;
    memcpy(out, name, strlen(name) + 1);
    return 0;
}
