/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads profiles, and checks the rules between several members. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/json/json.h"
#include "target/profile/target_profile.h"

static bool is_power_of_two(uint64_t number)
{
    return number > 0 && (number & (number - 1)) == 0;
}

static int complain_power(const struct json *object, const char *key, uint64_t given)
{
    struct json value = json_member(object, key);

    return json_complain(&value, "%" PRIu64 " given; a power of two is required", given);
}

static bool overlap(const struct profile_memory *a, const struct profile_memory *b)
{
    return a->base < b->base + b->size && b->base < a->base + a->size;
}

static int check_others(const struct target_profile *profile, const struct profile_memory *memory,
                        const struct json *object)
{
    for (uint32_t i = 0; i < profile->memory_count; i++) {
        const struct profile_memory *other = &profile->memories[i];
        struct json name = json_member(object, "name"), base = json_member(object, "base");

        if (strcmp(other->name, memory->name) == 0)
            return json_complain(&name, "\"%s\" is the name of memories[%" PRIu32 "] already",
                                 memory->name, i);
        if (overlap(other, memory))
            return json_complain(&base,
                                 "0x%" PRIx64 " to 0x%" PRIx64 " overlap \"%s\" at 0x%" PRIx64
                                 " to 0x%" PRIx64,
                                 memory->base, memory->base + memory->size - 1, other->name,
                                 other->base, other->base + other->size - 1);
    }
    return 0;
}

static int check_banks(const struct profile_memory *memory, const struct json *object)
{
    struct json bank_bytes = json_member(object, "bank_bytes"),
                banks = json_member(object, "banks");

    if (memory->banks == 1)
        return memory->bank_bytes == 0
                   ? 0
                   : json_complain(&bank_bytes, "%" PRIu32 " given, but the memory has one bank",
                                   memory->bank_bytes);
    if (!is_power_of_two(memory->banks))
        return complain_power(object, "banks", memory->banks);
    if (!json_present(&bank_bytes))
        return json_complain(&bank_bytes,
                             "missing; a memory with %" PRIu32
                             " banks requires the bytes of a bank, a power of two",
                             memory->banks);
    if (!is_power_of_two(memory->bank_bytes))
        return complain_power(object, "bank_bytes", memory->bank_bytes);
    if (memory->size % ((uint64_t)memory->banks * memory->bank_bytes) != 0)
        return json_complain(&banks,
                             "%" PRIu32 " banks of %" PRIu32 " B do not divide %" PRIu64 " B",
                             memory->banks, memory->bank_bytes, memory->size);
    return 0;
}

/* Checks memories[memory_count] of the profile, which was read from `object` and is not counted
 * yet. */
static int profile_check_memory(const struct target_profile *profile, const struct json *object)
{
    const struct profile_memory *memory = &profile->memories[profile->memory_count];
    struct json size = json_member(object, "size"), base = json_member(object, "base");
    struct json reach = json_member(object, "reached_by");

    if (memory->size == 0)
        return json_complain(&size, "0 given; at least 1 B is required");
    if (!is_power_of_two(memory->alignment))
        return complain_power(object, "alignment", memory->alignment);
    if (memory->base % memory->alignment != 0)
        return json_complain(&base, "0x%" PRIx64 " is not a multiple of the alignment %" PRIu32,
                             memory->base, memory->alignment);
    if (memory->reached_by == 0)
        return json_complain(&reach, "empty; at least one of core, dma and host is required");
    if (check_banks(memory, object) < 0)
        return -1;
    return check_others(profile, memory, object);
}

