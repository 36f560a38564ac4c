/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/place.h"
#include "proto/json/json.h"

enum { LINKS_MAX = 40 }; /* maximum number of symbolic links in a path: Linux has the same limit */

/* Follows one symbolic link. Returns null if `path` is not a link, or if out of memory. */
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

/* Returns the start of the last name in [path, out), which a following ".." removes. Returns null
 * if there is none; then the ".." stays. */
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

/* Finds the last existing directory of the path, and sets *name to the part after it. Returns false
 * with errno set if there is none. */
static bool find_directory(char *path, char **name, struct stat *directory)
{
    char *slash = strrchr(path, '/');
    bool found;

    for (;;) {
        *name = slash ? slash + 1 : path;
        const char cut = **name;
        **name = '\0';
        found = stat(slash ? path : ".", directory) == 0;
        **name = cut;
        if (found || errno != ENOENT || !slash)
            return found;
        slash = memrchr(path, '/', (size_t)(slash - path));
    }
}

bool place_of_planned(const char *path, struct place *place)
{
    char *last = place_follow(path), *name;
    struct stat directory;
    bool found = last && find_directory(last, &name, &directory);

    if (found && strlen(name) > NAME_MAX) {
        errno = ENAMETOOLONG;
        found = false;
    }
    if (found) {
        *place = (struct place){.device = directory.st_dev, .inode = directory.st_ino};
        strcpy(place->name, name);
    }
    const int error = errno;
    free(last);
    errno = error;
    return found;
}

bool place_is_descriptor(const char *path)
{
    return strncmp(path, "/dev/std", strlen("/dev/std")) == 0 ||
           strncmp(path, "/dev/fd/", strlen("/dev/fd/")) == 0 ||
           (strncmp(path, "/proc/", strlen("/proc/")) == 0 && strstr(path, "/fd/"));
}

bool place_is_impossible(int error)
{
    return error == ENOENT || error == ENOTDIR || error == ELOOP || error == ENAMETOOLONG ||
           error == EACCES;
}

bool place_of(const char *path, struct place *place)
{
    if (!place_of_planned(path, place))
        return false;
    errno = ENOENT;
    return !strchr(place->name, '/');
}

int place_compare(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    if (x->inode != y->inode)
        return x->inode < y->inode ? -1 : 1;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return strcmp(x->name, y->name);
}

bool place_same_file(const char *a, const char *b)
{
    struct stat file_a, file_b;
    struct place place_a, place_b;
    bool is_a = stat(a, &file_a) == 0, is_b = stat(b, &file_b) == 0;
    if (is_a && is_b)
        return file_a.st_dev == file_b.st_dev && file_a.st_ino == file_b.st_ino;
    /* If one file exists and the other does not, they differ. */
    return is_a == is_b && place_of_planned(a, &place_a) && place_of_planned(b, &place_b) &&
           place_compare(&place_a, &place_b) == 0;
}

/* Maximum number of names to compare: a hint does not justify reading millions of directory
 * entries. */
enum { LOOKED_AT_MAX = 4096, NAME_SHOWN_MAX = 40 };

/* Returns whether `given` lacks only the name's ending: "job" for "job.json". */
static bool adds_ending(const char *name, const char *given)
{
    size_t length = strlen(given);
    return length > 0 && strncmp(name, given, length) == 0 && name[length] == '.';
}

static DIR *open_directory(const char *path, const char *last)
{
    if (last == path)
        return opendir(".");
    char *directory = strndup(path, (size_t)(last - path));
    DIR *opened = directory ? opendir(directory) : NULL;
    free(directory);
    return opened;
}

/* Writes the hint for a symbolic link. Returns false if the path is not a link. */
static bool hint_link(char out[NEAR_FILE_MAX], const char *path)
{
    char target[PATH_MAX], shown[PRINT_PATH_MAX];
    ssize_t length = readlink(path, target, sizeof(target) - 1);
    if (length < 0)
        return false;
    target[length] = '\0';
    snprintf(out, NEAR_FILE_MAX, "; it is a link to %s, which does not exist",
             print_path(shown, target));
    return true;
}

const char *near_file(char out[NEAR_FILE_MAX], const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash ? slash + 1 : path;
    char best[NAME_SHOWN_MAX] = "";
    const struct dirent *entry;
    out[0] = '\0';
    if (hint_link(out, path))
        return out;
    DIR *directory = open_directory(path, last);
    if (!directory)
        return out;
    for (int i = 0; i < LOOKED_AT_MAX && (entry = readdir(directory)); i++) {
        const char *const names[] = {*best ? best : entry->d_name, entry->d_name, NULL};
        if (strlen(entry->d_name) >= sizeof(best) || *entry->d_name == '.')
            continue;
        /* Keep the more similar name; of two equally similar names, keep the first. */
        const char *nearest = nearest_word(last, names);
        if (nearest && nearest != best)
            strcpy(best, nearest);
        else if (!*best && adds_ending(entry->d_name, last))
            strcpy(best, entry->d_name);
    }
    closedir(directory);
    if (!*best)
        return out;
    char near[PATH_MAX], shown[PRINT_PATH_MAX];
    snprintf(near, sizeof(near), "%.*s%s", (int)(last - path), path, best);
    place_simplify(near);
    snprintf(out, NEAR_FILE_MAX, "; did you mean %s?", print_path(shown, near));
    return out;
}
