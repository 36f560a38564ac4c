/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * System calls and allocations that can fail, as function pointers, so that tests can make them
 * fail. Only tests change the pointers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>

struct seam {
    void *(*calloc)(size_t count, size_t size);
    void *(*realloc)(void *block, size_t size);
    int (*fstat)(int fd,
                 struct stat *st); /* reads the kernel's cache: never waits for a file server */
    int (*fstatfs)(int fd, struct statfs *fs);
    int (*open_flags)(int fd);                        /* calls fcntl(fd, F_GETFL) */
    int (*seals)(int fd);                             /* calls fcntl(fd, F_GET_SEALS) */
    int (*duplicate)(int fd);                         /* the duplicate is close-on-exec */
    int (*close)(int fd);                             /* closes a client's descriptor */
    int (*dma_buf_sync)(int fd, uint64_t sync_flags); /* calls ioctl(fd, DMA_BUF_IOCTL_SYNC) */
    void *(*mmap)(void *address, size_t size, int protection, int flags, int fd, off_t offset);
    int (*munmap)(void *address, size_t size);
    int (*memfd)(const char *name); /* close-on-exec, may be sealed, not executable */
    int (*accept)(int listener);    /* the accepted socket is non-blocking and close-on-exec */
};

extern struct seam seam;
