/* SPDX-License-Identifier: BSD-3-Clause */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/kept.h"
#include "cli/file/calls.h"
#include "cli/file/output.h"
#include "cli/file/place.h"
#include "cli/file/regular.h"
#include "cli/make/relocate.h"
#include "cli/report/fingerprint.h"
#include "cli/run/job_buffers.h"
#include "cli/tensor/params.h"
#include "cli/term/print.h"
#include "proto/file/job_spec.h"
#include "proto/json/jsonw.h"
#include "proto/json/utf8.h"

#define KEPT_POOL ".kept-files"

/* Flags to open a directory for the *at() functions. */
#define KEPT_DIRECTORY (O_PATH | O_DIRECTORY | O_CLOEXEC)

/* Digits of an origin: 8 for the working directory of the run, then 8 for its PATHs. */
enum { KEPT_ORIGIN_DIGITS = CONTENT_DIGITS };

struct kept_line {
    const char *place;  /* path relative to DIR */
    const char *origin; /* origin in hexadecimal digits; empty: unknown */
};

struct kept_list {
    int root;     /* descriptor of DIR; borrowed */
    int fd;       /* descriptor of DIR/.kept, with the lock */
    bool is_ours; /* true: mlictl batch also created DIR */
    struct text text;
    struct kept_line *lines; /* sorted by place, without duplicates; strings are in `text` */
    size_t count;
};

static const char marker[] = ".kept";
static const char head[] =
    "# Directories that mlictl batch has made here. It removes them when their cases pass.\n";
static const char ours[] = "# It has made this directory, too.\n";

/* Precedes a place in the list that would otherwise look like a comment. */
static const char here[] = "./";

/* A case of the run. */
struct kept_case {
    char *place; /* path relative to DIR; owned */
    bool in_use; /* the case did not pass */
};

/* The list of kept cases, and the cases of the run that they belong to. */
struct cleaner {
    const struct keeping *keeping;
    int root;                /* descriptor of DIR */
    struct kept_case *cases; /* sorted by place */
    size_t count;
    struct kept_list list;
    char origin[KEPT_ORIGIN_DIGITS + 1]; /* kept_origin() of this run, in hexadecimal */
};

/* Size of a buffer for the name of a file in the job of a kept case: "source.safetensors", or the
 * path of an original file. */
enum { JOB_NAME_SIZE = JOB_PATH_MAX + 1 };

/* Cases share files of this size or more by hard links. */
enum { LINKED_BYTES_MIN = 1 << 20 };

struct keeper {
    const struct keeping *keeping;
    const char *place; /* the directory of the case */
    int fd;            /* descriptor of the directory `place` */
    bool fresh;        /* fail if a file exists, instead of replacing it */
    struct fault *fault;
};

/* The list DIR/.kept: each line has a path relative to DIR, a tab, and the origin. */

/* Opens and locks the file. *gone becomes true if another run removed the file before this run got
 * the lock. */
static int open_locked(int root, int flags, bool *gone)
{
    struct stat status;
    int fd = open_at(root, marker, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);

    *gone = false;
    if (fd < 0)
        return -1;
    int error = fstat(fd, &status) ? errno : S_ISREG(status.st_mode) ? 0 : EINVAL;
    /* Continue without a lock if the file system has no locks. */
    if (!error) {
        (void)flock(fd, LOCK_EX);
        *gone = fstat(fd, &status) == 0 && status.st_nlink == 0;
        if (!*gone)
            return fd;
    }
    close(fd);
    errno = error ? error : EINVAL;
    return -1;
}

/*
 * Opens the list of the open directory `root` and takes its lock; with `make` creates a missing
 * list.
 * Does not read the lines. Returns 0, or -1 with errno. list_close() is legal in both cases.
 */
static int list_open(struct kept_list *list, int root, bool make)
{
    bool gone;

    *list = (struct kept_list){.root = root, .fd = -1};
    do {
        list->fd = open_locked(root, O_RDWR | O_APPEND | (make ? O_CREAT : 0), &gone);
    } while (gone);
    return list->fd < 0 ? -1 : 0;
}

