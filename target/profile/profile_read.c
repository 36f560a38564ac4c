/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads profiles. profile_check.c checks rules between several members. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"
#include "proto/json/json_file.h"
#include "proto/json/members.h"
#include "proto/json/number.h"
#include "target/profile/profile_check.h"
#include "target/profile/target_profile.h"

enum { COSTS_MAX = 15 };
#define SIZE_TOP                                                                                   \
    ((INT64_C(1) << 52) - 1) /* largest size: base + size stays an exact number of JSON */

static const struct json_limits limits = {.bytes = PROFILE_FILE_MAX, .depth = 8, .values = 8000};

static const struct number dma_numbers[] = {
    NUMBER(struct profile_dma, channels, "channels", 1, MLI_MOV_MAX_CHANNELS, 1),
    NUMBER(struct profile_dma, loops, "loops", 0, MLI_MAX_RANK, MLI_MAX_RANK),
    NUMBER(struct profile_dma, count_max, "count_max", 0, SIZE_TOP, 0),
    NUMBER(struct profile_dma, run_max, "run_max", 0, SIZE_TOP, 0),
    NUMBER(struct profile_dma, step_max, "step_max", 0, SIZE_TOP, 0),
    NUMBER(struct profile_dma, bytes_max, "bytes_max", 0, SIZE_TOP, 0),
    NUMBER(struct profile_dma, granularity, "granularity", 1, 4096, 1),
    NUMBER(struct profile_dma, alignment, "alignment", 1, 4096, 1),
    NUMBER(struct profile_dma, address_bits, "address_bits", 16, 64, 32),
    NUMBER(struct profile_dma, bus_bytes, "bus_bytes", 1, 4096, 4),
    NUMBER(struct profile_dma, burst_bytes, "burst_bytes", 1, 4096, 64),
    {0},
};

static const struct number memory_numbers[] = {
    NUMBER(struct profile_memory, banks, "banks", 1, 65536, 1),
    NUMBER(struct profile_memory, bank_bytes, "bank_bytes", 0, 4096, 0),
    NUMBER(struct profile_memory, alignment, "alignment", 1, 1 << 30, 1),
    {0},
};

static const char *const root_keys[] = {
    JSON_SCHEMA_KEY, "name",     "title", "clock_hz", "vector_bits", "guard_bit_option",
    "strict",        "memories", "dma",   "costs",    "sources",     NULL};
static const char *const memory_keys[] = {"name",       "base",      "size",       "banks",
                                          "bank_bytes", "alignment", "reached_by", "vector",
                                          "latency",    NULL};
static const char *const dma_keys[] = {
    "controller",  "channels",  "loops",        "count_max", "run_max",     "step_max", "bytes_max",
    "granularity", "alignment", "address_bits", "bus_bytes", "burst_bytes", "fills",    NULL};

/* Reads a name: a lowercase letter, then lowercase letters, digits, '-' and '_'. */
static int read_name(const struct json *object, char out[PROFILE_NAME_MAX])
{
    struct json value = json_member(object, "name");
    const char *name;

    if (json_string(&value, PROFILE_NAME_MAX - 1, &name) < 0)
        return -1;
    if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-") != strlen(name) || name[0] < 'a' ||
        name[0] > 'z')
        return json_complain(&value,
                             "\"%s\" given; a name of lowercase letters, digits, '-' and '_' is "
                             "required, and a letter first",
                             name);
    snprintf(out, PROFILE_NAME_MAX, "%s", name);
    return 0;
}

static int read_address(const struct json *object, const char *key, uint64_t *out)
{
    struct json value = json_member(object, key);

    return address_read(&value, SIZE_TOP, out);
}

/* Reads cycles; 0 if the member is absent. */
static int read_cost(const struct json *object, const char *key, profile_cost *out)
{
    struct json value = json_member(object, key);

    *out = 0;
    return json_present(&value) ? profile_cost_read(&value, out) : 0;
}

static int read_memory(struct profile_memory *memory, const struct json *object)
{
    struct json reach = json_member(object, "reached_by");

    numbers_default(memory, memory_numbers);
    memory->reached_by = PROFILE_CORE | PROFILE_DMA;
    if (json_object(object, memory_keys) < 0 || read_name(object, memory->name) < 0 ||
        read_address(object, "base", &memory->base) < 0 ||
        read_address(object, "size", &memory->size) < 0 ||
        numbers_read(memory, memory_numbers, object) < 0 ||
        optional_bool(object, "vector", &memory->vector) < 0 ||
        read_cost(object, "latency", &memory->latency) < 0)
        return -1;
    return json_present(&reach) ? words_read(&reach, profile_reach_words, &memory->reached_by) : 0;
}

static int read_memories(struct target_profile *profile, const struct json *root)
{
    struct json memories = json_member(root, "memories"), item = {0};
    size_t count;

    if (json_array(&memories, &count) < 0)
        return -1;
    if (count == 0 || count > PROFILE_MEMORIES_MAX)
        return json_complain(&memories, "%zu memories given; 1 to %d are allowed", count,
                             PROFILE_MEMORIES_MAX);
    while (json_next(&memories, &item)) {
        if (read_memory(&profile->memories[profile->memory_count], &item) < 0 ||
            profile_check_memory(profile, &item) < 0)
            return -1;
        profile->memory_count++;
    }
    return 0;
}

