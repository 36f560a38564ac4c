/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job_cfg.h"

#include <stdio.h>

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

    /* No field holds a negative number, so signed and unsigned ones look alike. */
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

static uint8_t get_length(const struct job *job, const struct field *field)
{
    return ((const uint8_t *)&job->lengths)[field->length_at];
}

static int read_field(struct job *job, const struct json *cfg, const struct field *field)
{
    struct json array = json_member(cfg, field->name), item = {0};
    size_t count;
    int64_t number;

    if (!json_present(&array))
        return 0;
    if (json_array(&array, &count) < 0)
        return -1;
    if (count > MLI_MAX_RANK)
        return json_complain(&array, "%zu entries given, at most %d allowed", count, MLI_MAX_RANK);
    while (json_next(&array, &item)) {
        if (json_int(&item, field->min, field->max, &number) < 0)
            return -1;
        store(&job->cfg, field, item.index, number);
    }
    *length_of(&job->lengths, field) = (uint8_t)count;
    return 0;
}

int job_cfg_read(struct job *job, const struct json *cfg)
{
    static const char *const keys[] = {"offset",     "size",           "sub_sample_step",
                                       "perm_dim",   "padding_pre",    "padding_post",
                                       "dst_offset", "dst_mem_stride", NULL};

    if (!json_present(cfg))
        return 0;
    if (json_object(cfg, keys) < 0)
        return -1;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (read_field(job, cfg, &fields[i]) < 0)
            return -1;
    }
    return 0;
}

void job_cfg_write(struct jsonw *w, const struct job *job)
{
    bool open = false;

    for (size_t i = 0; i < FIELD_COUNT; i++) {
        size_t count = get_length(job, &fields[i]);

        if (count == 0)
            continue;
        if (!open)
            jsonw_object_begin(w, "cfg");
        open = true;
        jsonw_array_begin(w, fields[i].name);
        for (size_t k = 0; k < count; k++)
            jsonw_int(w, NULL, load(&job->cfg, &fields[i], k));
        jsonw_array_end(w);
    }
    if (open)
        jsonw_object_end(w);
}

int job_cfg_check(const struct job *job, uint32_t rank, struct fault *fault)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        uint32_t count = get_length(job, &fields[i]);
        char pointer[40];

        snprintf(pointer, sizeof pointer, "/cfg/%s", fields[i].name);
        if (count == 0)
            continue;
        if (job->op == JOB_OP_PERMUTE && fields[i].at != offsetof(mli_mov_cfg_t, perm_dim))
            return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                             "cfg.%s: a permute takes perm_dim only; use \"op\": \"mov\"",
                             fields[i].name);
        if (rank != 0 && count != rank)
            return fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                             "cfg.%s: %u entries given, the source has %u dimensions",
                             fields[i].name, count, rank);
    }
    return 0;
}
