/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/memory_file.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool memory_file_fits(uint64_t size, char half[PRINT_TEXT_MAX])
{
    uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    print_bytes(half, memory / 2);
    return size <= memory / 2;
}

int memory_file_create(struct fault *fault)
{
    int fd = memfd_create("mlictl-tensor", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0)
        fault_set(fault, FAULT_IO_ERROR, NULL, "memfd_create: %s", strerror(errno));
    return fd;
}

int memory_file_write(int fd, const void *bytes, size_t size, struct fault *fault)
{
    for (const char *at = bytes; size > 0;) {
        ssize_t put = write(fd, at, size);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return fault_set(fault, FAULT_IO_ERROR, NULL, "it cannot be kept in memory: %s",
                             strerror(put < 0 ? errno : EIO));
        at += put;
        size -= (size_t)put;
    }
    return 0;
}
