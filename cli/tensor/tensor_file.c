/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/place.h"
#include "cli/file/regular.h"
#include "cli/tensor/tensor_file.h"
#include "cli/term/cancel.h"

enum { LIFT_BYTES = 16 << 20 }; /* bytes per system call: limits the delay of ^C */

static const char *kind_of_file(mode_t mode)
{
    if (S_ISDIR(mode))
        return "a directory";
    if (S_ISFIFO(mode))
        return "a fifo";
    if (S_ISSOCK(mode))
        return "a socket";
    return "a device";
}

const char *tensor_path_kind(const char *path)
{
    struct stat status;

    return stat(path, &status) || S_ISREG(status.st_mode) ? NULL : kind_of_file(status.st_mode);
}

static int refuse_kind(const struct tensor_file *file, mode_t mode, struct fault *fault)
{
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, NULL, "%s is %s; a regular file is needed%s",
                     file->shown, kind_of_file(mode),
                     S_ISFIFO(mode) ? ", or - for standard input" : "");
}

static const char shrank[] = "it shrank while it was read, or its storage failed";

static int too_wide(const struct tensor_file *file, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: a stride exceeds 31 bits",
                     file->shown);
}

static int read_npy(struct tensor_file *file, struct fault *fault)
{
    uint64_t size = (uint64_t)file->stat.st_size;
    size_t length = size < NPY_HEADER_MAX ? (size_t)size : NPY_HEADER_MAX;
    char *bytes = malloc(length + 1);
    if (!bytes)
        return fault_no_memory(fault);
    int result = -1;
    const ssize_t got = read_bytes(file->fd, bytes, length, 0);
    if (got != (ssize_t)length) {
        fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown,
                  got < 0 ? strerror(errno) : shrank);
        goto out;
    }
    struct fault why;
    if (npy_parse(bytes, length, size, &file->header, &why)) {
        fault_set(fault, why.code, NULL, "%s: %s", file->shown, why.text);
        goto out;
    }
    if (npy_strides(&file->header, file->strides)) {
        too_wide(file, fault);
        goto out;
    }
    result = 0;
out:
    free(bytes);
    return result;
}

/* Checks that the descriptor is a regular file. Returns 0, or -1 with the file closed. */
static int check_kind(struct tensor_file *file, struct fault *fault)
{
    if (fstat(file->fd, &file->stat))
        fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown, strerror(errno));
    else if (!S_ISREG(file->stat.st_mode))
        refuse_kind(file, file->stat.st_mode, fault);
    else
        return 0;
    tensor_file_close(file);
    return -1;
}

/* Adds the file's name to a fault's text; keeps the pointer. Returns -1. */
static int name_fault(const struct tensor_file *file, struct fault *fault)
{
    if (fault->code == FAULT_CANCELLED)
        return -1;
    return fault_set(fault, fault->code, fault->has_pointer ? fault->pointer : NULL, "%s: %s",
                     file->shown, fault->text);
}

/* Copies standard input to its end into memory. Returns the descriptor, or -1 with the fault. */
static int read_standard_input(struct fault *fault)
{
    const int fd = memory_file_create(fault);
    char *chunk = malloc(LIFT_BYTES), half[PRINT_TEXT_MAX];
    int status = fd < 0 || chunk ? 0 : fault_no_memory(fault);
    uint64_t size = 0;

    for (ssize_t got = 1; fd >= 0 && status == 0 && got != 0;) {
        struct pollfd polled[] = {{STDIN_FILENO, POLLIN, 0}, {cancel_fd(), POLLIN, 0}};
        poll(polled, 2, -1);
        if (cancel_requested()) {
            status = cancel_fault(fault);
            break;
        }
        got = read(STDIN_FILENO, chunk, LIFT_BYTES);
        size += got > 0 ? (uint64_t)got : 0;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            status = fault_set(fault, FAULT_IO_ERROR, NULL, "%s", strerror(errno));
        else if (!memory_file_fits(size, half))
            status = fault_set(fault, FAULT_LIMIT, NULL, "more than half of the memory (%s)", half);
        else if (got > 0)
            status = memory_file_write(fd, chunk, (size_t)got, fault);
    }
    free(chunk);
    if (status && fd >= 0)
        close(fd);
    return status ? -1 : fd;
}

