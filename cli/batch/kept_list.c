/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/batch/kept.h"
#include "cli/file/calls.h"
#include "cli/file/output.h"
#include "cli/file/storage.h"
#include "proto/file/file_limits.h"
#include "proto/json/textw.h"

static const char marker[] = ".kept";
static const char head[] =
    "# Directories that mlictl batch has made here. It removes them when their cases pass.\n";
static const char ours[] = "# It has made this directory, too.\n";

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

int kept_list_open(struct kept_list *list, int root, bool make)
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

static int compare(const void *a, const void *b)
{
    return strcmp(((const struct kept_line *)a)->place, ((const struct kept_line *)b)->place);
}

/* A place that begins like a comment has this in front of it. */
static const char here[] = "./";

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

int kept_list_read(struct kept_list *list)
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
    qsort(list->lines, list->count, sizeof(*list->lines), compare);
    drop_duplicates(list);
    return 0;
}

bool kept_list_has(const struct kept_list *list, const char *place)
{
    const struct kept_line wanted = {.place = place};

    return list->count > 0 &&
           bsearch(&wanted, list->lines, list->count, sizeof(wanted), compare) != NULL;
}

static int write_all(int fd, const struct textw *w)
{
    errno = ENOMEM;
    if (w->failed)
        return -1;
    for (size_t done = 0; done < w->length;) {
        ssize_t put = write(fd, w->data + done, w->length - done);
        if (put < 0 && errno == EINTR)
            continue;
        if (put == 0)
            errno = ENOSPC;
        if (put <= 0)
            return -1;
        done += (size_t)put;
    }
    return 0;
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

int kept_list_add(struct kept_list *list, const char *place, const struct keeping *keeping)
{
    char digits[KEPT_ORIGIN_DIGITS + 1];
    struct stat status;
    struct textw w;

    if (fstat(list->fd, &status))
        return -1;
    textw_init(&w);
    if (status.st_size == 0)
        textw_printf(&w, "%s%s", head, keeping->is_ours ? ours : "");
    kept_list_origin(keeping->origin, digits);
    put_line(&w, place, digits);
    int result = write_all(list->fd, &w);
    int error = errno;
    if (result &&
        set_size(list->fd, status.st_size)) /* otherwise the next line would continue this one */
        error = errno;
    textw_finish(&w);
    errno = error;
    return result == 0 && keeping->sync ? sync_list(list, status.st_size == 0) : result;
}

/* Replaces the file: a run that is killed, or a power cut, leaves the old or the new list. A run
 * that waits for the lock of the old file opens the new one. */
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

void kept_list_write(struct kept_list *list)
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

void kept_list_close(struct kept_list *list)
{
    text_finish(&list->text);
    free(list->lines);
    if (list->fd >= 0)
        close(list->fd);
    *list = (struct kept_list){.fd = -1};
}

void kept_list_origin(uint64_t origin, char out[KEPT_ORIGIN_DIGITS + 1])
{
    snprintf(out, KEPT_ORIGIN_DIGITS + 1, "%016" PRIx64, origin);
}
