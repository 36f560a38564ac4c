/* SPDX-License-Identifier: BSD-3-Clause */
#include "kept.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bounds.h"
#include "print.h"
#include "text.h"
#include "textw.h"

static const char marker[] = ".kept";
static const char head[] =
    "# Directories that mlictl batch has made here. It removes them when their cases pass.\n";
static const char ours[] = "# It has made this directory, too.\n";

/* Opens DIR/.kept, locked; -1: errno. */
static int open_marker(const char *directory, int flags)
{
    char *path = NULL;
    struct stat status;
    if (asprintf(&path, "%s/%s", directory, marker) < 0)
        return -1;
    int fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
    free(path);
    if (fd < 0)
        return -1;
    /* File systems without locks do without. */
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode)) {
        (void)flock(fd, LOCK_EX);
        return fd;
    }
    close(fd);
    errno = EINVAL;
    return -1;
}

static int write_all(int fd, const char *text, size_t size)
{
    ssize_t put = write(fd, text, size);
    if (put == (ssize_t)size)
        return 0;
    if (put >= 0)
        errno = ENOSPC;
    return -1;
}

int kept_note(const char *directory, bool is_ours, const char *place, struct fault *fault)
{
    char shown[PRINT_PATH_MAX];
    struct stat status;
    struct textw line;
    int fd = open_marker(directory, O_WRONLY | O_APPEND | O_CREAT), result = -1;
    textw_init(&line);
    if (fd >= 0 && fstat(fd, &status) == 0) {
        if (status.st_size == 0)
            textw_printf(&line, "%s%s", head, is_ours ? ours : "");
        textw_printf(&line, "%s\n", place + strlen(directory) + 1);
        result = line.failed ? -1 : write_all(fd, line.data, line.length);
    }
    if (result)
        fault_set(fault, FAULT_IO_ERROR, NULL, "%s/%s cannot be written: %s",
                  print_path(shown, directory), marker, strerror(errno));
    textw_finish(&line);
    if (fd >= 0)
        close(fd);
    return result;
}

static void remove_file(const char *place, const char *name)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", place, name) >= 0)
        unlink(path);
    free(path);
}

void kept_forget(const char *place)
{
    static const char *const names[] = {
        "job.json",   "params.json", "given.npy",          "given.raw",         "out.npy",
        "out.raw",    "source.npy",  "source.raw",         "source.npz",        "golden.npy",
        "golden.raw", "golden.npz",  "source.safetensors", "golden.safetensors"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        remove_file(place, names[i]);
}

/* Somebody may have edited the list: nothing outside of the directory is touched. */
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

/* By the job file, which is written last; a killed run may have left none. */
static bool is_older(const char *place, const struct timespec *begin)
{
    struct stat status;
    char *job = NULL;
    if (asprintf(&job, "%s/job.json", place) < 0)
        return false;
    bool there = stat(job, &status) == 0 || stat(place, &status) == 0;
    free(job);
    if (!there || status.st_mtim.tv_sec != begin->tv_sec)
        return !there || status.st_mtim.tv_sec < begin->tv_sec;
    return status.st_mtim.tv_nsec < begin->tv_nsec;
}

/* The directory of a case, and those above it that are empty then. */
static void remove_place(char *place, size_t root)
{
    kept_forget(place);
    while (strlen(place) > root && rmdir(place) == 0)
        *strrchr(place, '/') = '\0';
}

struct cleaner {
    const char *directory;
    const struct kept_case *cases;
    size_t count;
    bool all;
    const struct timespec *begin;
    bool is_ours;      /* the directory */
    struct textw left; /* lines of the marker that stay */
};

static int compare(const void *place, const void *c)
{
    return strcmp(place, ((const struct kept_case *)c)->place);
}

static bool is_stale(const struct cleaner *cleaner, const char *place)
{
    const struct kept_case *found =
        cleaner->count == 0
            ? NULL
            : bsearch(place, cleaner->cases, cleaner->count, sizeof(*found), compare);
    return (found ? !found->in_use : cleaner->all) && is_older(place, cleaner->begin);
}

static void take_line(struct cleaner *cleaner, const char *line)
{
    char *place = NULL;
    if (strncmp(line, ours, sizeof(ours) - 2) == 0)
        cleaner->is_ours = true;
    if (*line == '#' || !is_below(line))
        return;
    if (asprintf(&place, "%s/%s", cleaner->directory, line) < 0)
        cleaner->left.failed = true;
    else if (is_stale(cleaner, place))
        remove_place(place, strlen(cleaner->directory));
    else
        textw_printf(&cleaner->left, "%s\n", line);
    free(place);
}

static void take_lines(struct cleaner *cleaner, struct text *text)
{
    char *line = text->bytes, *end = text->bytes + text->length, *newline;
    for (; line < end && (newline = memchr(line, '\n', (size_t)(end - line))); line = newline + 1) {
        *newline = '\0';
        take_line(cleaner, line);
    }
}

/* A list that cannot be written loses lines at worst, and what they name stays. */
static void put_back(const struct cleaner *cleaner, int fd)
{
    const struct textw *left = &cleaner->left;
    if (left->failed)
        return;
    if (left->length == 0) {
        remove_file(cleaner->directory, marker);
        if (cleaner->is_ours)
            rmdir(cleaner->directory);
    } else if (ftruncate(fd, 0) == 0 && lseek(fd, 0, SEEK_SET) == 0 &&
               write_all(fd, head, sizeof(head) - 1) == 0 &&
               (!cleaner->is_ours || write_all(fd, ours, sizeof(ours) - 1) == 0)) {
        (void)write_all(fd, left->data, left->length);
    }
}

void kept_clean(const char *directory, const struct kept_case *cases, size_t count, bool all,
                const struct timespec *begin)
{
    struct cleaner cleaner = {
        .directory = directory, .cases = cases, .count = count, .all = all, .begin = begin};
    struct text text = {0};
    struct fault fault;
    int fd = open_marker(directory, O_RDWR);
    if (fd < 0)
        return;
    textw_init(&cleaner.left);
    if (text_read(&text, fd, JOB_FILE_BYTES_MAX, &fault) == 0) {
        take_lines(&cleaner, &text);
        put_back(&cleaner, fd);
    }
    text_finish(&text);
    textw_finish(&cleaner.left);
    close(fd);
}

void kept_end(const char *directory)
{
    char *pool = NULL;
    DIR *files = asprintf(&pool, "%s/" KEPT_POOL, directory) < 0 ? NULL : opendir(pool);
    if (files) {
        for (struct dirent *file; (file = readdir(files));) {
            if (file->d_name[0] != '.')
                remove_file(pool, file->d_name);
        }
        closedir(files);
        rmdir(pool);
    }
    free(pool);
}