/* Standard input is read once, and is the same tensor wherever it is named. */
static int open_standard_input(struct tensor_file *file, struct fault *fault)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int copy = -1;

    strcpy(file->shown, "standard input");
    pthread_mutex_lock(&lock);
    if (copy < 0)
        copy = read_standard_input(fault);
    file->fd = copy < 0 ? -1 : fcntl(copy, F_DUPFD_CLOEXEC, 0);
    const int error = errno;
    pthread_mutex_unlock(&lock);
    if (copy < 0)
        return name_fault(file, fault);
    if (file->fd < 0 || fstat(file->fd, &file->stat))
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown, strerror(error));
    return 0;
}

int tensor_file_open_bare(struct tensor_file *file, const char *path, enum file_format format,
                          struct fault *fault)
{
    *file = (struct tensor_file){.path = path, .fd = -1, .format = format};
    print_path(file->shown, path);
    if (strcmp(path, "-") == 0)
        return open_standard_input(file, fault);
    file->fd = regular_open(path, O_RDONLY, &file->stat);
    if (file->fd >= 0)
        return 0;
    if (file->fd == REGULAR_OTHER)
        return refuse_kind(file, file->stat.st_mode, fault);
    int error = errno;
    char near[NEAR_FILE_MAX] = "";
    return fault_set(fault, exit_code_fault(error, FAULT_BAD_DESCRIPTOR), NULL, "%s: %s%s",
                     file->shown, strerror(error), error == ENOENT ? near_file(near, path) : "");
}

const char *tensor_file_name(char shown[TENSOR_FILE_SHOWN_MAX], const char *tensor)
{
    size_t length = strlen(shown);
    int size = tensor_name_shown(tensor);
    snprintf(shown + length, TENSOR_FILE_SHOWN_MAX - length, "[%.*s%s]", size, tensor,
             tensor[size] ? "..." : "");
    return shown;
}

int tensor_file_enter(struct tensor_file *file, struct archive *archive, struct tensor_entry *entry,
                      bool bytes, struct fault *fault)
{
    int fd;
    tensor_file_name(file->shown, entry->name);
    if (archive_outline(archive, entry, fault))
        return name_fault(file, fault);
    if (entry->refusal && !bytes)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: %s", file->shown, entry->refusal);
    file->header = entry->header;
    file->header.data_size = entry->bytes;
    if (npy_strides(&file->header, file->strides))
        return too_wide(file, fault);
    if (archive_unpack(archive, entry, &fd, fault))
        return name_fault(file, fault);
    if (fd < 0)
        return 0;
    close(file->fd);
    file->fd = fd;
    if (fstat(fd, &file->stat))
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown, strerror(errno));
    return 0;
}

int tensor_file_archive(const struct tensor_file *file, struct archive **archive,
                        struct fault *fault)
{
    *archive = archive_acquire(file->fd, &file->stat, file->format, fault);
    return *archive ? 0 : name_fault(file, fault);
}

static int enter_archive(struct tensor_file *file, const char *name, struct fault *fault)
{
    struct archive *archive;
    if (tensor_file_archive(file, &archive, fault))
        return -1;
    struct tensor_entry *entry = tensor_list_choose(archive_list(archive), name, fault);
    int result =
        entry ? tensor_file_enter(file, archive, entry, false, fault) : name_fault(file, fault);
    archive_release(archive);
    if (entry && result && name && fault->code == FAULT_INVALID_PARAMS)
        fault_set(fault, fault->code, "/tensor", "%s",
                  fault->text); /* the name of the tensor is at fault: point to it */
    return result;
}

/* Reads the header, or enters an archive. Returns 0, or -1 with the file closed. */
static int read_open(struct tensor_file *file, const char *tensor, struct fault *fault)
{
    int result = 0;
    if (file->format == FILE_FORMAT_NPY)
        result = read_npy(file, fault);
    else if (file_format_is_archive(file->format))
        result = enter_archive(file, tensor, fault);
    if (result)
        tensor_file_close(file);
    return result;
}

int tensor_file_open(struct tensor_file *file, const char *path, enum file_format format,
                     const char *tensor, struct fault *fault)
{
    return tensor_file_open_bare(file, path, format, fault) ? -1 : read_open(file, tensor, fault);
}

int tensor_file_adopt(struct tensor_file *file, int fd, const char *path, enum file_format format,
                      const char *tensor, struct fault *fault)
{
    *file = (struct tensor_file){.path = path, .fd = fd, .format = format};
    print_path(file->shown, path);
    return check_kind(file, fault) ? -1 : read_open(file, tensor, fault);
}