/* Returns whether a place is below DIR. An edited list must not lead out of DIR. */
static bool is_below(const char *name)
{
    if (*name == '/' || *name == '\0')
        return false;
    for (const char *part = name; part; part = strchr(part, '/')) {
        part += *part == '/';
        size_t length = strcspn(part, "/");
        if (length == 0 || (part[0] == '.' && strspn(part, ".") == length))
            return false;
    }
    return true;
}

/* Compares lines or cases: both structures begin with `place`. */
static int compare_places(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Takes a line that ends at `end`. Skips a line with zero bytes, which a power cut leaves: a part
 * of its path could be the path of a directory that this program has not made. */
static void take_line(struct kept_list *list, char *line, const char *end)
{
    if (strlen(line) < (size_t)(end - line))
        return;
    if (strncmp(line, ours, sizeof(ours) - 2) == 0)
        list->is_ours = true;
    if (*line == '#')
        return;
    if (strncmp(line, here, sizeof(here) - 1) == 0 && line[sizeof(here) - 1] == '#')
        line += sizeof(here) - 1;
    char *tab = strchr(line, '\t');
    if (tab)
        *tab = '\0';
    if (is_below(line))
        list->lines[list->count++] = (struct kept_line){line, tab ? tab + 1 : ""};
}

static size_t count_newlines(const struct text *text)
{
    size_t count = 0;

    for (size_t i = 0; i < text->length; i++)
        count += text->bytes[i] == '\n';
    return count;
}

static void drop_duplicates(struct kept_list *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (kept == 0 || strcmp(list->lines[kept - 1].place, list->lines[i].place) != 0)
            list->lines[kept++] = list->lines[i];
    }
    list->count = kept;
}

