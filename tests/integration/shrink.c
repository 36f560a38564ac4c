/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into mlictl by the tests: the file that $SHRINK_FILE names loses all its bytes right
 * after it has been mapped, or with $SHRINK_READ right before it is read. This file replaces both
 * names of mmap() and pread(), such as mmap and mmap64; therefore the headers must not redirect one
 * name to the other.
 */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef ssize_t (*pread_function)(int, void *, size_t, off64_t);
typedef void *(*mmap_function)(void *, size_t, int, int, int, off64_t);

static void shrink(int fd)
{
    const char *path = getenv("SHRINK_FILE");
    struct stat open_file, named;
    if (path && fstat(fd, &open_file) == 0 && stat(path, &named) == 0 &&
        open_file.st_dev == named.st_dev && open_file.st_ino == named.st_ino && truncate(path, 0))
        abort();
}

static void *map(const char *name, void *address, size_t size, int protection, int flags, int fd,
                 off64_t offset)
{
    mmap_function next;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    void *pages = next(address, size, protection, flags, fd, offset);
    if (pages != MAP_FAILED && fd >= 0)
        shrink(fd);
    return pages;
}

void *mmap(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    return map("mmap", address, size, protection, flags, fd, offset);
}

void *mmap64(void *address, size_t size, int protection, int flags, int fd, off64_t offset)
{
    return map("mmap64", address, size, protection, flags, fd, offset);
}

static ssize_t read_at(const char *name, int fd, void *buffer, size_t size, off64_t offset)
{
    pread_function next;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    if (getenv("SHRINK_READ"))
        shrink(fd);
    return next(fd, buffer, size, offset);
}

ssize_t pread(int fd, void *buffer, size_t size, off_t offset)
{
    return read_at("pread", fd, buffer, size, offset);
}

ssize_t pread64(int fd, void *buffer, size_t size, off64_t offset)
{
    return read_at("pread64", fd, buffer, size, offset);
}

/* The name of pread() under _FORTIFY_SOURCE. Headers declare it only for optimised code. */
ssize_t __pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t size, off64_t offset, size_t room)
{
    return size > room ? -1 : read_at("pread64", fd, buffer, size, offset);
}