void tensor_file_close(struct tensor_file *file)
{
    if (file->map) {
        file_map_finish(file->map);
        free(file->map);
    }
    if (file->fd >= 0)
        close(file->fd);
    *file = (struct tensor_file){.fd = -1};
}

/* Computes the number of bytes from the first element to the end of the last element. Returns
 * false if the number exceeds 63 bits. */
bool tensor_span(const struct npy_header *header, const int32_t *strides, uint64_t *bytes)
{
    int64_t last = 0;
    for (uint32_t d = 0; d < header->rank; d++) {
        int64_t reach;
        if (__builtin_mul_overflow((int64_t)header->shape[d] - 1, (int64_t)strides[d], &reach) ||
            __builtin_add_overflow(last, reach, &last))
            return false;
    }
    int64_t span;
    if (__builtin_add_overflow(last, (int64_t)1, &last) ||
        __builtin_mul_overflow(last, (int64_t)header->item_size, &span))
        return false;
    *bytes = (uint64_t)span;
    return true;
}

bool tensor_strides(uint32_t rank, const uint32_t *shape, const int32_t *given,
                    int32_t strides[TENSOR_RANK_MAX])
{
    uint64_t stride = 1;
    for (uint32_t d = rank; d-- > 0;) {
        if (given && given[d])
            stride = (uint64_t)given[d];
        if (stride > INT32_MAX)
            return false;
        strides[d] = (int32_t)stride;
        stride *= shape[d]; /* no overflow: both are below 2^32 */
    }
    return true;
}

int tensor_file_set_raw(struct tensor_file *file, const struct npy_header *header,
                        const int32_t *strides, struct fault *fault)
{
    file->header = *header;
    uint64_t span;
    if (!tensor_strides(header->rank, header->shape, strides, file->strides))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "%s: a packed stride (the next inner stride times its extent) exceeds "
                         "%" PRId32 ": use a smaller stride or shape",
                         file->shown, INT32_MAX);
    if (!tensor_span(header, file->strides, &span))
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s: the shape exceeds 2^63 bytes",
                         file->shown);
    file->header.data_size = span;
    uint64_t size = (uint64_t)file->stat.st_size;
    uint64_t left = size < header->data_offset ? 0 : size - header->data_offset;
    char shape[PRINT_TEXT_MAX];
    /* A buffer has no path: the caller checks its size. */
    if ((file->fd >= 0 || file->path) && span > left)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, NULL,
                         "%s has %" PRIu64 " B from offset %" PRIu64 " on, but %" PRIu64
                         " B are needed for shape %s of %" PRIu32 "-byte elements",
                         file->shown, left, header->data_offset, span,
                         print_shape(shape, header->rank, header->shape), header->item_size);
    return 0;
}

uint64_t tensor_file_content(const struct tensor_file *file)
{
    return file->format == FILE_FORMAT_RAW ? (uint64_t)file->stat.st_size : file->header.data_size;
}

void tensor_file_describe(const struct tensor_file *file, struct tensor_desc *desc)
{
    desc->rank = desc->stride_count = file->header.rank;
    memcpy(desc->shape, file->header.shape, sizeof(desc->shape));
    desc->has_strides = true;
    memcpy(desc->strides, file->strides, sizeof(desc->strides));
}

static int copy_elements(const struct tensor_file *file, int to, struct fault *fault)
{
    off_t at = (off_t)file->header.data_offset;
    for (uint64_t left = file->header.data_size; left > 0;) {
        ssize_t put = sendfile(to, file->fd, &at, left < LIFT_BYTES ? (size_t)left : LIFT_BYTES);
        if (cancel_requested())
            return cancel_fault(fault);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown,
                             put < 0 ? strerror(errno) : "it shrank while it was read");
        left -= (uint64_t)put;
    }
    return 0;
}

int tensor_file_lift(struct tensor_file *file, struct fault *fault)
{
    int fd = memory_file_create(fault);
    if (fd < 0)
        return name_fault(file, fault);
    if (copy_elements(file, fd, fault)) {
        close(fd);
        return -1;
    }
    close(file->fd);
    file->fd = fd;
    file->header.data_offset = 0;
    file->stat.st_size = (off_t)file->header.data_size;
    return 0;
}