/* Reads the lines; ignores lines that lead out of DIR. Returns 0, or -1 with errno. */
static int list_read(struct kept_list *list)
{
    struct fault fault;
    struct text *text = &list->text;

    errno = EIO;
    if (lseek(list->fd, 0, SEEK_SET) || text_read(text, list->fd, JOB_FILE_BYTES_MAX, &fault))
        return -1;
    list->lines = calloc(count_newlines(text) + 1, sizeof(*list->lines));
    if (!list->lines)
        return -1;
    char *line = text->bytes, *end = text->bytes + text->length, *newline;
    for (; line < end && (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
        *newline = '\0';
        take_line(list, line, newline);
    }
    qsort(list->lines, list->count, sizeof(*list->lines), compare_places);
    drop_duplicates(list);
    return 0;
}

/* Returns whether the list of kept cases, as it was read, names this directory. */
static bool list_has(const struct kept_list *list, const char *place)
{
    return list->count > 0 &&
           bsearch(&place, list->lines, list->count, sizeof(*list->lines), compare_places) != NULL;
}

static void put_line(struct textw *w, const char *place, const char *origin)
{
    textw_printf(w, "%s%s%s%s\n", *place == '#' ? here : "", place, *origin ? "\t" : "", origin);
}

/* Syncs the list to storage, with its name if it is new. Returns 0, or -1 with errno. */
static int sync_list(const struct kept_list *list, bool is_new)
{
    int error = storage_sync(list->fd);

    if (!error && is_new)
        error = storage_sync_names(list->root, list->fd);
    errno = error;
    return error ? -1 : 0;
}

/*
 * Appends a line for a directory of the run. If the list is new, first writes a line that says
 * whether the run made the directory of all kept cases. Returns 0, or -1 with errno.
 */
static int list_add(struct kept_list *list, const char *place, const struct keeping *keeping)
{
    char digits[KEPT_ORIGIN_DIGITS + 1];
    struct stat status;
    struct textw w;

    if (fstat(list->fd, &status))
        return -1;
    textw_init(&w);
    if (status.st_size == 0)
        textw_printf(&w, "%s%s", head, keeping->is_ours ? ours : "");
    put_line(&w, place, digest_text(digits, keeping->origin));
    errno = ENOMEM;
    int result = w.failed ? -1 : write_bytes(list->fd, w.data, w.length, status.st_size);
    int error = errno;
    if (result && set_size(list->fd, status.st_size)) /* removes the incomplete line */
        error = errno;
    textw_finish(&w);
    errno = error;
    return result == 0 && keeping->sync ? sync_list(list, status.st_size == 0) : result;
}

/* Replaces the list by a rename. So a run that is killed, or a power cut, leaves the old or the new
 * list. Another run that waits for the lock of the old file then opens the new file. */
static void replace(int root, const struct textw *w)
{
    struct output output;
    struct fault ignored;

    if (w->failed)
        return;
    if (output_init_at(&output, root, marker, &ignored) == 0 &&
        output_write(&output, w->data, w->length, 0, &ignored) == 0)
        (void)output_commit_synced(&output, false, &ignored);
    output_finish(&output);
}

/*
 * Replaces the file by the lines of `list`, or removes it if there are no lines. If writing fails,
 * the file stays as it is.
 */
static void list_write(struct kept_list *list)
{
    struct textw w;

    if (list->count == 0) {
        unlinkat(list->root, marker, 0);
        return;
    }
    textw_init(&w);
    textw_printf(&w, "%s%s", head, list->is_ours ? ours : "");
    for (size_t i = 0; i < list->count; i++)
        put_line(&w, list->lines[i].place, list->lines[i].origin);
    replace(list->root, &w);
    textw_finish(&w);
}

static void list_close(struct kept_list *list)
{
    text_finish(&list->text);
    free(list->lines);
    close_open(list->fd);
    *list = (struct kept_list){.fd = -1};
}

/* The directories in DIR. */

uint64_t kept_origin(char *const *paths, size_t count)
{
    struct textw w;
    char *place = realpath(".", NULL);

    textw_init(&w);
    for (size_t i = 0; i < count; i++)
        textw_printf(&w, "%s\n", paths[i]);
    uint64_t directory = place ? digest64(place, strlen(place)) : 0;
    uint64_t rest = w.failed || w.length == 0 ? 0 : digest64(w.data, w.length);
    textw_finish(&w);
    free(place);
    return directory >> 32 << 32 | rest >> 32;
}

/* Opens the directory `name` in `parent`; fails if it is a symbolic link. */
static int open_below(int parent, const char *name)
{
    return open_at(parent, name, KEPT_DIRECTORY | O_NOFOLLOW, 0);
}

/*
 * Opens an existing directory below the open directory `root`, or its parent directory if `parent`
 * is set. Follows no links. Returns a descriptor, or -1 with errno.
 */
static int open_place(int root, const char *place, bool parent)
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

/* Creates one directory, after adding it to the list: a run that is killed in between leaves no
 * directory outside the list. Returns a descriptor or -1. */
static int make(const struct keeping *keeping, struct kept_list *list, int parent, const char *name,
                const char *place, struct fault *fault)
{
    if (list_add(list, place, keeping))
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
    if (list_read(list))
        return complain_errno(keeping, ".kept", errno, fault);
    if (list_has(list, place))
        return 0;
    return complain(keeping, place,
                    "exists and was not made by `mlictl batch`: the case is not kept; "
                    "rename that directory, or give another --keep DIR",
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
                        "rename that file, or give another --keep DIR",
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

/*
 * Opens the directory `place` of a case; keeping->directory must exist. Creates missing directories
 * and adds them to the list. Refuses symbolic links, and an existing directory that is not in the
 * list. Returns a descriptor, or -1.
 */
static int open_case(const struct keeping *keeping, const char *place, struct fault *fault)
{
    const char *name = relative(keeping, place);
    struct kept_list list = {.fd = -1};
    int root = open_path(keeping->directory, KEPT_DIRECTORY), fd = -1;

    if (root < 0)
        return complain_errno(keeping, "", errno, fault);
    if (list_open(&list, root, true))
        complain_errno(keeping, ".kept", errno, fault);
    else
        fd = enter_all(keeping, &list, root, name, fault);
    list_close(&list);
    close(root);
    return fd;
}

/* Removes the files of a kept case from its open directory, and no other files. */
static void forget_files(int fd)
{
    static const char *const names[] = {"job.json",   "params.json", "given.npy", "given.raw",
                                        "given.json", "golden.json", "out.npy",   "out.raw"};
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

/* Removes a directory below `root` if it is empty. Returns 0, or -1 with errno. */
static int remove_empty(int root, const char *place)
{
    const char *slash = strrchr(place, '/');
    int parent = open_place(root, place, true);

    if (parent < 0)
        return -1;
    int result = unlinkat(parent, slash ? slash + 1 : place, AT_REMOVEDIR);
    close(parent);
    return result;
}

/* Removes the directory `place` of a case if it is empty. */
static void abandon(const struct keeping *keeping, const char *place)
{
    int root = open_path(keeping->directory, KEPT_DIRECTORY);

    if (root < 0)
        return;
    remove_empty(root, relative(keeping, place));
    close(root);
}

/* Returns the directory of `path` relative to `directory`, after following links, on the heap; or
 * NULL if it is not below `directory`. */
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
        holds =
            list_open(&list, root, false) == 0 && list_read(&list) == 0 && list_has(&list, name);
        list_close(&list);
        close(root);
    }
    free(name);
    return holds;
}

/* Opens DIR/.kept-files; creates it if `make` is set. Returns a descriptor or -1. */
static int open_pool(const char *directory, bool make)
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
    int pool = open_pool(directory, false);
    int fd = pool < 0 ? -1 : open_at(pool, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0);
    DIR *files = fd < 0 ? NULL : fdopendir(fd);

    if (fd >= 0 && !files)
        close(fd);
    close_open(pool);
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

/* Removing the cases that earlier runs kept. */

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

/* Returns the case of the run whose place is `place`, or NULL. */
static const struct kept_case *find_case(const struct cleaner *cleaner, const char *place)
{
    return bsearch(&place, cleaner->cases, cleaner->count, sizeof(*cleaner->cases), compare_places);
}

/* Returns whether a run keeps the case no longer: the case passes, or with `all` belongs to none of
 * the run's cases. Cases of runs with another origin stay. */
static bool is_stale(const struct cleaner *cleaner, const struct kept_line *line, bool all)
{
    const struct kept_case *found = find_case(cleaner, line->place);
    /* DIR may have been copied from another working directory, where the cases have the same
       names. */
    const size_t digits = found ? KEPT_ORIGIN_DIGITS / 2 : KEPT_ORIGIN_DIGITS;

    if (*line->origin && strncmp(line->origin, cleaner->origin, digits) != 0)
        return false;
    return found ? !found->in_use : all;
}

/* Removes the directory of a case, then its parents that are in the list and empty. */
static void remove_place(struct cleaner *cleaner, const char *place, const struct timespec *begin)
{
    int fd = open_place(cleaner->root, place, false);

    if (fd < 0)
        return;
    bool older = is_older(fd, begin);
    if (older)
        forget_files(fd);
    close(fd);
    char *path = older ? strdup(place) : NULL;
    while (path && remove_empty(cleaner->root, path) == 0) {
        char *slash = strrchr(path, '/');

        if (!slash)
            break;
        *slash = '\0';
        if (!list_has(&cleaner->list, path))
            break;
    }
    free(path);
}

/* Drops the lines of directories that no longer exist, or in whose place there is a link. */
static void drop_lines(struct cleaner *cleaner)
{
    struct kept_list *list = &cleaner->list;
    size_t left = 0;

    for (size_t i = 0; i < list->count; i++) {
        int fd = open_place(cleaner->root, list->lines[i].place, false);

        if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
            continue;
        close_open(fd);
        list->lines[left++] = list->lines[i];
    }
    list->count = left;
}

static void cleaner_finish(struct cleaner *cleaner)
{
    for (size_t i = 0; i < cleaner->count; i++)
        free(cleaner->cases[i].place);
    free(cleaner->cases);
    list_close(&cleaner->list);
    close_open(cleaner->root);
}

/* Reads the list of DIR and the cases of the run. Returns 0, or -1 if there is no list, or out of
 * memory. cleaner_finish() is legal in both cases. */
static int cleaner_init(struct cleaner *cleaner, const struct keeping *keeping,
                        const struct cases *cases)
{
    *cleaner = (struct cleaner){.keeping = keeping,
                                .root = open_path(keeping->directory, KEPT_DIRECTORY),
                                .cases = calloc(cases->count + 1, sizeof(*cleaner->cases)),
                                .list = {.fd = -1}};
    if (cleaner->root < 0 || !cleaner->cases)
        return -1;
    digest_text(cleaner->origin, keeping->origin);
    for (; cleaner->count < cases->count; cleaner->count++) {
        const struct batch_case *batch_case = cases->list[cleaner->count];
        char *place = kept_place("", batch_case->name);

        if (!place)
            return -1;
        memmove(place, place + 1, strlen(place)); /* the slash */
        cleaner->cases[cleaner->count] = (struct kept_case){place, !batch_case->passed};
    }
    qsort(cleaner->cases, cleaner->count, sizeof(*cleaner->cases), compare_places);
    return list_open(&cleaner->list, cleaner->root, false) || list_read(&cleaner->list) ? -1 : 0;
}

void kept_clean(const struct keeping *keeping, const struct cases *cases, bool all,
                const struct timespec *begin)
{
    struct cleaner cleaner;
    struct kept_list *list = &cleaner.list;

    if (cleaner_init(&cleaner, keeping, cases) == 0) {
        for (size_t i = 0; i < list->count; i++) {
            if (is_stale(&cleaner, &list->lines[i], all))
                remove_place(&cleaner, list->lines[i].place, begin);
        }
        drop_lines(&cleaner);
        list_write(list);
        if (list->count == 0 && list->is_ours)
            rmdir(keeping->directory);
    }
    cleaner_finish(&cleaner);
}

void kept_list_unused(const struct keeping *keeping, const struct cases *cases,
                      void (*unused)(void *context, const char *path), void *context)
{
    struct cleaner cleaner;
    struct kept_list *list = &cleaner.list;
    const bool listed = cleaner_init(&cleaner, keeping, cases) == 0;

    for (size_t i = 0; listed && i < list->count; i++) {
        char *path = NULL;

        if (find_case(&cleaner, list->lines[i].place) ||
            asprintf(&path, "%s/%s/job.json", keeping->directory, list->lines[i].place) < 0)
            continue;
        if (access(path, F_OK) == 0)
            unused(context, path);
        free(path);
    }
    cleaner_finish(&cleaner);
}

/* The evidence of a failed job, and the kept case made from it. */

void evidence_init(struct evidence *evidence)
{
    static const struct evidence_file none = {.fd = -1};

    *evidence = (struct evidence){
        .source = none, .golden = none, .wanted = none, .before = none, .given = -1};
}

static int duplicate(int fd)
{
    return fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

/* Duplicates the descriptor of an open file. Does nothing for an archive, which is opened again
 * later: its descriptor may refer to a copy of one tensor. */
static int file_of(const struct tensor_file *file)
{
    return file_format_is_archive(file->format) ? -1 : duplicate(file->fd);
}

/* Duplicates the descriptor of a file that the job reads or would have read. */
static void take_input(struct evidence_file *file, const char *path, const struct tensor_file *open,
                       const struct produced *produced)
{
    const struct tensor_file *found;

    if (!path || produced_find(produced, path, &found))
        return;
    file->path = strdup(path);
    file->fd = found ? duplicate(found->fd) : file_of(open);
}

/* Duplicates the descriptor of a buffer, whose bytes are written to the kept case. */
static void take_buffer(struct evidence_file *file, const struct job_buffers *buffers, size_t index)
{
    file->path = strdup("a buffer");
    file->fd = job_buffers_open(buffers, index);
}

static bool is_same(const char *a, const char *b)
{
    return a && b && place_same_file(a, b);
}

void evidence_take(struct evidence *evidence, const struct resolved *resolved,
                   const struct produced *produced, const struct job_buffers *buffers,
                   const struct outcome *outcome)
{
    static const struct tensor_file closed = {.fd = -1};

    evidence->job = resolved->job;
    evidence->src_buffer = resolved->src_buffer;
    evidence->dst_buffer = resolved->dst_buffer;
    take_input(&evidence->source, resolved->src_path, &resolved->src, produced);
    if (resolved->src_buffer)
        take_buffer(&evidence->source, buffers, resolved->job->src.buffer_index);
    take_input(&evidence->golden, resolved->expect_path, &resolved->expect, produced);
    take_input(&evidence->wanted, resolved->wanted_path, &closed, produced);
    /* The kept job updates a copy of the tensor: keep the tensor as it was before the update. */
    evidence->before.fd = duplicate(resolved->before.fd);
    if (resolved->dst_buffer)
        take_buffer(&evidence->before, buffers, resolved->job->dst.buffer_index);
    evidence->into_source = is_same(resolved->dst_path, resolved->src_path);
    evidence->into_golden = is_same(resolved->dst_path, resolved->expect_path);
    /* The rest of the time limit: the kept job runs without the limit of the batch. */
    const bool late = outcome->fault.code == FAULT_TIMED_OUT;
    evidence->timeout_ms = (late ? resolved->wire.common : resolved->job->common).timeout_ms;
    if (outcome->moved)
        evidence->given = duplicate(resolved->output.fd);
    if (outcome->moved && resolved->job->expect.has_params)
        evidence->given_params = params_text(&outcome->result.dst);
    evidence->params_differ = outcome->difference.kind == DIFFERENCE_PARAMS;
}

static void finish(struct evidence_file *file)
{
    free(file->path);
    close_open(file->fd);
}

void evidence_finish(struct evidence *evidence)
{
    finish(&evidence->source);
    finish(&evidence->golden);
    finish(&evidence->wanted);
    free(evidence->given_params);
    finish(&evidence->before);
    close_open(evidence->given);
    evidence_init(evidence);
}

/*
 * Returns the length of the character at `at` if the name of a directory can have it unchanged.
 * Returns 0 for control and format characters and bytes that are not UTF-8, because a user could
 * not read or type such a name.
 */
static size_t plain_bytes(const char *at)
{
    size_t size = utf8_char(at, strlen(at));
    char out[ESCAPED_MAX];

    return size > 0 && !escaped_plain(utf8_decode(at, size), out) ? size : 0;
}

/*
 * Returns the directory for a kept case: `directory`, a slash, and the name of the case. These
 * bytes of the name become "%" and two digits:
 * - a leading slash, and dots if a part of the name has only dots: they would lead out of
 * `directory`
 * - bytes for which plain_bytes() returns 0, and "%" itself
 * - the dot of a leading ".kept", because the list and the pool have such names
 */
char *kept_place(const char *directory, const char *name)
{
    size_t length = strlen(directory);
    char *place = malloc(length + 2 + 3 * strlen(name) + 1);

    if (!place)
        return NULL;
    char *out = stpcpy(place, directory);
    bool begins = true; /* `c` is at the beginning of a part of the name */
    bool reserved = strncmp(name, ".kept", strlen(".kept")) == 0;
    *out++ = '/';
    for (const char *c = name; *c;) {
        bool dots = begins && strspn(c, ".") == strcspn(c, "/");
        size_t plain = plain_bytes(c);

        begins = *c == '/';
        if (*c == '%' || (c == name && (*c == '/' || reserved)) || (dots && *c == '.') ||
            plain == 0) {
            out += sprintf(out, "%%%02X", (unsigned char)*c++);
        } else {
            out = mempcpy(out, c, plain);
            c += plain;
        }
    }
    *out = '\0';
    return place;
}

static int complain_created(const char *path, int error, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];

    return fault_set(fault, FAULT_IO_ERROR, NULL, "%s cannot be created: %s",
                     print_path(shown, path), strerror(error));
}

/* Creates a directory if it does not exist. Returns 0 or an errno. */
static int make_directory(const char *path, bool sync)
{
    char *parent = NULL;

    if (mkdir(path, 0777))
        return errno == EEXIST ? 0 : errno;
    if (!sync)
        return 0;
    if (asprintf(&parent, "%s/..", path) < 0)
        return ENOMEM;
    int error = storage_sync_names_of(parent, -1);
    free(parent);
    return error;
}

/* Creates the directory of --keep and its parents. */
static int make_directories(const struct keeping *keeping, struct fault *fault)
{
    const char *directory = keeping->directory;
    char *path = strdup(directory);
    int error = path ? 0 : ENOMEM;

    for (char *at = path; error == 0 && *at;) {
        at += 1 + strcspn(at + 1, "/");
        char end = *at;
        *at = '\0';
        error = make_directory(path, keeping->sync);
        *at = end;
    }
    free(path);
    return error ? complain_created(directory, error, fault) : 0;
}

static const char *ending_of(const struct tensor_spec *ref)
{
    return file_format_word(tensor_spec_format(ref));
}

/* Saves an open file, or `bytes` if fd < 0, as the file `name`. */
static int save(const struct keeper *keeper, const char *name, int fd, const char *bytes,
                size_t size)
{
    struct output output;
    struct stat status;
    char *path = NULL;

    if (asprintf(&path, "%s/%s", keeper->place, name) < 0)
        return fault_no_memory(keeper->fault);
    int result = output_init_at(&output, keeper->fd, path, keeper->fault);
    if (result == 0 && fd < 0)
        result = output_write(&output, bytes, size, 0, keeper->fault);
    else if (result == 0 && fstat(fd, &status))
        result = complain_created(path, errno, keeper->fault);
    else if (result == 0)
        result = output_copy_data(&output, fd, (uint64_t)status.st_size, keeper->fault);
    if (result == 0 && keeper->keeping->sync)
        result = output_sync(&output, keeper->fault);
    if (result == 0)
        result = output_commit(&output, keeper->fresh, keeper->fault);
    output_finish(&output);
    free(path);
    return result;
}

/* Links the copy in the pool DIR/.kept-files as `name`; creates the copy if it is missing. */
static bool link_copy(const struct keeper *keeper, int pool, const char *stamp, const char *name,
                      int fd)
{
    const struct keeper of_pool = {.keeping = keeper->keeping,
                                   .place = KEPT_POOL,
                                   .fd = pool,
                                   .fresh = true,
                                   .fault = keeper->fault};

    if (linkat(pool, stamp, keeper->fd, name, 0) == 0)
        return true;
    if (errno != ENOENT)
        return false;
    (void)save(&of_pool, stamp, fd, NULL, 0);
    return linkat(pool, stamp, keeper->fd, name, 0) == 0;
}

/*
 * Saves a large file that has not changed recently as a hard link to its copy in the pool, because
 * thousands of cases may read it. Returns false if the caller must make a copy.
 */
static bool save_link(const struct keeper *keeper, const char *name, int fd)
{
    struct stat status;
    char stamp[CONTENT_DIGITS + 1];

    if (fstat(fd, &status) || status.st_size < LINKED_BYTES_MIN || !contents_stamp(&status, stamp))
        return false;
    int pool = open_pool(keeper->keeping->directory, true);
    bool done = pool >= 0 && link_copy(keeper, pool, stamp, name, fd);
    close_open(pool);
    return done;
}

/* Replaces `name` by the path of an original file, relative to the directory of the case. Keeps
 * `name` if a job file cannot have this path. */
static void name_original(const struct keeper *keeper, const char *path, char name[JOB_NAME_SIZE])
{
    char *original = strdup(path), *job = NULL;
    struct fault ignored;

    if (asprintf(&job, "%s/job.json", keeper->place) < 0)
        job = NULL;
    if (original && job && relocate_name(&original, job, &ignored) == 0 &&
        strlen(original) < JOB_NAME_SIZE && utf8_is_valid(original, strlen(original)))
        strcpy(name, original);
    free(original);
    free(job);
}

/*
 * Saves a file that the job reads as `name`. If the file cannot be opened, `name` becomes the path
 * of the file instead: the kept job then fails as the original job did.
 */
static int save_input(const struct keeper *keeper, const struct evidence_file *file,
                      char name[JOB_NAME_SIZE])
{
    if (!file->path)
        return fault_no_memory(keeper->fault);
    struct stat looked;
    int fd = file->fd, opened = -1, status = 0;
    if (fd < 0)
        fd = opened = regular_open(file->path, O_RDONLY, &looked);
    if (fd < 0)
        name_original(keeper, file->path, name);
    else if (!save_link(keeper, name, fd))
        status = save(keeper, name, fd, NULL, 0);
    close_open(opened);
    return status;
}

static int save_job(const struct keeper *keeper, const struct job_spec *job)
{
    struct jsonw w;

    jsonw_init_lines(&w, 1);
    job_file_write(&w, NULL, job);
    jsonw_newline(&w);
    const char *text = jsonw_text(&w);
    int status =
        text ? save(keeper, "job.json", -1, text, w.length) : fault_no_memory(keeper->fault);
    jsonw_finish(&w);
    return status;
}

/* Turns a tensor in a buffer into a tensor in a raw file with the bytes of the buffer. */
static void leave_buffer(struct tensor_spec *spec, const struct buffer_spec *buffer)
{
    if (!buffer)
        return;
    spec->buffer = NULL;
    memcpy(spec->memory, buffer->memory, sizeof(spec->memory));
}

static int keep_files(const struct keeper *keeper, const struct evidence *evidence)
{
    static char params[] = "params.json", got[] = "given.json";
    char source[JOB_NAME_SIZE], golden[JOB_NAME_SIZE], out[32], given[32];
    char wanted[JOB_NAME_SIZE] = "golden.json";
    /* A shallow copy: *evidence->job owns all members that are not replaced below. */
    struct job_spec job = *evidence->job;

    snprintf(out, sizeof(out), "out.%s", ending_of(&job.dst));
    snprintf(given, sizeof(given), "given.%s", ending_of(&job.dst));
    snprintf(source, sizeof(source), "source.%s", ending_of(&job.src));
    snprintf(golden, sizeof(golden), "golden.%s", ending_of(&job.expect.golden));
    leave_buffer(&job.src, evidence->src_buffer);
    leave_buffer(&job.dst, evidence->dst_buffer);
    job.dst.update |= evidence->dst_buffer != NULL;
    job.dst.file = evidence->into_source ? source : evidence->into_golden ? golden : out;
    job.after = NULL;
    job.after_count = 0;
    job.common.timeout_ms = evidence->timeout_ms;
    if (job.dst.params)
        job.dst.params = params;
    job.src.file = source;
    if (job.expect.kind == EXPECT_FILE)
        job.expect.golden.file = golden;
    if (job.expect.golden.params)
        job.expect.golden.params = wanted;
    if (save_input(keeper, &evidence->source, source) ||
        (job.expect.kind == EXPECT_FILE && save_input(keeper, &evidence->golden, golden)) ||
        (job.expect.golden.params && save_input(keeper, &evidence->wanted, wanted)))
        return -1;
    if (evidence->before.fd >= 0 && save(keeper, out, evidence->before.fd, NULL, 0))
        return -1;
    if (evidence->given >= 0 && save(keeper, given, evidence->given, NULL, 0))
        return -1;
    if (evidence->given_params &&
        save(keeper, got, -1, evidence->given_params, strlen(evidence->given_params)))
        return -1;
    return save_job(keeper, &job);
}

/* Returns the path of the result, such as "batch-failed/a/given.npy", on the heap. NULL: no
 * result, or out of memory. */
static char *given_path(const char *place, const struct evidence *evidence)
{
    char *path = NULL;

    if (evidence->given < 0 ||
        asprintf(&path, "%s/given.%s", place,
                 evidence->params_differ ? "json" : ending_of(&evidence->job->dst)) < 0)
        return NULL;
    return path;
}

static int sync_names(const struct keeper *keeper)
{
    int error = storage_sync_names(keeper->fd, -1);

    return error ? complain_created(keeper->place, error, keeper->fault) : 0;
}

/* Fills the directory of the case. Returns 0, or -1 after removing the directory. */
static int fill(struct keeper *keeper, const struct evidence *evidence)
{
    keeper->fd = open_case(keeper->keeping, keeper->place, keeper->fault);
    if (keeper->fd < 0)
        return -1;
    forget_files(keeper->fd);
    int status = keep_files(keeper, evidence);
    if (status == 0 && keeper->keeping->sync)
        status = sync_names(keeper);
    if (status)
        forget_files(keeper->fd); /* the files are useless without job.json */
    close(keeper->fd);
    if (status)
        abandon(keeper->keeping, keeper->place);
    return status;
}

int kept_save(const struct keeping *keeping, const char *name, const struct evidence *evidence,
              struct kept *kept, struct fault *fault)
{
    char *place = kept_place(keeping->directory, name);
    struct keeper keeper = {.keeping = keeping, .place = place, .fault = fault};

    *kept = (struct kept){0};
    if (!place)
        return fault_no_memory(fault);
    int status = make_directories(keeping, fault);
    if (status == 0)
        status = fill(&keeper, evidence);
    if (status == 0 && asprintf(&kept->job, "%s/job.json", place) < 0) {
        kept->job = NULL;
        status = fault_no_memory(fault);
    }
    if (status == 0)
        kept->given = given_path(place, evidence);
    free(place);
    return status;
}
