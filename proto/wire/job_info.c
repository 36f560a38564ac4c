/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/job_info.h"

#include "mli_mov_api.h"
#include "proto/json/members.h"
#include "proto/wire/rpc.h"

static const char *const state_names[] = {
#define STATE_NAME(name, word) word,
    JOB_STATE_TABLE(STATE_NAME)
#undef STATE_NAME
        NULL};

const char *job_state_name(enum job_state state)
{
    return state_names[state];
}

int job_state_read(const struct json *value, enum job_state *state)
{
    size_t index;

    if (json_choice(value, state_names, &index) < 0)
        return -1;
    *state = (enum job_state)index;
    return 0;
}

int job_states_read(const struct json *array, uint32_t *states)
{
    return words_read(array, state_names, states);
}

void job_states_write(struct jsonw *w, const char *key, uint32_t states)
{
    words_write(w, key, state_names, states);
}

void job_brief_write_members(struct jsonw *w, const struct job_brief *brief)
{
    jsonw_uint(w, "job", brief->job);
    jsonw_string(w, "state", job_state_name(brief->state));
}

int job_brief_read(const struct json *value, struct job_brief *brief)
{
    struct json state = json_member(value, "state");

    *brief = (struct job_brief){0};
    if (json_object(value, NULL) < 0 || member_u64(value, "job", &brief->job) < 0)
        return -1;
    return job_state_read(&state, &brief->state);
}

void job_info_write_members(struct jsonw *w, const struct job_info *info)
{
    jsonw_uint(w, "job", info->job);
    if (info->name[0])
        jsonw_string(w, "name", info->name);
    jsonw_string(w, "state", job_state_name(info->state));
    jsonw_uint(w, "client", info->client);
    jsonw_uint(w, "uid", info->uid);
    jsonw_int(w, "priority", info->priority);
    jsonw_uint(w, "channels", info->channels);
    if (info->first_channel >= 0)
        jsonw_int(w, "first_channel", info->first_channel);
    jsonw_uint(w, "bytes", info->bytes);
    jsonw_uint(w, "bytes_done", info->bytes_done);
    jsonw_bool(w, "detached", info->detached);
    jsonw_uint(w, "ns_queued", info->ns_queued);
    jsonw_uint(w, "ns_moving", info->ns_moving);
    if (info->error)
        rpc_error_write(w, "error", info->error, 0);
}

void job_info_write(struct jsonw *w, const char *key, const struct job_info *info)
{
    jsonw_object_begin(w, key);
    job_info_write_members(w, info);
    jsonw_object_end(w);
}

static int read_optional(const struct json *value, struct job_info *info)
{
    struct json name = json_member(value, "name"), error = json_member(value, "error");
    int64_t first = -1;
    uint64_t nobody;

    if (json_present(&name) && member_text(value, "name", info->name, sizeof info->name) < 0)
        return -1;
    if (optional_int(value, "first_channel", 0, INT32_MAX, &first) < 0)
        return -1;
    info->first_channel = (int32_t)first;
    if (!json_present(&error))
        return 0;
    info->error = &info->fault;
    return rpc_error_read(&error, &info->fault, &nobody);
}

int job_info_read(const struct json *value, struct job_info *info)
{
    struct json state = json_member(value, "state"), priority = json_member(value, "priority");
    struct json channels = json_member(value, "channels");
    int64_t number, count;

    *info = (struct job_info){.first_channel = -1};
    if (json_object(value, NULL) < 0 || member_u64(value, "job", &info->job) < 0 ||
        job_state_read(&state, &info->state) < 0 ||
        member_u64(value, "client", &info->client) < 0 ||
        member_u32(value, "uid", &info->uid) < 0 || json_int(&priority, -1, 1, &number) < 0 ||
        json_int(&channels, 0, MLI_MOV_MAX_CHANNELS, &count) < 0 ||
        member_u64(value, "bytes", &info->bytes) < 0 ||
        member_u64(value, "bytes_done", &info->bytes_done) < 0 ||
        member_bool(value, "detached", &info->detached) < 0 ||
        member_u64(value, "ns_queued", &info->ns_queued) < 0 ||
        member_u64(value, "ns_moving", &info->ns_moving) < 0)
        return -1;
    info->priority = (int32_t)number;
    info->channels = (uint32_t)count;
    return read_optional(value, info);
}
