/* SPDX-License-Identifier: BSD-3-Clause */
/* Whole pages of a file in memory, read only. Pages that go missing read as zeros. */
#ifndef CLI_FILE_MAP_H
#define CLI_FILE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "daemon/memory/sigbus.h"

struct file_map {
    void *pages;
    size_t size;
    struct sigbus_guard guard;
};

/** Maps `size` bytes from `offset` on, a multiple of the page size. Returns 0 or -errno. */
int file_map_init(struct file_map *map, int fd, uint64_t offset, uint64_t size);

/** Returns whether the file has shrunk, or its storage has failed, since file_map_init(). */
bool file_map_is_broken(const struct file_map *map);

void file_map_finish(struct file_map *map);

#endif /* CLI_FILE_MAP_H */
