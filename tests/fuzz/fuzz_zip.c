/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/fuzz/fuzz_zip.h"

#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

struct zip_entry {
    struct zip_member member;
    uint32_t at;
};

uint32_t zip_crc(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint32_t crc = UINT32_MAX;

    for (size_t i = 0; i < size; i++) {
        crc ^= at[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    }
    return ~crc;
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

static void put_64(struct zip_writer *zip, uint64_t value)
{
    put(zip, (uint32_t)value, 4);
    put(zip, (uint32_t)(value >> 32), 4);
}

/* The fields that local headers and the directory share. */
static void put_fields(struct zip_writer *zip, const struct zip_member *member)
{
    put(zip, 20, 2);
    put(zip, member->flags, 2);
    put(zip, member->method, 2);
    put(zip, 0, 4); /* time and date */
    put(zip, member->crc, 4);
    put(zip, member->wide ? UINT32_MAX : member->size, 4);
    put(zip, member->wide ? UINT32_MAX : member->unpacked, 4);
    put(zip, (uint32_t)strlen(member->name), 2);
}

static void put_entry(struct zip_writer *zip, const struct zip_entry *entry)
{
    const struct zip_member *member = &entry->member;

    put(zip, 0x02014b50, 4);
    put(zip, 20, 2);
    put_fields(zip, member);
    put(zip, member->extra_size + (member->wide ? 28u : 0), 2);
    put(zip, member->comment, 2);
    put(zip, 0, 4); /* disk, attributes */
    put(zip, 0, 4);
    put(zip, member->wide ? UINT32_MAX : entry->at, 4);
    put_bytes(zip, member->name, strlen(member->name));
    if (member->wide) {
        put(zip, 24 << 16 | 1, 4);
        put_64(zip, member->unpacked);
        put_64(zip, member->size);
        put_64(zip, entry->at);
    }
    put_bytes(zip, member->extra, member->extra_size);
    for (uint16_t i = 0; i < member->comment; i++)
        put(zip, 'c', 1);
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
    put(zip, 0, 2); /* extra field */
    put_bytes(zip, member->name, strlen(member->name));
    put_bytes(zip, member->bytes, member->size);
}

static void put_end_64(struct zip_writer *zip, uint64_t count, uint32_t size, uint32_t at)
{
    const uint64_t where = zip->size;

    put(zip, 0x06064b50, 4);
    put_64(zip, 44);
    put(zip, 45 << 16 | 45, 4);
    put_64(zip, 0); /* disks */
    put_64(zip, count);
    put_64(zip, count);
    put_64(zip, size);
    put_64(zip, at);
    put(zip, 0x07064b50, 4);
    put(zip, 0, 4); /* disk */
    put_64(zip, where);
    put(zip, 1, 4);
}

void zip_end(struct zip_writer *zip, int said)
{
    const uint32_t at = (uint32_t)zip->size;

    for (size_t i = 0; i < zip->count; i++)
        put_entry(zip, &zip->entries[i]);
    const uint32_t size = (uint32_t)zip->size - at;

    if (zip->wide)
        put_end_64(zip, (uint64_t)((int64_t)zip->count + said), size, at);
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
