/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "cli/file/calls.h"
#include "cli/file/regular.h"
#include "cli/tensor/npz.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"
#include "proto/json/utf8.h"

/* The fields of zip archives: little-endian integers and signatures of four bytes. */

static uint16_t zip_u16(const unsigned char *bytes)
{
    return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static uint32_t zip_u32(const unsigned char *bytes)
{
    return zip_u16(bytes) | (uint32_t)zip_u16(bytes + 2) << 16;
}

static uint64_t zip_u64(const unsigned char *bytes)
{
    return zip_u32(bytes) | (uint64_t)zip_u32(bytes + 4) << 32;
}

static bool zip_begins(const unsigned char *bytes, const char signature[4])
{
    return memcmp(bytes, signature, 4) == 0;
}

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_ENCRYPTED = 1 };

/* An entry of the archive's directory, before it is checked. */
struct zip_entry {
    uint64_t packed, unpacked; /* sizes in bytes */
    uint64_t at;               /* offset of the member's own header in the file */
    uint32_t crc;              /* CRC-32 of the unpacked bytes */
    uint16_t method;           /* ZIP_STORED, ZIP_DEFLATED, or an unsupported method */
    uint16_t flags;            /* ZIP_ENCRYPTED and other flags */
};

/*
 * The directory of a zip archive, read once from its first member to its last, in linear time for
 * any file. Names are returned, but not compared. Reads zip64, but no archives in several parts.
 */
struct zip_directory {
    int fd;
    uint64_t count;   /* number of members */
    uint64_t next;    /* number of the member that zip_directory_next() reads next */
    uint64_t at, end; /* offsets of the part of the directory that is not read yet, in the file */
    unsigned char *chunk; /* bytes of the file from `chunk_at` on; owned */
    uint64_t chunk_at;
    size_t chunk_size;
    char *name; /* owned */
};

enum {
    END_BYTES = 22, /* bytes of the record at the end of an archive, without its comment */
    COMMENT_MAX = 0xffff,
    END64_BYTES = 56,   /* bytes of the ZIP64 record at the end */
    LOCATOR_BYTES = 20, /* bytes of the locator of the ZIP64 record, before the end record */
    ENTRY_BYTES = 46,   /* bytes of a member's entry, without name, extra fields and comment */
    /* Maximum bytes of an entry, with name and extra fields. */
    ENTRY_MAX = ENTRY_BYTES + 2 * 0xffff,
    CHUNK_BYTES = 256 * 1024,
    EXTRA_BYTES = 4, /* bytes of id and size of an extra field */
    EXTRA_ZIP64 = 1,
};
_Static_assert(CHUNK_BYTES >= ENTRY_MAX && CHUNK_BYTES >= END_BYTES + COMMENT_MAX,
               "a chunk holds a member, and all places of the record at the end");

static const char not_zip[] = "not a .npz file, or it is truncated";

static int complain_zip(const char *what, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", not_zip, what);
}

/* `what` names the file in the message. */
static int read_exactly(int fd, void *bytes, size_t size, uint64_t at, const char *what,
                        struct fault *fault)
{
    const ssize_t got = read_bytes(fd, bytes, size, (off_t)at);

    if (got == (ssize_t)size)
        return 0;
    if (got < 0)
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s shrank while it was read", what);
}

/* Fills the members of *directory from the record at the end of an archive. `limit`: offset at
 * which the directory must end. */
static int locate(struct zip_directory *directory, uint64_t count, uint64_t at, uint64_t size,
                  uint64_t limit, struct fault *fault)
{
    if (at > limit || size > limit - at)
        return complain_zip("its directory is outside the file", fault);
    if (count > size / ENTRY_BYTES)
        return complain_zip("its directory is smaller than its members need", fault);
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
        return complain_zip("its zip64 record is outside the file", fault);
    if (read_exactly(directory->fd, end, sizeof(end), at, "it", fault))
        return -1;
    if (!zip_begins(end, "PK\6\6"))
        return complain_zip("its zip64 record is missing", fault);
    if (zip_u32(end + 16) || zip_u32(end + 20) || zip_u64(end + 24) != zip_u64(end + 32))
        return complain_zip("it is a part of an archive in several parts", fault);
    return locate(directory, zip_u64(end + 32), zip_u64(end + 48), zip_u64(end + 40), at, fault);
}

/* Returns the last end record of the archive, or null. If `exact` is true, the record's comment
 * must end with the last byte; otherwise other bytes may follow it. */
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

