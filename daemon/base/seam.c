/* SPDX-License-Identifier: BSD-3-Clause */
#include "seam.h"

#include <fcntl.h>
#include <stdlib.h>
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

static int real_accept(int listener)
{
    return accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

struct seam seam = {
    .calloc = calloc,
    .realloc = realloc,
    .fstat = real_fstat,
    .open_flags = real_open_flags,
    .mmap = mmap,
    .munmap = munmap,
    .accept = real_accept,
};
