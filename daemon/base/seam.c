/* SPDX-License-Identifier: BSD-3-Clause */
#include "seam.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

static int real_fstat(int fd, struct stat *st)
{
    return fstat(fd, st);
}

static int real_open_flags(int fd)
{
    return fcntl(fd, F_GETFL);
}

static int real_duplicate(int fd)
{
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

static int real_dma_buf_sync(int fd, uint64_t sync_flags)
{
    struct dma_buf_sync sync = {.flags = sync_flags};

    return ioctl(fd, DMA_BUF_IOCTL_SYNC, &sync);
}

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

static int real_memfd(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);

    /* Kernels before 6.3 do not know the last one. */
    return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

static int real_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

struct seam seam = {
    .calloc = calloc,
    .realloc = realloc,
    .fstat = real_fstat,
    .fstatfs = fstatfs,
    .open_flags = real_open_flags,
    .duplicate = real_duplicate,
    .dma_buf_sync = real_dma_buf_sync,
    .mmap = mmap,
    .munmap = munmap,
    .memfd = real_memfd,
    .accept = real_accept,
};