/* Searches for the end record and returns it. A comment may look like a record, and other bytes
 * may follow the archive. */
static const unsigned char *find_end(const unsigned char *bytes, size_t size)
{
    const unsigned char *end = last_end(bytes, size, true);

    return end ? end : last_end(bytes, size, false);
}

static int find_directory(struct zip_directory *directory, uint64_t size, struct fault *fault)
{
    const uint64_t most = LOCATOR_BYTES + END_BYTES + COMMENT_MAX;
    const size_t length = (size_t)(size < most ? size : most);
    const unsigned char *bytes = directory->chunk, *end;
    uint64_t at;

    if (read_exactly(directory->fd, directory->chunk, length, size - length, "it", fault))
        return -1;
    end = find_end(bytes, length);
    if (!end)
        return complain_zip("the end of a zip archive is missing", fault);
    at = size - length + (uint64_t)(end - bytes);
    if (end - bytes >= LOCATOR_BYTES && zip_begins(end - LOCATOR_BYTES, "PK\6\7"))
        return locate_64(directory, end - LOCATOR_BYTES, at - LOCATOR_BYTES, fault);
    if (zip_u32(end + 4) || zip_u16(end + 8) != zip_u16(end + 10))
        return complain_zip("it is a part of an archive in several parts", fault);
    return locate(directory, zip_u16(end + 10), zip_u32(end + 16), zip_u32(end + 12), at, fault);
}

/*
 * Finds the directory of the archive in a file of `size` bytes, and fills `count`. The caller keeps
 * the descriptor open, and calls zip_directory_close() in any case. Returns 0 or -1.
 */
static int zip_directory_open(struct zip_directory *directory, int fd, uint64_t size,
                              struct fault *fault)
{
    *directory = (struct zip_directory){.fd = fd, .chunk = malloc(CHUNK_BYTES)};
    if (!directory->chunk)
        return fault_no_memory(fault);
    return find_directory(directory, size, fault);
}

static void zip_directory_close(struct zip_directory *directory)
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
                         "it", fault))
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
            break; /* ignore the rest: some programs pad extra fields with arbitrary bytes */
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

/* Reads the entry of a member from `bytes`, which has the whole entry except its comment. */
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

/*
 * Reads the next of the `count` members. *name becomes its name, valid until the next call. A name
 * that is not UTF-8 is refused. Returns 0 or -1.
 */
static int zip_directory_next(struct zip_directory *directory, struct zip_entry *entry,
                              const char **name, struct fault *fault)
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
        return complain_zip("its directory has more members than it says", fault);
    return 0;
}

/* A member of a zip archive that is being unpacked, stored or deflated. */

enum {
    HEADER_BYTES = 30, /* bytes of a member's own header, without name and extra fields */
    INPUT_FIRST = 512, /* bytes of the first read, enough for the headers of tensors; each further
                          read is twice as large */
    INPUT_BYTES = 64 * 1024 /* maximum number of bytes that are read at once */
};

struct zip_member {
    int fd;
    uint64_t at, left; /* offset and number of the packed bytes that were not read yet */
    uint32_t crc, crc_wanted;
    bool deflated, ended;
    size_t input_size; /* bytes of the next read */
    z_stream stream;
    unsigned char input[INPUT_BYTES];
};

static int complain_member(const char *what, const char *why, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it cannot be %s: %s", what, why);
}

/* Finds the packed bytes behind the member's own header. */
static int find_packed(struct zip_member *member, uint64_t size, const struct zip_entry *entry,
                       struct fault *fault)
{
    unsigned char header[HEADER_BYTES];

    if (size < HEADER_BYTES || entry->at > size - HEADER_BYTES)
        return complain_member("opened", "its header is outside the archive", fault);
    if (read_exactly(member->fd, header, sizeof(header), entry->at, "its archive", fault))
        return -1;
    if (!zip_begins(header, "PK\3\4"))
        return complain_member("opened", "its header is not where the archive's directory says",
                               fault);
    member->at = entry->at + HEADER_BYTES + zip_u16(header + 26) + zip_u16(header + 28);
    if (member->at > size || entry->packed > size - member->at)
        return complain_member("opened", "it ends outside the archive", fault);
    member->left = entry->packed;
    return 0;
}

/*
 * Opens a member, which must be stored or deflated, of the archive in a file of `size` bytes. The
 * caller keeps the descriptor open. Returns null with the fault if it fails.
 */
