/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/zip_directory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/file/calls.h"
#include "cli/tensor/zip_bytes.h"
#include "proto/json/utf8.h"

enum {
    END_BYTES = 22, /* the record at the end of an archive, without its comment */
    COMMENT_MAX = 0xffff,
    END64_BYTES = 56,                     /* the record at the end for zip64, */
    LOCATOR_BYTES = 20,                   /* and its locator, before the first record */
    ENTRY_BYTES = 46,                     /* a member, without name, extra fields and comment */
    ENTRY_MAX = ENTRY_BYTES + 2 * 0xffff, /* with name and extra fields */
    CHUNK_BYTES = 256 * 1024,
    EXTRA_BYTES = 4, /* id and size of an extra field */
    EXTRA_ZIP64 = 1,
};
_Static_assert(CHUNK_BYTES >= ENTRY_MAX && CHUNK_BYTES >= END_BYTES + COMMENT_MAX,
               "a chunk holds a member, and all places of the record at the end");

static const char not_zip[] = "not a .npz file, or it is truncated";

static int complain(const char *what, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", not_zip, what);
}

static int read_exactly(int fd, void *bytes, size_t size, uint64_t at, struct fault *fault)
{
    const ssize_t got = read_bytes(fd, bytes, size, (off_t)at);

    if (got == (ssize_t)size)
        return 0;
    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s",
                     got < 0 ? strerror(errno) : "it shrank while it was read");
}

/* Fills the members of *directory from a record at the end. `limit`: where the directory must end.
 */
static int locate(struct zip_directory *directory, uint64_t count, uint64_t at, uint64_t size,
                  uint64_t limit, struct fault *fault)
{
    if (at > limit || size > limit - at)
        return complain("its directory is outside the file", fault);
    if (count > size / ENTRY_BYTES)
        return complain("its directory is smaller than its members need", fault);
    directory->count = count;
    directory->at = at;
    directory->end = at + size;
    return 0;
}

static int locate_64(struct zip_directory *directory, const unsigned char *locator, uint64_t limit,
                     struct fault *fault)
{
    const uint64_t at = zip_u64(locator + 8);
    unsigned char end[END64_BYTES];

    if (limit < END64_BYTES || at > limit - END64_BYTES)
        return complain("its zip64 record is outside the file", fault);
    if (read_exactly(directory->fd, end, sizeof(end), at, fault))
        return -1;
    if (!zip_begins(end, "PK\6\6"))
        return complain("its zip64 record is missing", fault);
    if (zip_u32(end + 16) || zip_u32(end + 20) || zip_u64(end + 24) != zip_u64(end + 32))
        return complain("it is a part of an archive in several parts", fault);
    return locate(directory, zip_u64(end + 32), zip_u64(end + 48), zip_u64(end + 40), at, fault);
}

/* Returns the last record with a comment up to the end of the bytes; without `exact`, also with a
 * shorter comment. Null: there is no record. */
static const unsigned char *last_end(const unsigned char *bytes, size_t size, bool exact)
{
    for (size_t at = size < END_BYTES ? 0 : size - END_BYTES + 1; at-- > 0;) {
        const size_t behind = size - at - END_BYTES;

        if (zip_begins(bytes + at, "PK\5\6") &&
            (exact ? zip_u16(bytes + at + 20) == behind : zip_u16(bytes + at + 20) <= behind))
            return bytes + at;
    }
    return NULL;
}

/* Returns the record at the end: a comment may look like one, and other bytes may follow. */
static const unsigned char *find_end(const unsigned char *bytes, size_t size)
{
    const unsigned char *end = last_end(bytes, size, true);

    return end ? end : last_end(bytes, size, false);
}

static int find(struct zip_directory *directory, uint64_t size, struct fault *fault)
{
    const uint64_t most = LOCATOR_BYTES + END_BYTES + COMMENT_MAX;
    const size_t length = (size_t)(size < most ? size : most);
    const unsigned char *bytes = directory->chunk, *end;
    uint64_t at;

    if (read_exactly(directory->fd, directory->chunk, length, size - length, fault))
        return -1;
    end = find_end(bytes, length);
    if (!end)
        return complain("no zip archive ends there", fault);
    at = size - length + (uint64_t)(end - bytes);
    if (end - bytes >= LOCATOR_BYTES && zip_begins(end - LOCATOR_BYTES, "PK\6\7"))
        return locate_64(directory, end - LOCATOR_BYTES, at - LOCATOR_BYTES, fault);
    if (zip_u32(end + 4) || zip_u16(end + 8) != zip_u16(end + 10))
        return complain("it is a part of an archive in several parts", fault);
    return locate(directory, zip_u16(end + 10), zip_u32(end + 16), zip_u32(end + 12), at, fault);
}

