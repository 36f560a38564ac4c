/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/kept.h"
#include "cli/file/calls.h"
#include "cli/file/storage.h"
#include "cli/report/fingerprint.h"
#include "cli/term/print.h"
#include "proto/json/textw.h"

uint64_t kept_origin(char *const *paths, size_t count)
{
    struct textw w;
    char *here = realpath(".", NULL);

    textw_init(&w);
    for (size_t i = 0; i < count; i++)
        textw_printf(&w, "%s\n", paths[i]);
    uint64_t directory = here ? digest64(here, strlen(here)) : 0;
    uint64_t rest = w.failed || w.length == 0 ? 0 : digest64(w.data, w.length);
    textw_finish(&w);
    free(here);
    return directory >> 32 << 32 | rest >> 32;
}

static int complain(const struct keeping *keeping, const char *place, const char *why,
                    struct fault *fault)
{
    char shown[2][PRINT_PATH_MAX];

    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s/%s %s",
                     print_path(shown[0], keeping->directory), print_path(shown[1], place), why);
}

static int complain_errno(const struct keeping *keeping, const char *place, int error,
                          struct fault *fault)
{
    char why[128];

    snprintf(why, sizeof(why), "cannot be created: %s", strerror(error));
    return complain(keeping, place, why, fault);
}

/* Opens the directory `name` in `parent`; fails if it is a symbolic link. */
static int open_below(int parent, const char *name)
{
    return open_at(parent, name, KEPT_DIRECTORY | O_NOFOLLOW, 0);
}

int kept_walk(int root, const char *place, bool parent)
{
    int at = fcntl(root, F_DUPFD_CLOEXEC, 0);

    while (at >= 0 && *place) {
        size_t length = strcspn(place, "/");

        if (parent && !place[length])
            break;
        char *name = strndup(place, length);
        int next = name ? open_below(at, name) : -1, error = errno;
        free(name);
        close(at);
        errno = error;
        at = next;
        place += length + (place[length] == '/');
    }
    return at;
}

/* Creates one directory, after adding it to the list: a run that is killed in between leaves no
 * directory outside the list. Returns a descriptor or -1. */
static int make(const struct keeping *keeping, struct kept_list *list, int parent, const char *name,
                const char *place, struct fault *fault)
{
    if (kept_list_add(list, place, keeping))
        return complain_errno(keeping, ".kept", errno, fault);
    if (mkdirat(parent, name, 0777))
        return complain_errno(keeping, place, errno, fault);
    int error = keeping->sync ? storage_sync_names(parent, list->fd) : 0;
    if (error)
        return complain_errno(keeping, place, error, fault);
    int fd = open_below(parent, name);
    return fd < 0 ? complain_errno(keeping, place, errno, fault) : fd;
}

static int check_listed(const struct keeping *keeping, struct kept_list *list, const char *place,
                        struct fault *fault)
{
    if (kept_list_read(list))
        return complain_errno(keeping, ".kept", errno, fault);
    if (kept_list_has(list, place))
        return 0;
    return complain(keeping, place,
                    "exists and was not made by `mlictl batch`: the case is not kept; "
                    "rename it, or give another --keep DIR",
                    fault);
}

/* Opens or creates the directory `place` in `parent`; `last`: `place` is the directory of the case,
 * not one of its parents. */
static int enter(const struct keeping *keeping, struct kept_list *list, int parent,
                 const char *place, bool last, struct fault *fault)
{
    const char *slash = strrchr(place, '/'), *name = slash ? slash + 1 : place;
    int fd = open_below(parent, name);

    if (fd < 0 && errno == ENOENT)
        return make(keeping, list, parent, name, place, fault);
    if (fd < 0 && (errno == ENOTDIR || errno == ELOOP))
        return complain(keeping, place,
                        "is not a directory, or is a symbolic link: the case is not kept; "
                        "rename it, or give another --keep DIR",
                        fault);
    if (fd < 0)
        return complain_errno(keeping, place, errno, fault);
    if (last && check_listed(keeping, list, place, fault)) {
        close(fd);
        return -1;
    }
    return fd;
}

