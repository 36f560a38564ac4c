/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The functions of the C library that the simulation replaces. For each function in calls.txt, for
 * example close(), the linker directs all calls in the service, libuv, libmli and libmli_client to
 * __wrap_close() of the simulation, and gives the real function the name __real_close(). The
 * simulation itself calls the real functions.
 */
#ifndef SIM_REAL_H
#define SIM_REAL_H

#include <poll.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/vfs.h>
#include <time.h>

#define REAL(result, name, ...)                                                                    \
    result __real_##name(__VA_ARGS__); /* NOLINT(bugprone-reserved-identifier) */
REAL(void *, malloc, size_t size)
REAL(void *, calloc, size_t count, size_t size)
REAL(void *, realloc, void *block, size_t size)
REAL(void, free, void *block)
REAL(int, close, int fd)
REAL(void *, mmap64, void *address, size_t size, int protection, int flags, int fd, off_t offset)
REAL(int, munmap, void *address, size_t size)
REAL(int, clock_gettime, clockid_t clock, struct timespec *time)
REAL(int, memfd_create, const char *name, unsigned flags)
REAL(int, fstat64, int fd, struct stat *st)
REAL(int, statx, int fd, const char *path, int flags, unsigned mask, struct statx *st)
REAL(int, fstatfs64, int fd, struct statfs *st)
REAL(int, ftruncate64, int fd, off_t size)
REAL(int, fcntl64, int fd, int command, ...)
REAL(ssize_t, pwrite64, int fd, const void *bytes, size_t size, off_t offset)
REAL(int, open64, const char *path, int flags, ...)
REAL(ssize_t, read, int fd, void *bytes, size_t size)
REAL(ssize_t, write, int fd, const void *bytes, size_t size)
REAL(long, syscall, long number, ...)
#undef REAL

#define real_malloc  __real_malloc
#define real_calloc  __real_calloc
#define real_realloc __real_realloc
#define real_free    __real_free
#define real_mmap    __real_mmap64
#define real_munmap  __real_munmap
#define real_close   __real_close

#endif /* SIM_REAL_H */