static int read_dma(struct target_profile *profile, const struct json *root)
{
    struct json dma = json_member(root, "dma"), controller;
    size_t index = PROFILE_BOXES;

    if (json_object(&dma, dma_keys) < 0)
        return -1;
    controller = json_member(&dma, "controller");
    numbers_default(&profile->dma, dma_numbers);
    if (json_present(&controller) && json_choice(&controller, profile_controller_words, &index) < 0)
        return -1;
    profile->dma.controller = (enum profile_controller)index;
    if (numbers_read(&profile->dma, dma_numbers, &dma) < 0 ||
        optional_bool(&dma, "fills", &profile->dma.fills) < 0)
        return -1;
    return profile_check_dma(&profile->dma, &dma);
}

static int read_costs(struct target_profile *profile, const struct json *root)
{
    struct json costs = json_member(root, "costs");
    const char *keys[COSTS_MAX + 2] = {"measured"};
    size_t count = 1;

    if (!json_present(&costs))
        return 0;
    for (const struct profile_cost_member *m = profile_cost_members; m->key; m++) {
        assert(count <= COSTS_MAX);
        keys[count++] = m->key;
    }
    keys[count] = NULL;
    if (json_object(&costs, keys) < 0)
        return -1;
    for (const struct profile_cost_member *m = profile_cost_members; m->key; m++) {
        profile_cost cost;

        if (read_cost(&costs, m->key, &cost) < 0)
            return -1;
        memcpy((char *)&profile->costs + m->at, &cost, sizeof cost);
    }
    return measured_costs_read(&profile->measured, &costs);
}

static int read_sources(struct target_profile *profile, const struct json *root)
{
    struct json sources = json_member(root, "sources"), item = {0};

    if (json_object(&sources, NULL) < 0)
        return -1;
    while (json_next(&sources, &item)) {
        struct profile_source *source = &profile->sources[profile->source_count];
        const char *text;

        if (profile->source_count == PROFILE_SOURCES_MAX)
            return json_complain(&sources, "more than %d sources", PROFILE_SOURCES_MAX);
        if (json_string(&item, PROFILE_SOURCE_MAX - 1, &text) < 0)
            return -1;
        snprintf(source->text, sizeof source->text, "%s", text);
        snprintf(source->pointer, sizeof source->pointer, "%s", item.key);
        if (profile_check_source(source, root, &item) < 0)
            return -1;
        profile->source_count++;
    }
    return profile_check_sources(profile, root);
}

static int read_head(struct target_profile *profile, const struct json *root)
{
    struct json title = json_member(root, "title");
    int64_t clock = 0, vector = 0, guard = 2;
    const char *text;

    if (json_object(root, root_keys) < 0 || json_check_schema(root) < 0 ||
        read_name(root, profile->name) < 0)
        return -1;
    if (json_present(&title)) {
        if (json_string(&title, PROFILE_TITLE_MAX - 1, &text) < 0)
            return -1;
        snprintf(profile->title, sizeof profile->title, "%s", text);
    }
    if (member_require(root, "clock_hz", "costs are in cycles of this clock") < 0 ||
        optional_int(root, "clock_hz", 1, INT64_C(1) << 40, &clock) < 0 ||
        optional_int(root, "vector_bits", 0, 65536, &vector) < 0 ||
        optional_int(root, "guard_bit_option", 0, 2, &guard) < 0 ||
        optional_bool(root, "strict", &profile->strict) < 0)
        return -1;
    profile->clock_hz = (uint64_t)clock;
    profile->vector_bits = (uint32_t)vector;
    profile->guard_bit_option = (uint32_t)guard;
    return 0;
}

/* Extends the fault of a number with a fraction where a cost may be: the string form is allowed. */
static int complain_text(struct fault *fault)
{
    static const char latency[] = "/latency";
    const size_t size = strlen(fault->pointer);
    const bool is_cost =
        strncmp(fault->pointer, "/costs/", strlen("/costs/")) == 0 ||
        (size > strlen(latency) && strcmp(fault->pointer + size - strlen(latency), latency) == 0);
    char message[FAULT_TEXT_MAX];

    if (fault->code != FAULT_PARSE_ERROR || !fault->has_pointer || !is_cost ||
        !strstr(fault->text, "fraction"))
        return -1;
    snprintf(message, sizeof message,
             "%.*s; write cycles with a fraction as a string, such as \"0.5\"", FAULT_TEXT_MAX / 2,
             fault->text);
    strcpy(fault->text, message);
    return -1;
}

int profile_read(struct target_profile *profile, const char *text, size_t length,
                 struct fault *fault)
{
    struct json root;
    int result;

    *profile = (struct target_profile){0};
    if (json_file_parse(text, length, &limits, &root, fault) < 0)
        return complain_text(fault);
    result = read_head(profile, &root) < 0 || read_memories(profile, &root) < 0 ||
             read_dma(profile, &root) < 0 || read_costs(profile, &root) < 0 ||
             profile_check(profile, &root) < 0 || read_sources(profile, &root) < 0;
    json_free(&root);
    return result ? -1 : 0;
}
