/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/place.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINKS_MAX = 40 }; /* the kernel's limit */

/* Follows one link. Returns null if `path` is not a link, or if out of memory. */
static char *follow_once(const char *path)
{
    char to[PATH_MAX], *joined = NULL;
    ssize_t length = readlink(path, to, sizeof(to));
    if (length <= 0 || length >= PATH_MAX)
        return NULL;
    const char *slash = to[0] == '/' ? NULL : strrchr(path, '/');
    int before = slash ? (int)(slash - path) + 1 : 0;
    return asprintf(&joined, "%.*s%.*s", before, path, (int)length, to) < 0 ? NULL : joined;
}

char *place_follow(const char *path)
{
    char *last = strdup(path);
    for (int i = 0; last && i < LINKS_MAX; i++) {
        char *next = follow_once(last);
        if (!next)
            return last;
        free(last);
        last = next;
    }
    if (last)
        errno = ELOOP;
    free(last);
    return NULL;
}

/* Returns whether `path` up to `end` is a directory and not a link, so "/.." can be removed. */
static bool leads_back(char *path, char *end)
{
    struct stat status;
    char cut = *end;
    *end = '\0';
    bool is_directory = lstat(path, &status) == 0 && S_ISDIR(status.st_mode);
    *end = cut;
    return is_directory;
}

/* Returns the start of the last part of path..out, which ".." cancels, or null to keep the "..". */
static char *parent_of(char *path, char *out)
{
    if (out == path || out[-1] != '/' || out - 1 == path)
        return NULL;
    char *part = out - 1;
    while (part > path && part[-1] != '/')
        part--;
    bool dots = out - part == 3 && part[0] == '.' && part[1] == '.';
    return !dots && part < out - 1 && leads_back(path, out - 1) ? part : NULL;
}

void place_simplify(char *path)
{
    char *out = path;
    for (const char *in = path; *in;) {
        size_t length = strcspn(in, "/"), slashes = strspn(in + length, "/");
        bool last = !in[length + slashes];
        char *parent = NULL;
        if (length == 2 && in[0] == '.' && in[1] == '.' && !last)
            parent = parent_of(path, out);
        if (parent) {
            out = parent;
        } else if (!(length == 1 && *in == '.' && slashes > 0 && !last)) {
            memmove(out, in, length + slashes);
            out += length + slashes;
        }
        in += length + slashes;
    }
    *out = '\0';
}

bool place_of(const char *path, struct place *place)
{
    char *last = place_follow(path);
    char *slash = last ? strrchr(last, '/') : NULL;
    const char *name = slash ? slash + 1 : last;
    struct stat directory;
    bool found = last != NULL;
    if (found && strlen(name) > NAME_MAX) {
        errno = ENAMETOOLONG;
        found = false;
    }
    if (found) {
        *place = (struct place){0};
        strcpy(place->name, name);
        if (slash)
            slash[1] = '\0';
        found = stat(slash ? last : ".", &directory) == 0;
    }
    const int error = errno;
    free(last);
    errno = error;
    if (!found)
        return false;
    place->device = directory.st_dev;
    place->inode = directory.st_ino;
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
    bool is_a = stat(a, &file_a) == 0, is_b = stat(b, &file_b) == 0;
    if (is_a && is_b)
        return file_a.st_dev == file_b.st_dev && file_a.st_ino == file_b.st_ino;
    /* If one file exists and the other does not, they differ. */
    return is_a == is_b && place_of(a, &place_a) && place_of(b, &place_b) &&
           place_same(&place_a, &place_b);
}
