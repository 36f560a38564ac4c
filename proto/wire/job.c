/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/fault_object.h"
#include "proto/wire/job.h"

int job_name_read(const struct json *value, char **name)
{
    static const char legal[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:-";
    const char *text;

    if (json_string(value, PROTO_NAME_MAX, &text) < 0)
        return -1;
    if (text[strspn(text, legal)] != '\0')
        return json_complain(value, "a name may contain only A-Z a-z 0-9 _ . : -");
    return json_string_copy(value, PROTO_NAME_MAX, name);
}

bool job_name_is_wire(const char *name)
{
    return name[strspn(name, "0123456789")] != '\0';
}

/* Complains that `value` is a name of digits only. Returns -1. */
static int job_name_complain_digits(const struct json *value)
{
    return json_complain(
        value, "a name must not consist of digits only; write a job's number without quotes");
}

int job_name_read_wire(const struct json *value, char **name)
{
    if (job_name_read(value, name) < 0)
        return -1;
    if (*name && job_name_is_wire(*name))
        return 0;
    free(*name);
    *name = NULL;
    return job_name_complain_digits(value);
}

int job_ref_read(const struct json *value, struct job_ref *ref)
{
    int64_t number;

    *ref = (struct job_ref){0};
    if (json_is_string(value))
        return job_name_read_wire(value, &ref->name);
    if (!json_is_int(value))
        return json_complain(value, "a job's number or its name is required");
    if (json_int(value, 1, MEMBER_MAX, &number) < 0)
        return -1;
    ref->number = (uint64_t)number;
    return 0;
}

void job_ref_finish(struct job_ref *ref)
{
    free(ref->name);
    *ref = (struct job_ref){0};
}

void job_ref_write(struct jsonw *w, const char *key, const struct job_ref *ref)
{
    if (ref->name)
        jsonw_string(w, key, ref->name);
    else
        jsonw_uint(w, key, ref->number);
}

int job_refs_read(const struct json *value, size_t max, struct job_refs *refs)
{
    struct json item = {0};
    size_t count;

    *refs = (struct job_refs){0};
    if (!json_present(value))
        return 0;
    if (array_within(value, max, &count) < 0)
        return -1;
    if (count == 0)
        return 0;
    refs->refs = calloc(count, sizeof *refs->refs);
    if (!refs->refs)
        return fault_set(value->fault, FAULT_INTERNAL, NULL, "no memory for %zu jobs", count);
    while (json_next(value, &item)) {
        if (job_ref_read(&item, &refs->refs[refs->count]) < 0) {
            job_refs_finish(refs);
            return -1;
        }
        refs->count++;
    }
    return 0;
}

void job_refs_finish(struct job_refs *refs)
{
    for (size_t i = 0; i < refs->count; i++)
        job_ref_finish(&refs->refs[i]);
    free(refs->refs);
    *refs = (struct job_refs){0};
}

void job_refs_write(struct jsonw *w, const char *key, const struct job_refs *refs)
{
    jsonw_array_begin(w, key);
    for (size_t i = 0; i < refs->count; i++)
        job_ref_write(w, NULL, &refs->refs[i]);
    jsonw_array_end(w);
}

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
    FIELD(sub_sample_step, 1, UINT32_MAX), FIELD(perm_dim, 0, TENSOR_RANK_MAX - 1),
    FIELD(padding_pre, 0, UINT8_MAX),      FIELD(padding_post, 0, UINT8_MAX),
    FIELD(dst_offset, 0, UINT32_MAX),      FIELD(dst_mem_stride, 0, INT32_MAX),
};

enum { FIELD_COUNT = sizeof fields / sizeof *fields };

static bool is_perm(const struct field *field)
{
    return field->at == offsetof(mli_mov_cfg_t, perm_dim);
}

static void store(struct job_common *common, const struct field *field, size_t index,
                  int64_t number)
{
    char *array = (char *)&common->cfgs[index / MLI_MAX_RANK] + field->at;

    index %= MLI_MAX_RANK;
    /* The numbers are not negative, so signed and unsigned fields have the same representation. */
    if (field->size == 1)
        ((uint8_t *)array)[index] = (uint8_t)number;
    else
        ((uint32_t *)(void *)array)[index] = (uint32_t)number;
}

