/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/buffer_places.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/profile/profile_rules.h"

enum { MEMBER_MAX_CHARS = 64 };

/* A range of a memory that a buffer has. */
struct range {
    uint64_t begin, end;
    size_t buffer; /* index in the file */
};

/* The ranges of one memory, in the order of their addresses. */
struct ranges {
    const struct profile_memory *memory;
    struct range *list;
    size_t count;
    uint64_t used; /* bytes */
};

struct placing {
    struct buffer_places *places;
    const struct job_list *jobs;
    struct ranges memories[PROFILE_MEMORIES_MAX];
    struct fault *fault;
};

static int complain(const struct placing *placing, enum fault_code code, size_t index,
                    const char *member, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

static int complain(const struct placing *placing, enum fault_code code, size_t index,
                    const char *member, const char *format, ...)
{
    char pointer[MEMBER_MAX_CHARS], text[FAULT_TEXT_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    snprintf(pointer, sizeof(pointer), "/buffers/%zu/%s", index, member);
    return fault_set(placing->fault, code, pointer, "%s: %s", member, text);
}

/* Inserts a range before the range `at`. */
static void insert(struct ranges *ranges, size_t at, uint64_t begin, uint64_t bytes, size_t buffer)
{
    for (size_t i = ranges->count; i > at; i--)
        ranges->list[i] = ranges->list[i - 1];
    ranges->list[at] = (struct range){begin, begin + bytes, buffer};
    ranges->count++;
    ranges->used += bytes;
}

static int place_exact(struct placing *placing, struct ranges *ranges, size_t index)
{
    const struct buffer_spec *buffer = &placing->jobs->buffers[index];
    const uint64_t begin = buffer->address, end = begin + buffer->bytes;
    struct fault why;
    size_t at = 0;

    if (profile_check_range(ranges->memory, begin, buffer->bytes, &why) < 0)
        return complain(placing, FAULT_INVALID_PARAMS, index, "address", "%s", why.text);
    while (at < ranges->count && ranges->list[at].end <= begin)
        at++;
    if (at < ranges->count && ranges->list[at].begin < end) {
        const struct range *other = &ranges->list[at];
        return complain(placing, FAULT_NO_ROOM, index, "address",
                        "%" PRIu64 " B wanted at 0x%" PRIx64 ", but buffer \"%s\" has 0x%" PRIx64
                        " to 0x%" PRIx64,
                        buffer->bytes, begin, placing->jobs->buffers[other->buffer].name,
                        other->begin, other->end - 1);
    }
    insert(ranges, at, begin, buffer->bytes, index);
    placing->places->places[index].address = begin;
    return 0;
}

static uint64_t align_up(uint64_t address, uint64_t alignment)
{
    return (address + alignment - 1) / alignment * alignment;
}

static int place_best(struct placing *placing, struct ranges *ranges, size_t index)
{
    const struct buffer_spec *buffer = &placing->jobs->buffers[index];
    const struct profile_memory *memory = ranges->memory;
    const uint64_t alignment = profile_range_alignment(memory);
    uint64_t best = UINT64_MAX, begin = 0, largest = 0;
    size_t at = 0;

    for (size_t i = 0; i <= ranges->count; i++) {
        const uint64_t from = align_up(i > 0 ? ranges->list[i - 1].end : memory->base, alignment);
        const uint64_t end =
            i < ranges->count ? ranges->list[i].begin : memory->base + memory->size;
        const uint64_t size = from < end ? end - from : 0;

        if (size > largest)
            largest = size;
        if (size < buffer->bytes || size >= best)
            continue;
        best = size;
        begin = from;
        at = i;
    }
    if (best == UINT64_MAX)
        return complain(placing, FAULT_NO_ROOM, index, "memory",
                        "%" PRIu64 " B wanted, but beside the other buffers %s has %" PRIu64
                        " of %" PRIu64 " B free, the largest piece %" PRIu64 " B",
                        buffer->bytes, memory->name, memory->size - ranges->used, memory->size,
                        largest);
    insert(ranges, at, begin, buffer->bytes, index);
    placing->places->places[index].address = begin;
    return 0;
}

/* Places one buffer if it has an address and `exact` is true, or if both are not so. */
static int place(struct placing *placing, const struct target_profile *profile, size_t index,
                 bool exact)
{
    const struct buffer_spec *buffer = &placing->jobs->buffers[index];
    const struct profile_memory *memory;
    struct ranges *ranges;
    char pointer[MEMBER_MAX_CHARS];

    if (buffer->memory[0] == '\0' || buffer->has_address != exact)
        return 0;
    snprintf(pointer, sizeof(pointer), "/buffers/%zu/memory", index);
    memory = profile_find_memory(profile, buffer->memory, "memory", pointer, placing->fault);
    if (!memory)
        return -1;
    placing->places->places[index].memory = memory;
    ranges = &placing->memories[memory - profile->memories];
    ranges->memory = memory;
    if (!ranges->list)
        ranges->list = calloc(placing->jobs->buffer_count, sizeof(*ranges->list));
    if (!ranges->list)
        return fault_set(placing->fault, FAULT_INTERNAL, NULL, "out of memory");
    return exact ? place_exact(placing, ranges, index) : place_best(placing, ranges, index);
}

static int place_all(struct placing *placing, const struct target_profile *profile)
{
    for (size_t i = 0; i < 2 * placing->jobs->buffer_count; i++) {
        const bool exact = i < placing->jobs->buffer_count;

        if (place(placing, profile, exact ? i : i - placing->jobs->buffer_count, exact) < 0)
            return -1;
    }
    return 0;
}

int buffer_places_init(struct buffer_places *places, const struct target_profile *profile,
                       const struct job_file *file, struct fault *fault)
{
    struct placing placing = {.places = places, .jobs = &file->list, .fault = fault};
    int status;

    *places = (struct buffer_places){0};
    if (file->list.buffer_count == 0)
        return 0;
    places->places = calloc(file->list.buffer_count, sizeof(*places->places));
    if (!places->places)
        return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
    status = place_all(&placing, profile);
    for (size_t i = 0; i < PROFILE_MEMORIES_MAX; i++)
        free(placing.memories[i].list);
    return status;
}

void buffer_places_finish(struct buffer_places *places)
{
    free(places->places);
    *places = (struct buffer_places){0};
}
