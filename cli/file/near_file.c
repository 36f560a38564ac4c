/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/near_file.h"

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/json/nearest.h"

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
    if (*best)
        snprintf(out, NEAR_FILE_MAX, "; did you mean %s?", best);
    return out;
}
