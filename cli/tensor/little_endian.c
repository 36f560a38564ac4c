/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tensor/little_endian.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/file/memory_file.h"
#include "cli/term/cancel.h"

enum { CHUNK_BYTES = 256 * 1024 }; /* a multiple of every element's size */

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

static int copy_elements(const struct tensor_file *file, void *chunk, int to, struct fault *fault)
{
    uint64_t at = file->header.data_offset;

    for (uint64_t left = file->header.data_size; left > 0;) {
        size_t size = left < CHUNK_BYTES ? (size_t)left : CHUNK_BYTES;
        if (read_at(file, chunk, size, at, fault))
            return -1;
        if (file->header.item_size == sizeof(uint16_t))
            swap_2(chunk, size / sizeof(uint16_t));
        else
            swap_4(chunk, size / sizeof(uint32_t));
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
    if (fd >= 0 && (copy_header(file, chunk, fd, fault) || copy_elements(file, chunk, fd, fault))) {
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