int tensor_file_map(struct tensor_file *file, struct fault *fault)
{
    if (little_endian_replace(file, fault))
        return -1;
    uint64_t before = file->header.data_offset % (uint64_t)sysconf(_SC_PAGESIZE);
    if (before + file->header.data_size > SIZE_MAX)
        return fault_set(fault, FAULT_LIMIT, NULL, "%s: too large to be mapped", file->shown);
    /* Map only the pages of the tensor: a whole archive may exceed the address space. */
    struct file_map *map = malloc(sizeof(*map));
    int error = map ? file_map_init(map, file->fd, file->header.data_offset - before,
                                    before + file->header.data_size)
                    : -ENOMEM;
    if (error) {
        free(map);
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown, strerror(-error));
    }
    file->map = map;
    file->data = (const uint8_t *)map->pages + before;
    return 0;
}

int tensor_file_check(const struct tensor_file *file, struct fault *fault)
{
    if (!file->map || !file_map_is_broken(file->map))
        return 0;
    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown, shrank);
}

enum { CHUNK_BYTES = 256 * 1024 }; /* a multiple of the size of every element */

_Static_assert((int)CHUNK_BYTES >= (int)NPY_HEADER_MAX, "a chunk holds every header");

static void swap_2(uint16_t *element, size_t count)
{
    for (size_t i = 0; i < count; i++)
        element[i] = __builtin_bswap16(element[i]);
}

static void swap_4(uint32_t *element, size_t count)
{
    for (size_t i = 0; i < count; i++)
        element[i] = __builtin_bswap32(element[i]);
}

static void swap_8(uint64_t *element, size_t count)
{
    for (size_t i = 0; i < count; i++)
        element[i] = __builtin_bswap64(element[i]);
}

/* Reads `size` bytes at `offset`. */
static int read_at(const struct tensor_file *file, void *buffer, size_t size, uint64_t offset,
                   struct fault *fault)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = pread(file->fd, (char *)buffer + done, size - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "%s: %s", file->shown,
                             got < 0 ? strerror(errno) : "it shrank while it was read");
        done += (size_t)got;
    }
    return 0;
}

static int copy_header(const struct tensor_file *file, void *chunk, int to, struct fault *fault)
{
    size_t size = (size_t)file->header.data_offset;

    if (read_at(file, chunk, size, 0, fault))
        return -1;
    npy_make_little(chunk, &file->header);
    return memory_file_write(to, chunk, size, fault);
}

static int swap_elements(const struct tensor_file *file, void *chunk, int to, struct fault *fault)
{
    /* Both parts of a complex number have a byte order of their own. */
    uint32_t unit = file->header.item_size / (file->header.kind == 'c' ? 2 : 1);
    uint64_t at = file->header.data_offset;

    for (uint64_t left = file->header.data_size; left > 0;) {
        size_t size = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        if (read_at(file, chunk, size, at, fault))
            return -1;
        if (unit == sizeof(uint16_t))
            swap_2(chunk, size / sizeof(uint16_t));
        else if (unit == sizeof(uint32_t))
            swap_4(chunk, size / sizeof(uint32_t));
        else
            swap_8(chunk, size / sizeof(uint64_t));
        if (memory_file_write(to, chunk, size, fault))
            return -1;
        if (cancel_requested())
            return cancel_fault(fault);
        at += size;
        left -= size;
    }
    return 0;
}

static int check_room(const struct tensor_file *file, struct fault *fault)
{
    char needed[PRINT_TEXT_MAX], half[PRINT_TEXT_MAX];

    if (memory_file_fits(file->header.data_size, half))
        return 0;
    return fault_set(fault, FAULT_LIMIT, NULL,
                     "%s: %s of big-endian elements, which mlictl converts in memory: more than "
                     "half of this machine's memory (%s); save them with the dtype '%s'",
                     file->shown, print_bytes(needed, file->header.data_size), half,
                     file->header.descr);
}

int little_endian_copy(const struct tensor_file *file, struct fault *fault)
{
    if (check_room(file, fault))
        return -1;
    void *chunk = malloc(CHUNK_BYTES);
    if (!chunk)
        return fault_no_memory(fault);
    int fd = memory_file_create(fault);
    if (fd >= 0 && (copy_header(file, chunk, fd, fault) || swap_elements(file, chunk, fd, fault))) {
        close(fd);
        fd = -1;
    }
    free(chunk);
    return fd;
}

int little_endian_replace(struct tensor_file *file, struct fault *fault)
{
    if (!file->header.big_endian || file->fd < 0)
        return 0;
    int fd = little_endian_copy(file, fault);
    if (fd < 0)
        return -1;
    close(file->fd);
    file->fd = fd;
    file->header.big_endian = false;
    return 0;
}
