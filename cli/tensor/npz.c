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
#include <zip.h>

#include "cli/file/memory_file.h"
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

struct npz {
    zip_t *zip;
    uint64_t headers_left; /* bytes of headers that may still be unpacked */
};

static const char ending[] = ".npy";

static int complain(struct zip_error *error, const char *what, struct fault *fault)
{
    if (zip_error_code_zip(error) == ZIP_ER_MEMORY)
        return fault_no_memory(fault);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", what, zip_error_strerror(error));
}

static bool is_tensor(const char *name)
{
    size_t length = strlen(name), tail = sizeof(ending) - 1;
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

/* Lists the tensors. Ignores members that are not .npy files. */
static int list_members(zip_t *zip, struct tensor_list *list, struct fault *fault)
{
    zip_int64_t count = zip_get_num_entries(zip, 0);
    if (count > MEMBERS_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%" PRId64 " members; at most %d are supported", (int64_t)count,
                         MEMBERS_MAX);
    for (zip_int64_t i = 0; i < count; i++) {
        const char *name = zip_get_name(zip, (zip_uint64_t)i, 0);
        if (!name)
            return complain(zip_get_error(zip), "its directory cannot be read", fault);
        if (!is_tensor(name))
            continue;
        struct tensor_entry *entry = tensor_list_add(list, name);
        if (!entry)
            return fault_no_memory(fault);
        entry->name[strlen(entry->name) - (sizeof(ending) - 1)] = '\0';
        entry->place = (uint64_t)i;
    }
    return tensor_list_sort(list, fault);
}

/* Opens a stream with O_CLOEXEC, which libzip closes. (zip_fdopen() would leak its descriptor into
 * programs that mlictl starts.) */
static FILE *open_stream(int fd)
{
    int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    FILE *stream = own < 0 ? NULL : fdopen(own, "rb");
    if (own >= 0 && !stream)
        close(own);
    return stream;
}

static zip_t *open_zip(int fd, struct fault *fault)
{
    struct zip_error error;
    FILE *stream = open_stream(fd);
    if (!stream) {
        fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
        return NULL;
    }
    zip_error_init(&error);
    zip_source_t *source = zip_source_filep_create(stream, 0, -1, &error);
    zip_t *zip = source ? zip_open_from_source(source, ZIP_RDONLY, &error) : NULL;
    if (!zip)
        complain(&error, "not a .npz file, or it is truncated", fault);
    if (!source)
        fclose(stream);
    else if (!zip)
        zip_source_free(source);
    zip_error_fini(&error);
    return zip;
}

struct npz *npz_open(int fd, uint64_t size, struct tensor_list *list, struct fault *fault)
{
    *list = (struct tensor_list){0};
    struct npz *npz = calloc(1, sizeof(*npz));
    if (!npz) {
        fault_no_memory(fault);
        return NULL;
    }
    npz->headers_left =
        HEADERS_FREE + (size < INT64_MAX / HEADERS_RATIO ? HEADERS_RATIO * size : size);
    npz->zip = open_zip(fd, fault);
    if (!npz->zip || list_members(npz->zip, list, fault)) {
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
    if (npz->zip)
        zip_discard(npz->zip);
    free(npz);
}

/* Checks that a member's entry in the archive's directory is plausible. */
static int check_member(const zip_stat_t *member, struct fault *fault)
{
    const zip_uint64_t wanted =
        ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if ((member->valid & wanted) != wanted)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the archive's directory lacks its size or method");
    if (member->encryption_method != ZIP_EM_NONE)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is encrypted");
    if (member->comp_method != ZIP_CM_STORE && member->comp_method != ZIP_CM_DEFLATE)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "compression method %u is not supported; use stored or deflated members",
                         (unsigned)member->comp_method);
    uint64_t most = member->comp_size;
    if (member->comp_method == ZIP_CM_DEFLATE &&
        __builtin_mul_overflow(most, (uint64_t)DEFLATE_RATIO, &most))
        most = UINT64_MAX;
    if (member->size > most || member->size > INT64_MAX)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the archive's central directory is invalid: %" PRIu64
                         " B cannot unpack to "
                         "%" PRIu64 " B",
                         (uint64_t)member->comp_size, (uint64_t)member->size);
    return 0;
}

