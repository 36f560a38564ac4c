/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_zip.h"

#include <stdlib.h>
#include <string.h>

#include "proto/serial/serial_frame.h"
#include "tests/fuzz/fuzz.h"

struct zip_entry {
    struct zip_member member;
    uint32_t at;
};

uint32_t zip_crc(const void *bytes, size_t size)
{
    return serial_crc32(0, bytes, size);
}

static void put_bytes(struct zip_writer *zip, const void *bytes, size_t size)
{
    if (size > zip->capacity - zip->size) {
        zip->capacity = 2 * zip->capacity + size + 4096;
        zip->bytes = realloc(zip->bytes, zip->capacity);
        FUZZ_ASSERT(zip->bytes);
    }
    if (size > 0)
        memcpy(zip->bytes + zip->size, bytes, size);
    zip->size += size;
}

static void put(struct zip_writer *zip, uint32_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        put_bytes(zip, &(uint8_t){(uint8_t)(value >> 8 * i)}, 1);
}

/* The fields that local headers and the directory share. */
static void put_fields(struct zip_writer *zip, const struct zip_member *member)
{
    put(zip, 20, 2);
    put(zip, member->flags, 2);
    put(zip, member->method, 2);
    put(zip, 0, 4); /* time and date */
    put(zip, member->crc, 4);
    put(zip, member->size, 4);
    put(zip, member->unpacked, 4);
    put(zip, (uint32_t)strlen(member->name), 2);
    put(zip, 0, 2); /* extra field */
}

void zip_add(struct zip_writer *zip, const struct zip_member *member)
{
    if ((zip->count & (zip->count - 1)) == 0) {
        zip->entries = realloc(zip->entries, (2 * zip->count + 1) * sizeof *zip->entries);
        FUZZ_ASSERT(zip->entries);
    }
    zip->entries[zip->count] = (struct zip_entry){*member, (uint32_t)zip->size};
    zip->entries[zip->count].member.name = strdup(member->name);
    FUZZ_ASSERT(zip->entries[zip->count].member.name);
    zip->count++;
    put(zip, 0x04034b50, 4);
    put_fields(zip, member);
    put_bytes(zip, member->name, strlen(member->name));
    put_bytes(zip, member->bytes, member->size);
}

void zip_end(struct zip_writer *zip, int said)
{
    const uint32_t at = (uint32_t)zip->size;

    for (size_t i = 0; i < zip->count; i++) {
        const struct zip_entry *entry = &zip->entries[i];

        put(zip, 0x02014b50, 4);
        put(zip, 20, 2);
        put_fields(zip, &entry->member);
        put(zip, 0, 2); /* comment */
        put(zip, 0, 4); /* disk, attributes */
        put(zip, 0, 4);
        put(zip, entry->at, 4);
        put_bytes(zip, entry->member.name, strlen(entry->member.name));
    }
    const uint32_t size = (uint32_t)zip->size - at;

    put(zip, 0x06054b50, 4);
    put(zip, 0, 4); /* disks */
    put(zip, (uint32_t)((int)zip->count + said), 2);
    put(zip, (uint32_t)((int)zip->count + said), 2);
    put(zip, size, 4);
    put(zip, at, 4);
    put(zip, 0, 2); /* comment */
}

void zip_finish(struct zip_writer *zip)
{
    for (size_t i = 0; i < zip->count; i++)
        free((char *)(uintptr_t)zip->entries[i].member.name);
    free(zip->entries);
    free(zip->bytes);
    *zip = (struct zip_writer){0};
}
