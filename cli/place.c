/* SPDX-License-Identifier: BSD-3-Clause */
#include "place.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

bool place_of(const char *path, struct place *place)
{
    const char *slash = strrchr(path, '/');
    char *parent = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    struct stat directory;
    bool found = parent && stat(parent, &directory) == 0;
    free(parent);
    if (!found)
        return false;
    *place = (struct place){directory.st_dev, directory.st_ino, slash ? slash + 1 : path};
    return true;
}

bool place_same(const struct place *a, const struct place *b)
{
    return a->device == b->device && a->inode == b->inode && strcmp(a->name, b->name) == 0;
}

bool place_same_file(const char *a, const char *b)
{
    struct stat file_a, file_b;
    struct place place_a, place_b;
    if (stat(a, &file_a) == 0 && stat(b, &file_b) == 0)
        return file_a.st_dev == file_b.st_dev && file_a.st_ino == file_b.st_ino;
    return place_of(a, &place_a) && place_of(b, &place_b) && place_same(&place_a, &place_b);
}