static zip_file_t *open_member(struct npz *npz, const struct tensor_entry *entry,
                               zip_stat_t *member, struct fault *fault)
{
    zip_stat_init(member);
    if (zip_stat_index(npz->zip, entry->place, 0, member)) {
        complain(zip_get_error(npz->zip), "it cannot be found", fault);
        return NULL;
    }
    if (check_member(member, fault))
        return NULL;
    zip_file_t *file = zip_fopen_index(npz->zip, entry->place, 0);
    if (!file)
        complain(zip_get_error(npz->zip), "it cannot be opened", fault);
    return file;
}

/* Reads `size` bytes, or fewer at the end of the member. Returns the number of bytes, or -1. */
static int64_t read_some(zip_file_t *file, void *buffer, size_t size, struct fault *fault)
{
    size_t done = 0;
    while (done < size) {
        zip_int64_t got = zip_fread(file, (char *)buffer + done, size - done);
        if (got < 0)
            return complain(zip_file_get_error(file), "it cannot be unpacked", fault);
        if (got == 0)
            break;
        done += (size_t)got;
    }
    return (int64_t)done;
}

/*
 * Takes the bytes of a header from those that may be unpacked. Headers of blanks pack well, and
 * members can share their bytes: without a limit, a small archive could be any amount of work.
 */
static int take_header(struct npz *npz, size_t header, struct fault *fault)
{
    if (header > npz->headers_left)
        return fault_set(fault, FAULT_LIMIT, NULL,
                         "the headers of its archive unpack to more than %d times the file",
                         HEADERS_RATIO);
    npz->headers_left -= header;
    return 0;
}

/* Reads and parses the header of a member. */
static int read_header(struct npz *npz, zip_file_t *file, uint64_t size, struct tensor_entry *entry,
                       struct fault *fault)
{
    char *bytes = malloc(NPY_HEADER_MAX);
    if (!bytes)
        return fault_no_memory(fault);
    int result = -1;
    int64_t length = read_some(file, bytes, NPY_PREFIX_MAX, fault), more = 0;
    size_t header = length < 0 ? 0 : npy_header_size(bytes, (size_t)length);
    if (header > NPY_HEADER_MAX)
        header = NPY_HEADER_MAX;
    if (take_header(npz, header, fault))
        length = -1;
    if (length >= 0 && (size_t)length < header)
        more = read_some(file, bytes + length, header - (size_t)length, fault);
    if (length >= 0 && more >= 0)
        result = npy_outline(bytes, (size_t)(length + more), size, entry, fault);
    free(bytes);
    return result;
}

int npz_outline(struct npz *npz, struct tensor_entry *entry, struct fault *fault)
{
    zip_stat_t member;
    zip_file_t *file = open_member(npz, entry, &member, fault);
    if (!file)
        return -1;
    int result = read_header(npz, file, member.size, entry, fault);
    zip_fclose(file);
    return result;
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

/* Checks that the member ends here. libzip checks the CRC when it reads the end. */
static int check_end(zip_file_t *file, struct fault *fault)
{
    char byte;
    int64_t more = read_some(file, &byte, 1, fault);
    if (more > 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it is longer than the archive says");
    return (int)more;
}

static int copy_member(zip_file_t *file, int fd, uint64_t size, struct fault *fault)
{
    char *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        return fault_no_memory(fault);
    int result = 0;
    while (size > 0 && result == 0) {
        size_t want = size < CHUNK_BYTES ? (size_t)size : CHUNK_BYTES;
        int64_t got = read_some(file, chunk, want, fault);
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
    return result ? result : check_end(file, fault);
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
    zip_stat_t member;
    zip_file_t *file = open_member(npz, entry, &member, fault);
    if (!file)
        return -1;
    uint64_t size = entry->header.data_offset + entry->bytes;
    int fd = -1;
    if (check_room(size, fault))
        goto out;
    fd = memory_file_create(fault);
    if (fd < 0)
        goto out;
    if (copy_member(file, fd, size, fault)) {
        close(fd);
        fd = -1;
        goto out;
    }
    seal(fd);
out:
    zip_fclose(file);
    return fd;
}
