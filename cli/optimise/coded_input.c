/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/regular.h"
#include "cli/optimise/coded_input.h"
#include "cli/term/cancel.h"

enum { BASE = 255, BLOCK = 1 << 16 };

unsigned coded_passes(uint64_t bytes)
{
    unsigned passes = 1;

    for (; bytes > BASE; bytes = (bytes - 1) / BASE + 1)
        passes++;
    return passes;
}

void coded_bytes(uint8_t *out, size_t count, uint64_t first, unsigned pass)
{
    uint64_t run = 1;

    for (unsigned k = 0; k < pass; k++)
        run *= BASE;
    uint64_t digit = first / run % BASE, left = run - first % run;
    while (count > 0) {
        const size_t same = left < count ? (size_t)left : count;

        memset(out, (int)(1 + digit), same);
        out += same;
        count -= same;
        left = run;
        digit = (digit + 1) % BASE;
    }
}

static int cannot_read(const struct coded_input *input, struct fault *fault)
{
    return fault_set(fault, FAULT_IO_ERROR, NULL, "%.128s: %s", input->path, strerror(errno));
}

/* Finds the size of the header. Returns 0, or -1 with the fault if the file is too short. */
static int find_header(struct coded_input *input, int fd, struct fault *fault)
{
    unsigned char prefix[NPY_PREFIX_MAX];
    const ssize_t got = read_bytes(fd, prefix, sizeof(prefix), 0);

    if (got < 0)
        return cannot_read(input, fault);
    if (input->format == FILE_FORMAT_NPY)
        input->header = npy_header_size(prefix, (size_t)got);
    return input->header <= input->size
               ? 0
               : fault_set(fault, FAULT_IO_ERROR, NULL, "%.128s has changed", input->path);
}

static int copy_header(const struct coded_input *input, int fd, struct fault *fault)
{
    uint8_t block[BLOCK];

    for (uint64_t at = 0; at < input->header;) {
        const uint64_t left = input->header - at;
        const ssize_t got = read_bytes(fd, block, left < BLOCK ? (size_t)left : BLOCK, (off_t)at);

        if (got == 0)
            errno = EIO;
        if (got <= 0)
            return cannot_read(input, fault);
        if (memory_file_write(input->fd, block, (size_t)got, fault))
            return -1;
        at += (uint64_t)got;
    }
    return 0;
}

static int begin(struct coded_input *input, const char *path, enum file_format format,
                 uint64_t first, struct fault *fault)
{
    *input = (struct coded_input){.fd = -1, .first = first, .format = format};
    input->path = strdup(path);
    if (!input->path)
        return fault_no_memory(fault);
    input->fd = memory_file_create(fault);
    return input->fd < 0 ? -1 : 0;
}

static int set_whole_size(const struct coded_input *input, struct fault *fault)
{
    return set_size(input->fd, (off_t)input->size)
               ? fault_set(fault, FAULT_IO_ERROR, NULL, "cannot set the size: %s", strerror(errno))
               : 0;
}

int coded_input_init(struct coded_input *input, const char *path, enum file_format format,
                     uint64_t first, struct fault *fault)
{
    struct stat status;
    int fd, result;

    if (begin(input, path, format, first, fault))
        return -1;
    fd = regular_open(path, O_RDONLY, &status);
    if (fd < 0)
        return fault_set(fault, FAULT_IO_ERROR, NULL, "%.128s: %s", path,
                         fd == REGULAR_OTHER ? "not a regular file" : strerror(errno));
    input->size = (uint64_t)status.st_size;
    result = find_header(input, fd, fault);
    if (result == 0)
        result = copy_header(input, fd, fault);
    close(fd);
    return result == 0 ? set_whole_size(input, fault) : -1;
}

int coded_input_init_npy(struct coded_input *input, const char *path,
                         const struct npy_header *header, uint64_t first, struct fault *fault)
{
    struct npy_header packed = *header;
    char bytes[NPY_FORMAT_SIZE];

    if (begin(input, path, FILE_FORMAT_NPY, first, fault))
        return -1;
    packed.fortran_order = packed.big_endian = false;
    if (npy_format(&packed, bytes, sizeof(bytes)))
        return fault_set(fault, FAULT_INTERNAL, NULL, "the header of %.128s is too long", path);
    input->header = sizeof(bytes);
    input->size = packed.item_size;
    for (uint32_t d = 0; d < packed.rank; d++)
        input->size *= packed.shape[d];
    input->size += input->header;
    if (memory_file_write(input->fd, bytes, sizeof(bytes), fault))
        return -1;
    return set_whole_size(input, fault);
}

void coded_input_finish(struct coded_input *input)
{
    free(input->path);
    if (input->fd >= 0)
        close(input->fd);
    *input = (struct coded_input){.fd = -1};
}

int coded_input_fill(const struct coded_input *input, unsigned pass, struct fault *fault)
{
    uint8_t block[BLOCK];

    for (uint64_t at = input->header; at < input->size;) {
        const uint64_t left = input->size - at;
        const size_t count = left < BLOCK ? (size_t)left : BLOCK;

        coded_bytes(block, count, input->first + at - input->header, pass);
        if (write_bytes(input->fd, block, count, (off_t)at))
            return fault_set(fault, FAULT_IO_ERROR, NULL, "no memory for the proof: %s",
                             strerror(errno));
        at += count;
        if (cancel_requested())
            return cancel_fault(fault);
    }
    return 0;
}