int zip_directory_open(struct zip_directory *directory, int fd, uint64_t size, struct fault *fault)
{
    *directory = (struct zip_directory){.fd = fd, .chunk = malloc(CHUNK_BYTES)};
    if (!directory->chunk)
        return fault_no_memory(fault);
    return find(directory, size, fault);
}

void zip_directory_close(struct zip_directory *directory)
{
    free(directory->chunk);
    free(directory->name);
}

/* Returns the next `size` bytes, at most ENTRY_MAX, of the directory; or null with the fault. */
static const unsigned char *peek(struct zip_directory *directory, size_t size, struct fault *fault)
{
    const uint64_t left = directory->end - directory->at;

    if (size > left) {
        fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                  "%s: its directory ends in member %" PRIu64 " of %" PRIu64, not_zip,
                  directory->next + 1, directory->count);
        return NULL;
    }
    if (directory->at + size > directory->chunk_at + directory->chunk_size) {
        directory->chunk_size = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        directory->chunk_at = directory->at;
        if (read_exactly(directory->fd, directory->chunk, directory->chunk_size, directory->at,
                         fault))
            return NULL;
    }
    return directory->chunk + (directory->at - directory->chunk_at);
}

/* Replaces a size or offset that did not fit in 32 bits by the next 64 bits of the extra field. */
static bool widen(uint64_t *value, const unsigned char **bytes, size_t *size)
{
    if (*value != UINT32_MAX)
        return true;
    if (*size < sizeof(*value))
        return false;
    *value = zip_u64(*bytes);
    *bytes += sizeof(*value);
    *size -= sizeof(*value);
    return true;
}

/* Applies the zip64 field, if there is one among the extra fields. Returns whether it is valid. */
static bool apply_zip64(struct zip_entry *entry, const unsigned char *extra, size_t size)
{
    while (size >= EXTRA_BYTES) {
        const size_t length = zip_u16(extra + 2), id = zip_u16(extra);

        extra += EXTRA_BYTES;
        size -= EXTRA_BYTES;
        if (length > size)
            break; /* some programs pad extra fields with anything */
        if (id == EXTRA_ZIP64) {
            size = length;
            return widen(&entry->unpacked, &extra, &size) && widen(&entry->packed, &extra, &size) &&
                   widen(&entry->at, &extra, &size);
        }
        extra += length;
        size -= length;
    }
    return true;
}

/* Reads a member that begins with the bytes of `chunk`, which has all but its comment. */
static int read_entry(struct zip_directory *directory, const unsigned char *bytes,
                      struct zip_entry *entry, struct fault *fault)
{
    const size_t name = zip_u16(bytes + 28), extra = zip_u16(bytes + 30);

    *entry = (struct zip_entry){.packed = zip_u32(bytes + 20),
                                .unpacked = zip_u32(bytes + 24),
                                .at = zip_u32(bytes + 42),
                                .crc = zip_u32(bytes + 16),
                                .method = zip_u16(bytes + 10),
                                .flags = zip_u16(bytes + 8)};
    if (!apply_zip64(entry, bytes + ENTRY_BYTES + name, extra))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: the zip64 field of member %" PRIu64 " of %" PRIu64 " is too short",
                         not_zip, directory->next + 1, directory->count);
    free(directory->name);
    directory->name = strndup((const char *)bytes + ENTRY_BYTES, name);
    if (directory->name && !utf8_is_valid(directory->name, strlen(directory->name)))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the name of member %" PRIu64 " of %" PRIu64
                         " is neither ASCII nor UTF-8: "
                         "write the archive again, as with numpy.savez()",
                         directory->next + 1, directory->count);
    return directory->name ? 0 : fault_no_memory(fault);
}

int zip_directory_next(struct zip_directory *directory, struct zip_entry *entry, const char **name,
                       struct fault *fault)
{
    const unsigned char *bytes = peek(directory, ENTRY_BYTES, fault);
    size_t size, comment;

    if (!bytes)
        return -1;
    if (!zip_begins(bytes, "PK\1\2"))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: its directory has no member %" PRIu64 " of %" PRIu64, not_zip,
                         directory->next + 1, directory->count);
    size = ENTRY_BYTES + (size_t)zip_u16(bytes + 28) + zip_u16(bytes + 30);
    comment = zip_u16(bytes + 32);
    bytes = peek(directory, size, fault);
    if (!bytes || read_entry(directory, bytes, entry, fault))
        return -1;
    directory->at += size;
    if (comment > directory->end - directory->at) {
        peek(directory, comment, fault);
        return -1;
    }
    directory->at += comment;
    directory->next++;
    *name = directory->name;
    if (directory->next == directory->count && directory->at < directory->end)
        return complain("its directory has more members than it says", fault);
    return 0;
}
