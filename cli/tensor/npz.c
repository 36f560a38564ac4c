/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/npz.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/regular.h"
#include "cli/tensor/zip_directory.h"
#include "cli/tensor/zip_member.h"
#include "cli/term/cancel.h"
#include "cli/term/print.h"

enum {
    CHUNK_BYTES = 256 * 1024,
    MEMBERS_MAX = 64 * 1024,
    HEADERS_FREE = 1024 * 1024, /* bytes of headers that any archive may have, */
    HEADERS_RATIO = 16,         /* and for each byte of the file */
    DEFLATE_RATIO = 1032        /* most bytes that a byte of deflate expands to */
};

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x0010
#endif

struct npz_member {
    struct zip_entry zip;
    bool paid; /* its header was taken from `headers_left`, and may be read again */
};

struct npz {
    int fd;
    uint64_t size;              /* of the file */
    uint64_t packed;            /* sum of the members' packed bytes */
    struct npz_member *members; /* by `place` of a tensor */
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
 * otherwise the work to unpack all of them would have no limit in the size of the file. A member
 * that is larger than the file is refused when it is opened.
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
        const char *name;
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
                         " B cannot unpack to "
                         "%" PRIu64 " B",
                         zip->packed, zip->unpacked);
    return 0;
}

static struct zip_member *open_member(const struct npz *npz, const struct zip_entry *zip,
                                      struct fault *fault)
{
    return check_member(zip, fault) ? NULL : zip_member_open(npz->fd, npz->size, zip, fault);
}

/* Takes bytes from those of the headers. Headers of blanks pack well: the limit bounds the work. */
static int take(struct npz *npz, uint64_t bytes, struct fault *fault)
{
    if (npz->headers_left == 0 || bytes > npz->headers_left)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "the headers of its archive take more than %d times the file to unpack",
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
    if (length >= 0 && !member->paid && take(npz, header, fault))
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
    int result =
        length < 0 ? -1 : npy_outline(bytes, (size_t)length, member->zip.unpacked, entry, fault);
    free(bytes);
    return result;
}

int npz_outline(struct npz *npz, struct tensor_entry *entry, struct fault *fault)
{
    struct npz_member *member = &npz->members[entry->place];
    if (!member->paid && take(npz, 0, fault))
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
    char *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        return fault_no_memory(fault);
    int result = 0;
    while (size > 0 && result == 0) {
        size_t want = size < CHUNK_BYTES ? (size_t)size : CHUNK_BYTES;
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
        (void)fcntl(fd, F_ADD_SEALS, fixed); /* ignores the failure of kernels before 5.1 */
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
