/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/profile/profile_check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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

int profile_check_memory(const struct target_profile *profile, const struct json *object)
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

int profile_check_dma(const struct profile_dma *dma, const struct json *object)
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

int profile_check(const struct target_profile *profile, const struct json *root)
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

int profile_check_source(const struct profile_source *source, const struct json *root,
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

static int check_figures(const struct target_profile *profile, const struct json *value);

static int check_children(const struct target_profile *profile, const struct json *parent)
{
    struct json item = {0};

    while (json_next(parent, &item))
        if (check_figures(profile, &item) < 0)
            return -1;
    return 0;
}

/* Names and the flag "strict" are choices of the author; all other values are figures. */
static bool needs_source(const struct json *value)
{
    return !(value->key && (strcmp(value->key, "name") == 0 || strcmp(value->key, "strict") == 0));
}

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

int profile_check_sources(const struct target_profile *profile, const struct json *root)
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
