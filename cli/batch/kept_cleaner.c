/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes the cases that earlier runs of a batch kept. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/kept.h"
#include "cli/file/calls.h"

/*
 * Returns whether the case was kept before `begin`. Its job file is written last; if a killed run
 * left no job file, the time of the directory counts.
 */
static bool is_older(int fd, const struct timespec *begin)
{
    struct stat status;

    if (fstatat(fd, "job.json", &status, AT_SYMLINK_NOFOLLOW) && fstat(fd, &status))
        return false;
    if (status.st_mtim.tv_sec != begin->tv_sec)
        return status.st_mtim.tv_sec < begin->tv_sec;
    return status.st_mtim.tv_nsec < begin->tv_nsec;
}

struct cleaner {
    const struct keeping *keeping;
    int root; /* descriptor of the directory of --keep */
    const struct kept_case *cases;
    size_t count;
    bool all;
    const struct timespec *begin;
    struct kept_list list;
    char origin[KEPT_ORIGIN_DIGITS + 1]; /* kept_origin() of this run, in hexadecimal */
};

struct wanted {
    const char *directory, *place;
};

static int compare(const void *key, const void *element)
{
    const struct wanted *wanted = key;
    const struct kept_case *c = element;

    return strcmp(wanted->place, c->place + strlen(wanted->directory) + 1);
}

static bool is_stale(const struct cleaner *cleaner, const struct kept_line *line)
{
    const struct wanted wanted = {cleaner->keeping->directory, line->place};
    const struct kept_case *found =
        cleaner->count == 0
            ? NULL
            : bsearch(&wanted, cleaner->cases, cleaner->count, sizeof(*found), compare);

    /* Compare origins: DIR may have been copied from another working directory, where the cases
       have the same names. */
    size_t digits = found ? KEPT_ORIGIN_DIGITS / 2 : KEPT_ORIGIN_DIGITS;
    if (*line->origin && strncmp(line->origin, cleaner->origin, digits) != 0)
        return false;
    return found ? !found->in_use : cleaner->all;
}

/* Removes the directory of a case, then its parents that are in the list and empty. */
static void remove_place(struct cleaner *cleaner, const char *place)
{
    int fd = kept_walk(cleaner->root, place, false);

    if (fd < 0)
        return;
    bool older = is_older(fd, cleaner->begin);
    if (older)
        kept_forget(fd);
    close(fd);
    char *path = older ? strdup(place) : NULL;
    while (path && kept_remove_empty(cleaner->root, path) == 0) {
        char *slash = strrchr(path, '/');

        if (!slash)
            break;
        *slash = '\0';
        if (!kept_list_has(&cleaner->list, path))
            break;
    }
    free(path);
}

/* Drops the lines of directories that no longer exist or that links replaced. */
static void drop_lines(struct cleaner *cleaner)
{
    struct kept_list *list = &cleaner->list;
    size_t left = 0;

    for (size_t i = 0; i < list->count; i++) {
        int fd = kept_walk(cleaner->root, list->lines[i].place, false);

        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
            continue;
        if (fd >= 0)
            close(fd);
        list->lines[left++] = list->lines[i];
    }
    list->count = left;
}

static void clean(struct cleaner *cleaner)
{
    struct kept_list *list = &cleaner->list;

    if (kept_list_open(list, cleaner->root, false) || kept_list_read(list))
        return;
    for (size_t i = 0; i < list->count; i++) {
        if (is_stale(cleaner, &list->lines[i]))
            remove_place(cleaner, list->lines[i].place);
    }
    drop_lines(cleaner);
    kept_list_write(list);
    if (list->count == 0 && list->is_ours)
        rmdir(cleaner->keeping->directory);
}

void kept_clean(const struct keeping *keeping, const struct kept_case *cases, size_t count,
                bool all, const struct timespec *begin)
{
    struct cleaner cleaner = {.keeping = keeping,
                              .root = open_path(keeping->directory, KEPT_DIRECTORY),
                              .cases = cases,
                              .count = count,
                              .all = all,
                              .begin = begin,
                              .list = {.fd = -1}};

    if (cleaner.root < 0)
        return;
    kept_list_origin(keeping->origin, cleaner.origin);
    clean(&cleaner);
    kept_list_close(&cleaner.list);
    close(cleaner.root);
}
