/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/regular.h"

#include <errno.h>
#include <sys/mman.h>

int file_map_init(struct file_map *map, int fd, uint64_t offset, uint64_t size)
{
    if (size > SIZE_MAX)
        return -EOVERFLOW;
    map->size = (size_t)size;
    map->pages = mmap(NULL, map->size, PROT_READ, MAP_SHARED, fd, (off_t)offset);
    if (map->pages == MAP_FAILED)
        return -errno;
    int error = sigbus_install();
    if (error == 0)
        error = sigbus_guard_init(&map->guard, map->pages, map->size);
    if (error)
        munmap(map->pages, map->size);
    return error;
}

bool file_map_is_broken(const struct file_map *map)
{
    return sigbus_guard_hit(&map->guard);
}

void file_map_finish(struct file_map *map)
{
    sigbus_guard_finish(&map->guard);
    munmap(map->pages, map->size);
}