static int profile_check_dma(const struct profile_dma *dma, const struct json *object)
{
    struct json run = json_member(object, "run_max"), burst = json_member(object, "burst_bytes");
    struct json count = json_member(object, "count_max"), bytes = json_member(object, "bytes_max");
    struct json loops = json_member(object, "loops");
    const uint32_t loops_max = profile_controller_loops[dma->controller];

    if (!is_power_of_two(dma->granularity))
        return complain_power(object, "granularity", dma->granularity);
    if (!is_power_of_two(dma->alignment))
        return complain_power(object, "alignment", dma->alignment);
    if (!is_power_of_two(dma->bus_bytes))
        return complain_power(object, "bus_bytes", dma->bus_bytes);
    if (dma->burst_bytes % dma->bus_bytes != 0)
        return json_complain(&burst, "%" PRIu32 " is not a multiple of bus_bytes, %" PRIu32,
                             dma->burst_bytes, dma->bus_bytes);
    if (dma->bytes_max && dma->run_max > dma->bytes_max)
        return json_complain(
            &run, "%" PRIu64 " exceeds bytes_max, %" PRIu64 "; lower it, or leave it out",
            dma->run_max, dma->bytes_max);
    if (dma->bytes_max && dma->bytes_max < dma->granularity)
        return json_complain(&bytes, "%" PRIu64 " is less than the granularity, %" PRIu32,
                             dma->bytes_max, dma->granularity);
    if (dma->run_max && dma->run_max < dma->granularity)
        return json_complain(&run, "%" PRIu64 " is less than the granularity, %" PRIu32,
                             dma->run_max, dma->granularity);
    if (json_present(&loops) && dma->loops > loops_max)
        return json_complain(
            &loops, "%" PRIu32 " given; a descriptor of controller %s has %s%" PRIu32 " loop%s",
            dma->loops, profile_controller_words[dma->controller], loops_max > 0 ? "at most " : "",
            loops_max, loops_max == 1 ? "" : "s");
    if (dma->loops > 0 && dma->count_max == 1)
        return json_complain(&count, "1 given: a loop of one iteration moves nothing more");
    return 0;
}

/* Checks the rules for the profile as a whole. Returns 0, or -1 with the fault. */
static int profile_check(const struct target_profile *profile, const struct json *root)
{
    struct json strict = json_member(root, "strict");
    bool vector = false;

    for (uint32_t i = 0; i < profile->memory_count; i++)
        vector |= profile->memories[i].vector;
    if (profile->strict && !vector)
        return json_complain(&strict, "true given, but no memory has \"vector\": true");
    return 0;
}

/* Returns the member or element that a token of a JSON pointer names; its node is null if absent.
 */
static struct json step(const struct json *parent, const char *token, size_t length)
{
    struct json item = {0};
    size_t index = 0;

    if (!json_is_array(parent) && !json_is_object(parent))
        return (struct json){0};
    while (json_next(parent, &item)) {
        if (json_is_array(parent)
                ? strtoul(token, NULL, 10) == index && token[0] >= '0' && token[0] <= '9'
                : strlen(item.key) == length && memcmp(item.key, token, length) == 0)
            return item;
        index++;
    }
    return (struct json){0};
}

/* Checks that `source->pointer` names a figure of the profile; `value` is the JSON of the source.
 */
static int profile_check_source(const struct profile_source *source, const struct json *root,
                                const struct json *value)
{
    const char *at = source->pointer;
    struct json place = *root;

    while (*at == '/') {
        const size_t length = strcspn(at + 1, "/");
        const struct json parent = place;

        place = step(&parent, at + 1, length);
        if (!json_present(&place))
            break;
        at += 1 + length;
    }
    if (*at != '\0' || at == source->pointer)
        return json_complain(value, "\"%s\" is not the JSON pointer of a figure in this file",
                             source->pointer);
    return 0;
}

/* Names and the flag "strict" need no source, because the author of the profile chooses them. */
static bool needs_source(const struct json *value)
{
    return !(value->key && (strcmp(value->key, "name") == 0 || strcmp(value->key, "strict") == 0));
}

static int check_children(const struct target_profile *profile, const struct json *parent);
static int check_figures(const struct target_profile *profile, const struct json *value)
{
    char pointer[FAULT_POINTER_MAX];

    json_pointer(value, pointer, sizeof pointer);
    if (!needs_source(value) || profile_source_of(profile, pointer))
        return 0;
    if (json_is_object(value) || json_is_array(value))
        return check_children(profile, value);
    return json_complain(value,
                         "\"sources\" does not say where this figure comes from; add \"%s\": a "
                         "document, or \"assumed\"",
                         pointer);
}

static int check_children(const struct target_profile *profile, const struct json *parent)
{
    struct json item = {0};

    while (json_next(parent, &item))
        if (check_figures(profile, &item) < 0)
            return -1;
    return 0;
}

