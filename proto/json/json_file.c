/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/json/json_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Opens a regular file. Returns -EINVAL for other files, which could block the caller. */
static int open_regular(const char *path)
{
    /* O_NONBLOCK: opening a pipe would wait for a writer. */
    struct stat st;
    int fd, error;

    do
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return -errno;
    error = fstat(fd, &st) < 0 ? -errno : S_ISREG(st.st_mode) ? 0 : -EINVAL;
    if (error == 0)
        return fd;
    close(fd);
    return error;
}

/* Reads until the end or `size` bytes. Sets *whole to the size of the file. Returns the number of
 * bytes, or -errno.
 */
static ssize_t read_all(const char *path, char *text, size_t size, uint64_t *whole)
{
    int fd = open_regular(path);
    size_t length = 0;
    struct stat st;
    ssize_t got = 0;

    if (fd < 0)
        return fd;
    while (length < size &&
           ((got = read(fd, text + length, size - length)) > 0 || (got < 0 && errno == EINTR)))
        length += got > 0 ? (size_t)got : 0;
    if (got < 0)
        got = -errno;
    *whole = fstat(fd, &st) == 0 && (uint64_t)st.st_size > length ? (uint64_t)st.st_size : length;
    close(fd);
    return got < 0 ? got : (ssize_t)length;
}

int json_file_read(const char *path, size_t max, char **text, size_t *length, struct fault *fault)
{
    uint64_t whole = 0;
    ssize_t got;

    *text = malloc(max + 1);
    if (!*text)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory");
    got = read_all(path, *text, max + 1, &whole);
    if (got >= 0 && (size_t)got <= max) {
        *length = (size_t)got;
        return 0;
    }
    free(*text);
    *text = NULL;
    if (got >= 0)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "the file has %" PRIu64 " bytes; at most %zu are accepted", whole, max);
    if (got == -EINVAL)
        return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                         "a regular file is required, with at most %zu KiB", max / 1024);
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s", strerror((int)-got));
}

int json_file_parse(const char *text, size_t length, const struct json_limits *limits,
                    struct json *root, struct fault *fault)
{
    if (json_parse(text, length, limits, root, fault) == 0)
        return 0;
    if (fault->code == FAULT_LIMIT)
        fault->code = FAULT_INVALID_PARAMS;
    return -1;
}

void json_file_name(struct fault *fault, const char *path)
{
    struct fault bare = *fault;
    const char *pointer = bare.has_pointer ? bare.pointer : NULL;

    if (bare.line > 0)
        fault_set(fault, bare.code, pointer, "%s:%u:%u: %s", path, bare.line, bare.column,
                  bare.text);
    else
        fault_set(fault, bare.code, pointer, "%s: %s", path, bare.text);
    fault->line = bare.line;
    fault->column = bare.column;
}