static int enter_all(const struct keeping *keeping, struct kept_list *list, int root,
                     const char *place, struct fault *fault)
{
    char *path = strdup(place);
    int at = path ? fcntl(root, F_DUPFD_CLOEXEC, 0) : -1;

    if (at < 0)
        complain_errno(keeping, place, errno, fault);
    for (char *end = path; at >= 0 && *end;) {
        end += strcspn(end, "/");
        char cut = *end;
        *end = '\0';
        int next = enter(keeping, list, at, path, !cut, fault);
        *end = cut;
        end += cut != '\0';
        close(at);
        at = next;
    }
    free(path);
    return at;
}

/* Returns the path of a case relative to DIR. */
static const char *relative(const struct keeping *keeping, const char *place)
{
    return place + strlen(keeping->directory) + 1;
}

int kept_open(const struct keeping *keeping, const char *place, struct fault *fault)
{
    const char *name = relative(keeping, place);
    struct kept_list list = {.fd = -1};
    int root = open_path(keeping->directory, KEPT_DIRECTORY), fd = -1;

    if (root < 0)
        return complain_errno(keeping, "", errno, fault);
    if (kept_list_open(&list, root, true))
        complain_errno(keeping, ".kept", errno, fault);
    else
        fd = enter_all(keeping, &list, root, name, fault);
    kept_list_close(&list);
    close(root);
    return fd;
}

void kept_forget(int fd)
{
    static const char *const names[] = {"job.json",  "params.json", "given.npy",
                                        "given.raw", "out.npy",     "out.raw"};
    char name[32];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        unlinkat(fd, names[i], 0);
    for (size_t i = 0; file_format_words[i]; i++) {
        snprintf(name, sizeof(name), "source.%s", file_format_words[i]);
        unlinkat(fd, name, 0);
        snprintf(name, sizeof(name), "golden.%s", file_format_words[i]);
        unlinkat(fd, name, 0);
    }
}

int kept_remove_empty(int root, const char *place)
{
    const char *slash = strrchr(place, '/');
    int parent = kept_walk(root, place, true);

    if (parent < 0)
        return -1;
    int result = unlinkat(parent, slash ? slash + 1 : place, AT_REMOVEDIR);
    close(parent);
    return result;
}

void kept_abandon(const struct keeping *keeping, const char *place)
{
    int root = open_path(keeping->directory, KEPT_DIRECTORY);

    if (root < 0)
        return;
    kept_remove_empty(root, relative(keeping, place));
    close(root);
}

/* Returns the directory of `path` relative to `directory`, after following links. Heap; NULL if it
 * is not below `directory`. */
static char *directory_below(const char *directory, const char *path)
{
    char *root = realpath(directory, NULL), *real = realpath(path, NULL), *name = NULL;
    size_t length = root ? strlen(root) : 0;
    char *slash = real ? strrchr(real, '/') : NULL;

    if (slash && length > 0 && strncmp(real, root, length) == 0 && real[length] == '/' &&
        slash > real + length) {
        *slash = '\0';
        name = strdup(real + length + 1);
    }
    free(root);
    free(real);
    return name;
}

bool kept_holds(const char *directory, const char *file)
{
    struct kept_list list;
    char *name = directory_below(directory, file);
    int root = name ? open_path(directory, KEPT_DIRECTORY) : -1;
    bool holds = false;

    if (root >= 0) {
        holds = kept_list_open(&list, root, false) == 0 && kept_list_read(&list) == 0 &&
                kept_list_has(&list, name);
        kept_list_close(&list);
        close(root);
    }
    free(name);
    return holds;
}

int kept_open_pool(const char *directory, bool make)
{
    int root = open_path(directory, KEPT_DIRECTORY);

    if (root < 0)
        return -1;
    if (make)
        (void)mkdirat(root, KEPT_POOL, 0777);
    int fd = open_below(root, KEPT_POOL);
    close(root);
    return fd;
}

void kept_end(const char *directory)
{
    int pool = kept_open_pool(directory, false);
    int fd = pool < 0 ? -1 : open_at(pool, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !files)
        close(fd);
    if (pool >= 0)
        close(pool);
    if (!files)
        return;
    for (struct dirent *file; (file = readdir(files));) {
        if (file->d_name[0] != '.')
            unlinkat(dirfd(files), file->d_name, 0);
    }
    closedir(files);
    int root = open_path(directory, KEPT_DIRECTORY);
    if (root >= 0) {
        unlinkat(root, KEPT_POOL, AT_REMOVEDIR);
        close(root);
    }
}
