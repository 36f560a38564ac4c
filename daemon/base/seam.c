/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/seam.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/dma-buf.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/*
 * fstat(2) of a file on FUSE or NFS waits for the server. With AT_STATX_DONT_SYNC the kernel
 * answers from its cache, which is at least as new as the time when the client opened the file.
 */
static int real_fstat(int fd, struct stat *st)
{
    const unsigned wanted = STATX_TYPE | STATX_MODE | STATX_SIZE | STATX_BLOCKS | STATX_INO;
    struct statx found;

    if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, wanted, &found) < 0)
        return -1;
    *st = (struct stat){
        .st_mode = found.stx_mode,
        .st_size = (off_t)found.stx_size,
        .st_blksize = (blksize_t)found.stx_blksize,
        .st_blocks = (blkcnt_t)found.stx_blocks,
        .st_dev = makedev(found.stx_dev_major, found.stx_dev_minor),
        .st_ino = found.stx_ino,
    };
    return 0;
}

static int real_open_flags(int fd)
{
    return fcntl(fd, F_GETFL);
}

static int real_seals(int fd)
{
    return fcntl(fd, F_GET_SEALS);
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

    /* Kernels before 6.3 do not know MFD_NOEXEC_SEAL. */
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
    .seals = real_seals,
    .duplicate = real_duplicate,
    .close = close,
    .dma_buf_sync = real_dma_buf_sync,
    .mmap = mmap,
    .munmap = munmap,
    .memfd = real_memfd,
    .accept = real_accept,
};