static int64_t load(const struct job_common *common, const struct field *field, size_t index)
{
    const char *array = (const char *)&common->cfgs[index / MLI_MAX_RANK] + field->at;

    index %= MLI_MAX_RANK;
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

static int read_field(struct job_common *common, const struct json *cfg, const struct field *field,
                      uint32_t rank_max)
{
    struct json array = json_member(cfg, field->name), item = {0};
    const int64_t max = is_perm(field) ? rank_max - 1 : field->max;
    size_t count;
    int64_t number;

    if (!json_present(&array))
        return 0;
    if (array_within(&array, rank_max, &count) < 0)
        return -1;
    while (json_next(&array, &item)) {
        if (json_int(&item, field->min, max, &number) < 0)
            return -1;
        store(common, field, item.index, number);
    }
    *length_of(&common->lengths, field) = (uint8_t)count;
    return 0;
}

static int read_cfg(struct job_common *common, const struct json *cfg, uint32_t rank_max)
{
    static const char *const keys[] = {"offset",     "size",           "sub_sample_step",
                                       "perm_dim",   "padding_pre",    "padding_post",
                                       "dst_offset", "dst_mem_stride", NULL};

    if (!json_present(cfg))
        return 0;
    if (json_object(cfg, keys) < 0)
        return -1;
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        if (read_field(common, cfg, &fields[i], rank_max) < 0)
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
            jsonw_int(w, NULL, load(common, &fields[i], k));
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
        if (common->op == JOB_OP_PERMUTE && !is_perm(&fields[i]))
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

/* Reading and writing struct job_common. */

void job_common_init(struct job_common *common)
{
    *common = (struct job_common){.channels = 1};
    for (uint32_t d = 0; d < TENSOR_RANK_MAX; d += MLI_MAX_RANK)
        mli_mov_cfg_for_copy(&common->cfgs[d / MLI_MAX_RANK]);
    for (uint32_t d = 0; d < TENSOR_RANK_MAX; d++)
        job_cfg(common, perm_dim, d) = (uint8_t)d;
}

void job_common_finish(struct job_common *common)
{
    free(common->name);
    job_common_init(common);
}

static const char *const op_names[] = {"mov", "permute", NULL};

static int read_op(struct job_common *common, const struct json *object)
{
    struct json op = json_member(object, "op");
    size_t index;

    if (!json_present(&op))
        return 0;
    if (json_choice(&op, op_names, &index) < 0)
        return -1;
    common->op = (enum job_op)(JOB_OP_MOV + index);
    return 0;
}

static const struct member common_numbers[] = {
    NUMBER(struct job_common, channels, "channels", 1, MLI_MOV_MAX_CHANNELS, 1),
    NUMBER(struct job_common, priority, "priority", -1, 1, 0),
    NUMBER(struct job_common, timeout_ms, "timeout_ms", 0, JOB_TIMEOUT_MAX_MS, 0),
    {0},
};

int job_common_read(struct job_common *common, const struct json *object, uint32_t rank_max)
{
    struct json defaults, cfg = json_member_merged(object, "cfg", &defaults);
    struct json name = json_member(object, "name");

    if (read_op(common, object) < 0 || read_cfg(common, &cfg, rank_max) < 0)
        return -1;
    if (json_present(&name) && job_name_read(&name, &common->name) < 0)
        return -1;
    return members_read(common, common_numbers, object);
}

void job_common_write(struct jsonw *w, const char *name, const struct job_common *common)
{
    if (common->op != JOB_OP_NONE)
        jsonw_string(w, "op", op_names[common->op - JOB_OP_MOV]);
    if (name)
        jsonw_string(w, "name", name);
    write_cfg(w, common);
    members_write(w, common_numbers, common);
}

int job_check_dst(const struct tensor_desc *src, const struct tensor_desc *dst,
                  const struct json *object)
{
    struct tensor_desc typed = *dst;

    typed.has_type = src->has_type;
    typed.type = src->type;
    return tensor_desc_check_at(&typed, object);
}

int job_preset_params(struct quant *own, const struct quant *given, uint32_t kept,
                      struct fault *fault)
{
    if (given->count == 0)
        return 0;
    if (own->axis < 0)
        return fault_set(
            fault, FAULT_INVALID_PARAMS, "/dst",
            "dst: parameters given, but the result takes those of the source, which are not "
            "per axis: omit the parameters of dst");
    if (given->axis >= 0 && given->axis != own->axis)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst/axis",
                         "dst.axis: %" PRId32
                         " given, but the result's parameters lie along %" PRId32,
                         given->axis, own->axis);
    if (given->axis >= 0 && given->count < kept)
        return fault_set(fault, FAULT_INVALID_PARAMS, "/dst",
                         "dst: %" PRIu32 " parameters given along axis %" PRId32 "; the %" PRIu32
                         " before cfg.dst_offset are needed",
                         given->count, given->axis, kept);
    for (uint32_t i = 0; i < own->count; i++) {
        uint32_t from = given->axis < 0 ? 0 : i;

        if (from >= given->count)
            break;
        own->scale[i] = given->scale[from];
        own->zero_point[i] = given->zero_point[from];
        own->scale_frac_bits[i] = given->scale_frac_bits[from];
    }
    return 0;
}

/* Returns the neutral value of the entry of a field for a dimension. */
static int64_t neutral(const struct field *field, uint32_t dimension)
{
    return is_perm(field) ? dimension : field->min;
}

void job_common_set_lengths(struct job_common *common, uint32_t rank)
{
    for (size_t i = 0; i < FIELD_COUNT; i++) {
        for (uint32_t d = 0; d < rank; d++) {
            if (load(common, &fields[i], d) != neutral(&fields[i], d))
                *length_of(&common->lengths, &fields[i]) = (uint8_t)rank;
        }
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

static const char *const state_names[] = {
#define STATE_NAME(name, word) word,
    JOB_STATE_TABLE(STATE_NAME)
#undef STATE_NAME
        NULL};

const char *job_state_name(enum job_state state)
{
    return state_names[state];
}

int job_states_read(const struct json *array, uint32_t *states)
{
    return words_read(array, state_names, states);
}

void job_states_write(struct jsonw *w, const char *key, uint32_t states)
{
    words_write(w, key, state_names, states);
}

static const struct member brief_members[] = {
    MEMBER_COUNT(struct job_brief, job, "job"),
    MEMBER(struct job_brief, state, "state", KIND_WORD, .words = state_names),
    {0},
};

void job_brief_write_members(struct jsonw *w, const struct job_brief *brief)
{
    members_write(w, brief_members, brief);
}

int job_brief_read(const struct json *value, struct job_brief *brief)
{
    *brief = (struct job_brief){0};
    return members_read_open(brief, brief_members, value);
}

/* All members of struct job_info except the error. */
static const struct member info_members[] = {
#define COUNT(field) MEMBER_COUNT(struct job_info, field, #field)
    COUNT(job),
    MEMBER(struct job_info, name, "name", KIND_TEXT, .optional = true),
    MEMBER(struct job_info, state, "state", KIND_WORD, .words = state_names),
    COUNT(client),
    COUNT(uid),
    MEMBER(struct job_info, priority, "priority", KIND_NUMBER, .min = -1, .max = 1),
    MEMBER(struct job_info, channels, "channels", KIND_NUMBER, .max = MLI_MOV_MAX_CHANNELS),
    NUMBER(struct job_info, first_channel, "first_channel", 0, INT32_MAX, -1),
    COUNT(bytes),
    COUNT(bytes_done),
    MEMBER(struct job_info, detached, "detached", KIND_BOOL, .optional = false),
    COUNT(ns_queued),
    COUNT(ns_moving),
    {0},
#undef COUNT
};

void job_info_write_members(struct jsonw *w, const struct job_info *info)
{
    members_write(w, info_members, info);
    if (info->error)
        fault_object_write(w, "error", info->error, 0);
}

void job_info_write(struct jsonw *w, const char *key, const struct job_info *info)
{
    jsonw_object_begin(w, key);
    job_info_write_members(w, info);
    jsonw_object_end(w);
}

int job_info_read(const struct json *value, struct job_info *info)
{
    struct json error = json_member(value, "error");
    uint64_t nobody;

    *info = (struct job_info){.first_channel = -1};
    if (members_read_open(info, info_members, value) < 0)
        return -1;
    if (!json_present(&error))
        return 0;
    info->error = &info->fault;
    return fault_object_read(&error, &info->fault, &nobody);
}

/* The object "cost" of a result. */
static const struct member cost_members[] = {
    MEMBER_COUNT(struct job_result, bytes, "bytes"),
    MEMBER(struct job_result, channels, "channels", KIND_NUMBER, .max = MLI_MOV_MAX_CHANNELS),
    MEMBER(struct job_result, engine, "engine", KIND_TEXT, .optional = false),
    MEMBER_COUNT(struct job_result, ns_queued, "ns_queued"),
    MEMBER_COUNT(struct job_result, ns_moving, "ns_moving"),
    {0},
};

void job_result_finish(struct job_result *result)
{
    tensor_desc_finish(&result->dst);
    *result = (struct job_result){0};
}

static void write_dst(struct jsonw *w, const struct tensor_desc *dst)
{
    jsonw_object_begin(w, "dst");
    tensor_desc_write(w, dst);
    jsonw_object_end(w);
}

void job_result_write(struct jsonw *w, const char *key, const struct job_result *result)
{
    jsonw_object_begin(w, key);
    if (result->job != 0)
        jsonw_uint(w, "job", result->job);
    if (result->has_dst)
        write_dst(w, &result->dst);
    jsonw_object_begin(w, "cost"); /* written by hand, because the table cost_members is slower */
    jsonw_uint(w, "bytes", result->bytes);
    jsonw_uint(w, "channels", result->channels);
    jsonw_string(w, "engine", result->engine);
    jsonw_uint(w, "ns_queued", result->ns_queued);
    jsonw_uint(w, "ns_moving", result->ns_moving);
    jsonw_object_end(w);
    jsonw_object_end(w);
}

static int read_result_dst(const struct json *dst, struct tensor_desc *desc)
{
    if (json_object(dst, NULL) < 0 || member_require(dst, "type", "a string is required") < 0 ||
        member_require(dst, "shape", "an array is required") < 0)
        return -1;
    return tensor_desc_read(desc, dst);
}

static int read_result(const struct json *value, struct job_result *result)
{
    struct json dst = json_member(value, "dst"), cost = json_member(value, "cost");
    int64_t job = 0;

    if (json_object(value, NULL) < 0 || optional_int(value, "job", 1, MEMBER_MAX, &job) < 0)
        return -1;
    result->job = (uint64_t)job;
    result->has_dst = json_present(&dst);
    if (result->has_dst && read_result_dst(&dst, &result->dst) < 0)
        return -1;
    return members_read_open(result, cost_members, &cost);
}

int job_result_read(const struct json *value, struct job_result *result)
{
    *result = (struct job_result){0};
    if (read_result(value, result) == 0)
        return 0;
    job_result_finish(result);
    return -1;
}

void job_prepared_finish(struct job_prepared *prepared)
{
    tensor_desc_finish(&prepared->dst);
    *prepared = (struct job_prepared){0};
}

static const struct member prepared_members[] = {
    MEMBER(struct job_prepared, prepared, "prepared", KIND_NUMBER, .min = 1, .max = UINT32_MAX),
    MEMBER_COUNT(struct job_prepared, bytes, "bytes"),
    {0},
};

void job_prepared_write_members(struct jsonw *w, const struct job_prepared *prepared)
{
    members_write(w, prepared_members, prepared);
    write_dst(w, &prepared->dst);
}

int job_prepared_read(const struct json *value, struct job_prepared *prepared)
{
    struct json dst = json_member(value, "dst");

    *prepared = (struct job_prepared){0};
    if (members_read_open(prepared, prepared_members, value) == 0 &&
        read_result_dst(&dst, &prepared->dst) == 0)
        return 0;
    job_prepared_finish(prepared);
    return -1;
}

void job_init(struct job *job)
{
    *job = (struct job){0};
    job_common_init(&job->common);
}

void job_finish(struct job *job)
{
    job_common_finish(&job->common);
    job_refs_finish(&job->after);
    tensor_desc_finish(&job->src.desc);
    tensor_desc_finish(&job->dst.desc);
    job_init(job);
}

static const char *const submit_keys[] = {JOB_COMMON_KEYS, "src", "dst", "after", "detach", NULL};
static const char *const prepare_keys[] = {"op",       "name", "cfg", "channels",
                                           "priority", "src",  "dst", NULL};
static const char *const src_keys[] = {"fd", "buffer", "offset", "memory", TENSOR_DESC_KEYS, NULL};
static const char *const dst_keys[] = {"fd",         "buffer",          "offset",    "memory",
                                       "shape",      "strides",         "axis",      "scale",
                                       "zero_point", "scale_frac_bits", "frac_bits", NULL};

static int read_fd(struct tensor_ref *ref, const struct json *value, uint32_t fds)
{
    int64_t number;

    if (json_int(value, 0, UINT32_MAX, &number) < 0)
        return -1;
    if (number >= fds)
        return json_complain(value, "%u given, but the message carries %u descriptors (from 0)",
                             (unsigned)number, fds);
    ref->fd = (uint32_t)number;
    ref->where = TENSOR_IN_FD;
    return 0;
}

static int read_buffer(struct tensor_ref *ref, const struct json *value)
{
    int64_t number;

    if (json_int(value, 1, UINT32_MAX, &number) < 0)
        return -1;
    ref->buffer = (uint32_t)number;
    ref->where = TENSOR_IN_BUFFER;
    return 0;
}

static int read_where(struct tensor_ref *ref, const struct json *object, uint32_t fds)
{
    struct json fd = json_member(object, "fd"), buffer = json_member(object, "buffer");
    struct json memory = json_member(object, "memory");
    int status;

    if (json_present(&fd) && json_present(&buffer))
        return json_complain(&buffer, "given beside \"fd\"; only one of the two is allowed");
    if (!json_present(&fd) && !json_present(&buffer))
        return json_complain(&fd, "missing; a descriptor or a \"buffer\" is required");
    if (json_present(&buffer) && json_present(&memory))
        return json_complain(&memory, "given beside \"buffer\"; a buffer has its own memory");
    status = json_present(&fd) ? read_fd(ref, &fd, fds) : read_buffer(ref, &buffer);
    if (status < 0 || memory_name_read(object, ref->memory) < 0)
        return -1;
    return optional_u64(object, "offset", &ref->offset);
}

static int read_src(struct tensor_ref *src, const struct json *object, uint32_t fds)
{
    if (json_object(object, src_keys) < 0 || read_where(src, object, fds) < 0 ||
        member_require(object, "shape", "an array is required") < 0 ||
        member_require(object, "type", "a string is required") < 0)
        return -1;
    return tensor_desc_read(&src->desc, object);
}

static int read_dst(struct job *job, const struct json *object, uint32_t fds)
{
    if (json_object(object, dst_keys) < 0 || read_where(&job->dst, object, fds) < 0 ||
        tensor_desc_read(&job->dst.desc, object) < 0)
        return -1;
    return job_check_dst(&job->src.desc, &job->dst.desc, object);
}

static int read_order(const struct json *params, struct job *job)
{
    struct json after = json_member(params, "after");

    return job_refs_read(&after, JOB_AFTER_MAX, &job->after) < 0
               ? -1
               : optional_bool(params, "detach", &job->detach);
}

static int read_job(const struct json *params, const char *const *keys, uint32_t fds,
                    struct job *job)
{
    struct json src, dst, name = json_member(params, "name");

    if (json_object(params, keys) < 0 || job_common_read(&job->common, params, MLI_MAX_RANK) < 0 ||
        member_require(params, "op", "\"mov\" or \"permute\" is required") < 0)
        return -1;
    if (job->common.name && !job_name_is_wire(job->common.name))
        return job_name_complain_digits(&name);
    src = json_member(params, "src");
    dst = json_member(params, "dst");
    if (read_src(&job->src, &src, fds) < 0 || read_dst(job, &dst, fds) < 0 ||
        read_order(params, job) < 0)
        return -1;
    return job_check_rank(&job->common, &job->dst.desc, job->src.desc.rank, params->fault);
}

static int read_params(const struct json *params, const char *const *keys, uint32_t fds,
                       struct job *job)
{
    job_init(job);
    if (read_job(params, keys, fds, job) == 0)
        return 0;
    job_finish(job);
    return -1;
}

int job_wire_read(const struct json *params, uint32_t fds, struct job *job)
{
    return read_params(params, submit_keys, fds, job);
}

int job_wire_read_prepare(const struct json *params, uint32_t fds, struct job *job)
{
    return read_params(params, prepare_keys, fds, job);
}

static void write_tensor(struct jsonw *w, const char *key, const struct tensor_ref *ref,
                         bool with_type)
{
    struct tensor_desc shown = ref->desc;

    shown.has_type = shown.has_type && with_type;
    jsonw_object_begin(w, key);
    if (ref->where == TENSOR_IN_BUFFER)
        jsonw_uint(w, "buffer", ref->buffer);
    else
        jsonw_uint(w, "fd", ref->fd);
    if (ref->offset != 0)
        jsonw_uint(w, "offset", ref->offset);
    if (ref->memory[0] != '\0')
        jsonw_string(w, "memory", ref->memory);
    tensor_desc_write(w, &shown);
    jsonw_object_end(w);
}

void job_wire_write_members(struct jsonw *w, const struct job *job)
{
    job_common_write(
        w, job->common.name && job_name_is_wire(job->common.name) ? job->common.name : NULL,
        &job->common);
    write_tensor(w, "src", &job->src, true);
    write_tensor(w, "dst", &job->dst, false);
    if (job->after.count > 0)
        job_refs_write(w, "after", &job->after);
    if (job->detach)
        jsonw_bool(w, "detach", true);
}

void job_wire_write(struct jsonw *w, const char *key, const struct job *job)
{
    jsonw_object_begin(w, key);
    job_wire_write_members(w, job);
    jsonw_object_end(w);
}