/* Checks that every figure of the file has a source. */
static int profile_check_sources(const struct target_profile *profile, const struct json *root)
{
    static const char *const parts[] = {"clock_hz", "vector_bits", "guard_bit_option",
                                        "memories", "dma",         "costs"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct json part = json_member(root, parts[i]);

        if (json_present(&part) && check_figures(profile, &part) < 0)
            return -1;
    }
    return 0;
}

enum { COSTS_MAX = 15 };
#define SIZE_TOP                                                                                   \
    ((INT64_C(1) << 52) - 1) /* largest size: base + size stays an exact number of JSON */

static const struct json_limits limits = {.bytes = PROFILE_FILE_MAX, .depth = 8, .values = 8000};

const struct member profile_numbers[] = {
    NUMBER(struct target_profile, clock_hz, "clock_hz", 1, INT64_C(1) << 40, 0),
    NUMBER(struct target_profile, vector_bits, "vector_bits", 0, 65536, 0),
    NUMBER(struct target_profile, guard_bit_option, "guard_bit_option", 0, 2, 2),
    {0},
};

const struct member profile_dma_members[] = {
    MEMBER(struct profile_dma, controller, "controller", KIND_WORD, .optional = true,
           .words = profile_controller_words),
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
    MEMBER(struct profile_dma, fills, "fills", KIND_BOOL, .optional = true),
    {0},
};

const struct member profile_memory_members[] = {
    {.key = "name", .kind = KIND_OTHER},
    {.key = "base", .kind = KIND_OTHER},
    {.key = "size", .kind = KIND_OTHER},
    NUMBER(struct profile_memory, banks, "banks", 1, 65536, 1),
    NUMBER(struct profile_memory, bank_bytes, "bank_bytes", 0, 4096, 0),
    NUMBER(struct profile_memory, alignment, "alignment", 1, 1 << 30, 1),
    MEMBER(struct profile_memory, vector, "vector", KIND_BOOL, .optional = true),
    {.key = "reached_by", .kind = KIND_OTHER},
    {.key = "latency", .kind = KIND_OTHER},
    {0},
};

static const char *const root_keys[] = {
    JSON_SCHEMA_KEY, "name",     "title", "clock_hz", "vector_bits", "guard_bit_option",
    "strict",        "memories", "dma",   "costs",    "sources",     NULL};

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

/* Reads a number of cycles. If the member is absent, the number is 0. */
static int read_cost(const struct json *object, const char *key, profile_cost *out)
{
    struct json value = json_member(object, key);

    *out = 0;
    return json_present(&value) ? profile_cost_read(&value, out) : 0;
}

static int read_memory(struct profile_memory *memory, const struct json *object)
{
    struct json reach = json_member(object, "reached_by");

    members_default(memory, profile_memory_members);
    memory->reached_by = PROFILE_CORE | PROFILE_DMA;
    if (members_read_closed(memory, profile_memory_members, object) < 0 ||
        read_name(object, memory->name) < 0 || read_address(object, "base", &memory->base) < 0 ||
        read_address(object, "size", &memory->size) < 0 ||
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
    struct json dma = json_member(root, "dma");

    members_default(&profile->dma, profile_dma_members);
    if (json_object(&dma, NULL) < 0 ||
        members_read_closed(&profile->dma, profile_dma_members, &dma) < 0)
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
        profile_cost_set(&profile->costs, m, cost);
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
    const char *text;

    if (json_object(root, root_keys) < 0 || json_check_schema(root) < 0 ||
        read_name(root, profile->name) < 0)
        return -1;
    if (json_present(&title)) {
        if (json_string(&title, PROFILE_TITLE_MAX - 1, &text) < 0)
            return -1;
        snprintf(profile->title, sizeof profile->title, "%s", text);
    }
    members_default(profile, profile_numbers);
    if (member_require(root, "clock_hz", "costs are in cycles of this clock") < 0 ||
        members_read(profile, profile_numbers, root) < 0)
        return -1;
    return optional_bool(root, "strict", &profile->strict);
}

/*
 * Extends the fault of a number with a fraction, if a cost is allowed there: it names the string
 * form.
 */
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