static struct zip_member *zip_member_open(int fd, uint64_t size, const struct zip_entry *entry,
                                          struct fault *fault)
{
    struct zip_member *member = calloc(1, sizeof(*member));

    if (!member) {
        fault_no_memory(fault);
        return NULL;
    }
    member->fd = fd;
    member->crc = (uint32_t)crc32(0, NULL, 0);
    member->crc_wanted = entry->crc;
    member->input_size = INPUT_FIRST;
    if (find_packed(member, size, entry, fault)) {
        free(member);
        return NULL;
    }
    if (entry->method == ZIP_STORED)
        return member;
    member->stream = (z_stream){0};
    if (inflateInit2(&member->stream, -MAX_WBITS) != Z_OK) {
        fault_no_memory(fault);
        free(member);
        return NULL;
    }
    member->deflated = true;
    return member;
}

static void zip_member_close(struct zip_member *member)
{
    if (member && member->deflated)
        inflateEnd(&member->stream);
    free(member);
}

static int take_packed(struct zip_member *member, void *bytes, size_t size, struct fault *fault)
{
    if (read_exactly(member->fd, bytes, size, member->at, "its archive", fault))
        return -1;
    member->at += size;
    member->left -= size;
    return 0;
}

static int fill_input(struct zip_member *member, struct fault *fault)
{
    const size_t size =
        member->left < member->input_size ? (size_t)member->left : member->input_size;

    if (take_packed(member, member->input, size, fault))
        return -1;
    member->stream.next_in = member->input;
    member->stream.avail_in = (uInt)size;
    if (member->input_size < INPUT_BYTES)
        member->input_size *= 2;
    return 0;
}

/* Unpacks until the buffer is full or the data end. `size` must fit into a uInt. */
static int64_t unpack(struct zip_member *member, void *buffer, size_t size, struct fault *fault)
{
    z_stream *stream = &member->stream;

    stream->next_out = buffer;
    stream->avail_out = (uInt)size;
    while (stream->avail_out > 0 && !member->ended) {
        int status;

        if (stream->avail_in == 0 && fill_input(member, fault))
            return -1;
        status = inflate(stream, Z_NO_FLUSH);
        if (status == Z_STREAM_END)
            member->ended = true;
        else if (status == Z_MEM_ERROR)
            return fault_no_memory(fault);
        else if (status == Z_BUF_ERROR)
            return complain_member("unpacked", "its packed bytes end too early", fault);
        else if (status != Z_OK)
            return complain_member("unpacked", stream->msg ? stream->msg : "its bytes are invalid",
                                   fault);
    }
    return (int64_t)(size - stream->avail_out);
}

static int64_t copy(struct zip_member *member, void *buffer, size_t size, struct fault *fault)
{
    if (size >= member->left) {
        size = (size_t)member->left;
        member->ended = true;
    }
    return take_packed(member, buffer, size, fault) ? -1 : (int64_t)size;
}

/*
 * Unpacks the next `size` bytes, or fewer at the member's end. Ignores the size in the directory.
 * At the member's end, a wrong CRC is an error. Returns the number of bytes, or -1 with the fault.
 */
static int64_t zip_member_read(struct zip_member *member, void *buffer, size_t size,
                               struct fault *fault)
{
    int64_t got;

    if (member->ended)
        got = 0;
    else
        got = member->deflated ? unpack(member, buffer, size, fault)
                               : copy(member, buffer, size, fault);
    if (got < 0)
        return -1;
    if (got > 0)
        member->crc = (uint32_t)crc32(member->crc, buffer, (uInt)got);
    if (member->ended && (size_t)got < size && member->crc != member->crc_wanted)
        return complain_member("unpacked", "its CRC is wrong", fault);
    return got;
}

enum {
    EXTRACT_BYTES = 256 * 1024,
    MEMBERS_MAX = 64 * 1024,
    HEADERS_FREE = 1024 * 1024, /* bytes of headers that each archive may have */
    HEADERS_RATIO = 16,         /* further bytes of headers for each byte of the file */
    DEFLATE_RATIO = 1032        /* maximum number of bytes that a byte of deflate expands to */
};

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

struct npz_member {
    struct zip_entry zip;
    bool paid; /* true: the header's bytes were subtracted from `headers_left`; only once */
};

struct npz {
    int fd;
    uint64_t size;              /* bytes of the file */
    uint64_t packed;            /* sum of the members' packed bytes */
    struct npz_member *members; /* members, in the order of `place` in the list of tensors */
    uint64_t headers_left;      /* bytes of headers that may still be unpacked */
};

