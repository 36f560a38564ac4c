/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/job/buffer_places.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "target/profile/profile_rules.h"

enum { MEMBER_MAX_CHARS = 64 };

/* A range of a memory: a buffer with an address, or a free range. */
struct range {
    uint64_t begin, end;
    size_t buffer; /* index of the buffer in the file */
};

/* One memory. A buffer without an address is placed at the beginning of a gap, which adds no gap:
 * the number of gaps depends only on the buffers with an address. */
struct room {
    const struct profile_memory *memory; /* null: no buffer is in this memory */
    struct range *exact, *gaps;          /* ranges in the order of their addresses */
    size_t exact_count, gap_count;
    uint64_t used; /* bytes */
};

struct placing {
    const struct target_profile *profile;
    struct buffer_places *places;
    const struct job_list *jobs;
    struct room rooms[PROFILE_MEMORIES_MAX];
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

/* Finds the memory of a buffer, and makes space for the ranges of all buffers in that memory. */
static int find_room(struct placing *placing, size_t index, struct room **found)
{
    const struct buffer_spec *buffer = &placing->jobs->buffers[index];
    const struct profile_memory *memory;
    char pointer[MEMBER_MAX_CHARS];
    struct room *room;

    snprintf(pointer, sizeof(pointer), "/buffers/%zu/memory", index);
    memory =
        profile_find_memory(placing->profile, buffer->memory, "memory", pointer, placing->fault);
    if (!memory)
        return -1;
    placing->places->places[index].memory = memory;
    *found = room = &placing->rooms[memory - placing->profile->memories];
    if (room->memory)
        return 0;
    room->memory = memory;
    room->exact = calloc(placing->jobs->buffer_count, sizeof(*room->exact));
    room->gaps = calloc(placing->jobs->buffer_count + 1, sizeof(*room->gaps));
    return room->exact && room->gaps ? 0 : fault_no_memory(placing->fault);
}

/* Adds the range of a buffer with an address. */
static int add_exact(struct placing *placing, size_t index)
{
    const struct buffer_spec *buffer = &placing->jobs->buffers[index];
    struct room *room;
    struct fault why;

    if (find_room(placing, index, &room))
        return -1;
    if (profile_check_range(room->memory, buffer->address, buffer->bytes, &why) < 0)
        return complain(placing, FAULT_INVALID_PARAMS, index, "address", "%s", why.text);
    room->exact[room->exact_count++] =
        (struct range){buffer->address, buffer->address + buffer->bytes, index};
    room->used += buffer->bytes;
    placing->places->places[index].address = buffer->address;
    return 0;
}

static int by_address(const void *left, const void *right)
{
    const struct range *a = left, *b = right;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return (a->buffer > b->buffer) - (a->buffer < b->buffer);
}

static int complain_overlap(const struct placing *placing, const struct range *a,
                            const struct range *b)
{
    const struct range *later = a->buffer > b->buffer ? a : b, *other = later == a ? b : a;

    return complain(placing, FAULT_NO_ROOM, later->buffer, "address",
                    "%" PRIu64 " B wanted at 0x%" PRIx64 ", but buffer \"%s\" has 0x%" PRIx64
                    " to 0x%" PRIx64,
                    later->end - later->begin, later->begin,
                    placing->jobs->buffers[other->buffer].name, other->begin, other->end - 1);
}

/* Checks that the buffers with an address do not overlap, and finds the gaps between them. */
static int find_gaps(struct placing *placing, struct room *room)
{
    uint64_t begin;

    if (!room->memory)
        return 0;
    begin = room->memory->base;
    qsort(room->exact, room->exact_count, sizeof(*room->exact), by_address);
    for (size_t i = 0; i < room->exact_count; i++) {
        const struct range *range = &room->exact[i];

        if (i > 0 && range->begin < room->exact[i - 1].end)
            return complain_overlap(placing, range, &room->exact[i - 1]);
        if (begin < range->begin)
            room->gaps[room->gap_count++] = (struct range){.begin = begin, .end = range->begin};
        begin = range->end;
    }
    if (begin < room->memory->base + room->memory->size)
        room->gaps[room->gap_count++] =
            (struct range){.begin = begin, .end = room->memory->base + room->memory->size};
    return 0;
}

static uint64_t align_up(uint64_t address, uint64_t alignment)
{
    return (address + alignment - 1) / alignment * alignment;
}

/* Places a buffer without an address. */
static int place_best(struct placing *placing, size_t index)
{
    const struct buffer_spec *buffer = &placing->jobs->buffers[index];
    uint64_t best = UINT64_MAX, begin = 0, largest = 0;
    struct range *gap = NULL;
    struct room *room;

    if (find_room(placing, index, &room))
        return -1;
    if (room->gap_count == 0 && room->used == 0 && find_gaps(placing, room))
        return -1; /* the memory has no buffer with an address */
    for (size_t i = 0; i < room->gap_count; i++) {
        const uint64_t from = align_up(room->gaps[i].begin, profile_range_alignment(room->memory));
        const uint64_t size = from < room->gaps[i].end ? room->gaps[i].end - from : 0;

        if (size > largest)
            largest = size;
        if (size < buffer->bytes || size >= best)
            continue;
        best = size;
        begin = from;
        gap = &room->gaps[i];
    }
    if (!gap)
        return complain(placing, FAULT_NO_ROOM, index, "memory",
                        "%" PRIu64 " B wanted, but beside the other buffers %s has %" PRIu64
                        " of %" PRIu64 " B free, the largest piece %" PRIu64 " B",
                        buffer->bytes, room->memory->name, room->memory->size - room->used,
                        room->memory->size, largest);
    gap->begin = begin + buffer->bytes;
    room->used += buffer->bytes;
    placing->places->places[index].address = begin;
    return 0;
}

static int place_all(struct placing *placing)
{
    const struct buffer_spec *buffers = placing->jobs->buffers;

    for (size_t i = 0; i < placing->jobs->buffer_count; i++) {
        if (buffers[i].has_address && add_exact(placing, i))
            return -1;
    }
    for (size_t i = 0; i < PROFILE_MEMORIES_MAX; i++) {
        if (find_gaps(placing, &placing->rooms[i]))
            return -1;
    }
    for (size_t i = 0; i < placing->jobs->buffer_count; i++) {
        if (buffers[i].memory[0] != '\0' && !buffers[i].has_address && place_best(placing, i))
            return -1;
    }
    return 0;
}

int buffer_places_init(struct buffer_places *places, const struct target_profile *profile,
                       const struct job_file *file, struct fault *fault)
{
    struct placing placing = {
        .profile = profile, .places = places, .jobs = &file->list, .fault = fault};
    int status;

    *places = (struct buffer_places){0};
    if (file->list.buffer_count == 0)
        return 0;
    places->places = calloc(file->list.buffer_count, sizeof(*places->places));
    if (!places->places)
        return fault_no_memory(fault);
    status = place_all(&placing);
    for (size_t i = 0; i < PROFILE_MEMORIES_MAX; i++) {
        free(placing.rooms[i].exact);
        free(placing.rooms[i].gaps);
    }
    return status;
}

void buffer_places_finish(struct buffer_places *places)
{
    free(places->places);
    *places = (struct buffer_places){0};
}
