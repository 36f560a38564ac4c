/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Preloaded into mlictl by the tests: the file that $SHRINK_FILE names loses all its bytes right
 * after it has been mapped. Both names of mmap() are taken, so the header must not make one of the
 * other.
 */
#undef _FILE_OFFSET_BITS
#undef _TIME_BITS
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef void *(*mmap_function)(void *, size_t, int, int, int, off64_t);

static void *map(const char *name, void *address, size_t size, int protection, int flags, int fd,
                 off64_t offset)
{
    mmap_function next;
    *(void **)&next = dlsym(RTLD_NEXT, name);
    void *pages = next(address, size, protection, flags, fd, offset);
    const char *path = getenv("SHRINK_FILE");
    struct stat mapped, named;
    if (pages != MAP_FAILED && fd >= 0 && path && fstat(fd, &mapped) == 0 &&
        stat(path, &named) == 0 && mapped.st_dev == named.st_dev && mapped.st_ino == named.st_ino &&
        truncate(path, 0))
        abort();
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