static const char ending[] = ".npy";

static bool is_tensor(const char *name)
{
    size_t length = strlen(name), tail = sizeof(ending) - 1;
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/*
 * Adds a member to the list, unless it is no .npy file. Members must not share bytes of the file:
 * otherwise the size of the file would not limit the work of unpacking all members. A member that
 * is larger than the file is refused when it is opened.
 */
static int add_member(struct npz *npz, const struct zip_entry *zip, const char *name,
                      struct tensor_list *list, struct fault *fault)
{
    if (!is_tensor(name))
        return 0;
    npz->packed += zip->packed <= npz->size ? zip->packed : 0;
    if (npz->packed > npz->size)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "its members have more packed bytes than the file: members overlap, or "
                         "their sizes are wrong");
    struct tensor_entry *entry = tensor_list_add(list, name);
    if (!entry)
        return fault_no_memory(fault);
    entry->name[strlen(entry->name) - (sizeof(ending) - 1)] = '\0';
    entry->place = list->count - 1;
    npz->members[entry->place].zip = *zip;
    return 0;
}

static int list_members(struct npz *npz, struct zip_directory *directory, struct tensor_list *list,
                        struct fault *fault)
{
    if (directory->count > MEMBERS_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%" PRIu64 " members; at most %d are supported", directory->count,
                         MEMBERS_MAX);
    npz->members = calloc((size_t)directory->count + 1, sizeof(*npz->members));
    if (!npz->members)
        return fault_no_memory(fault);
    for (uint64_t i = 0; i < directory->count; i++) {
        struct zip_entry zip;
        const char *name = "";
        if (zip_directory_next(directory, &zip, &name, fault) ||
            add_member(npz, &zip, name, list, fault))
            return -1;
    }
    return tensor_list_sort(list, fault);
}

static int read_directory(struct npz *npz, struct tensor_list *list, struct fault *fault)
{
    struct zip_directory directory;
    int result = zip_directory_open(&directory, npz->fd, npz->size, fault);
    if (result == 0)
        result = list_members(npz, &directory, list, fault);
    zip_directory_close(&directory);
    return result;
}

struct npz *npz_open(int fd, uint64_t size, struct tensor_list *list, struct fault *fault)
{
    *list = (struct tensor_list){0};
    struct npz *npz = calloc(1, sizeof(*npz));
    if (!npz) {
        fault_no_memory(fault);
        return NULL;
    }
    npz->size = size;
    npz->headers_left =
        HEADERS_FREE + (size < INT64_MAX / HEADERS_RATIO ? HEADERS_RATIO * size : size);
    npz->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (npz->fd < 0)
        fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
    if (npz->fd < 0 || read_directory(npz, list, fault)) {
        npz_close(npz);
        tensor_list_finish(list);
        return NULL;
    }
    return npz;
}

void npz_close(struct npz *npz)
{
    if (!npz)
        return;
    if (npz->fd >= 0)
        close(npz->fd);
    free(npz->members);
    free(npz);
}

/* Checks that a member's entry in the archive's directory is plausible. */
static int check_member(const struct zip_entry *zip, struct fault *fault)
{
    if (zip->flags & ZIP_ENCRYPTED)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is encrypted");
    if (zip->method != ZIP_STORED && zip->method != ZIP_DEFLATED)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "compression method %u is not supported; use stored or deflated members",
                         (unsigned)zip->method);
    uint64_t most = zip->packed;
    if (zip->method == ZIP_DEFLATED && __builtin_mul_overflow(most, (uint64_t)DEFLATE_RATIO, &most))
        most = UINT64_MAX;
    if (zip->unpacked > most || zip->unpacked > INT64_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the archive's central directory is invalid: %" PRIu64
                         " B cannot unpack to %" PRIu64 " B",
                         zip->packed, zip->unpacked);
    return 0;
}

static struct zip_member *open_member(const struct npz *npz, const struct zip_entry *zip,
                                      struct fault *fault)
{
    return check_member(zip, fault) ? NULL : zip_member_open(npz->fd, npz->size, zip, fault);
}

/* Subtracts bytes from the limit on unpacked headers, which bounds the work: headers full of blanks
 * pack well. */
static int count_header(struct npz *npz, uint64_t bytes, struct fault *fault)
{
    if (npz->headers_left == 0 || bytes > npz->headers_left)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "the headers of its archive unpack to more than %d times the file",
                         HEADERS_RATIO);
    npz->headers_left -= bytes;
    return 0;
}

/* Reads the header of a member into NPY_HEADER_MAX bytes. Returns the number of bytes, or -1. */
static int64_t read_header(struct npz *npz, struct npz_member *member, struct zip_member *file,
                           char *bytes, struct fault *fault)
{
    int64_t length = zip_member_read(file, bytes, NPY_PREFIX_MAX, fault), more = 0;
    size_t header = length < 0 ? 0 : npy_header_size(bytes, (size_t)length);
    if (header > NPY_HEADER_MAX)
        header = NPY_HEADER_MAX;
    if (length >= 0 && !member->paid && count_header(npz, header, fault))
        return -1;
    member->paid = true;
    if (length >= 0 && (size_t)length < header)
        more = zip_member_read(file, bytes + length, header - (size_t)length, fault);
    return length < 0 || more < 0 ? -1 : length + more;
}

static int outline(struct npz *npz, struct npz_member *member, struct tensor_entry *entry,
                   struct fault *fault)
{
    struct zip_member *file = open_member(npz, &member->zip, fault);
    char *bytes = file ? malloc(NPY_HEADER_MAX) : NULL;
    int64_t length = -1;
    if (!file)
        return -1;
    if (bytes)
        length = read_header(npz, member, file, bytes, fault);
    else
        fault_no_memory(fault);
    zip_member_close(file);
    int result = length < 0 ? -1
                            : tensor_entry_outline(bytes, (size_t)length, member->zip.unpacked,
                                                   entry, fault);
    free(bytes);
    return result;
}

int npz_outline(struct npz *npz, struct tensor_entry *entry, struct fault *fault)
{
    struct npz_member *member = &npz->members[entry->place];
    if (!member->paid && count_header(npz, 0, fault))
        return -1;
    return outline(npz, member, entry, fault);
}

static int check_room(uint64_t size, struct fault *fault)
{
    char needed[PRINT_TEXT_MAX], half[PRINT_TEXT_MAX];
    if (memory_file_fits(size, half))
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "%s unpacked, more than half of this machine's memory (%s); unpack the "
                     "archive and use the .npy file",
                     print_bytes(needed, size), half);
}

/* Checks that the member ends here. Reading the end checks the CRC. */
static int check_end(struct zip_member *member, struct fault *fault)
{
    char byte;
    int64_t more = zip_member_read(member, &byte, 1, fault);
    if (more > 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is longer than the archive says");
    return (int)more;
}

static int copy_member(struct zip_member *member, int fd, uint64_t size, struct fault *fault)
{
    char *chunk = malloc(EXTRACT_BYTES);
    if (!chunk)
        return fault_no_memory(fault);
    int result = 0;
    while (size > 0 && result == 0) {
        size_t want = size < EXTRACT_BYTES ? (size_t)size : EXTRACT_BYTES;
        int64_t got = zip_member_read(member, chunk, want, fault);
        if (got >= 0 && (size_t)got < want)
            result = fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                               "it is %" PRIu64 " B shorter than the archive says",
                               size - (uint64_t)got);
        else
            result = got < 0 ? -1 : memory_file_write(fd, chunk, want, fault);
        if (result == 0 && cancel_requested())
            result = cancel_fault(fault);
        size -= want;
    }
    free(chunk);
    return result ? result : check_end(member, fault);
}

/* Seals the copy: its users may read and map it, and cannot change it for later jobs. */
static void seal(int fd)
{
    const int fixed = F_SEAL_SHRINK | F_SEAL_GROW;
    if (fcntl(fd, F_ADD_SEALS, fixed | F_SEAL_FUTURE_WRITE))
        (void)fcntl(fd, F_ADD_SEALS, fixed); /* kernels before 5.1 refuse F_SEAL_FUTURE_WRITE */
}

int npz_extract(struct npz *npz, const struct tensor_entry *entry, struct fault *fault)
{
    struct zip_member *member = open_member(npz, &npz->members[entry->place].zip, fault);
    if (!member)
        return -1;
    uint64_t size = entry->header.data_offset + entry->bytes;
    int fd = -1;
    if (check_room(size, fault))
        goto out;
    fd = memory_file_create(fault);
    if (fd < 0)
        goto out;
    if (copy_member(member, fd, size, fault)) {
        close(fd);
        fd = -1;
        goto out;
    }
    seal(fd);
out:
    zip_member_close(member);
    return fd;
}
