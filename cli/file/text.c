/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/file/text.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/file/calls.h"
#include "cli/file/place.h"
#include "cli/term/cancel.h"
#include "cli/term/exit_code.h"

enum { FIRST_BYTES = 16 * 1024 };

static int grow(struct text *text)
{
    size_t capacity = text->capacity ? 2 * text->capacity : FIRST_BYTES;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes)
        return -1;
    text->bytes = bytes;
    text->capacity = capacity;
    return 0;
}

static int cannot_read(int error, struct fault *fault)
{
    enum fault_code code = exit_code_fault(error, FAULT_INVALID_PARAMS);
    if (error == EISDIR)
        return fault_set(fault, code, NULL, "it is a directory; mlictl batch runs directories");
    return fault_set(fault, code, NULL, "%s", error == EBADF ? "it is closed" : strerror(error));
}

static void wait_for_bytes(int fd)
{
    struct pollfd polled[] = {{.fd = fd, .events = POLLIN}, {.fd = cancel_fd(), .events = POLLIN}};
    poll(polled, 2, -1);
}

/* Reads to the end, or until there are more than `max` bytes, which is a fault. */
static int read_all(struct text *text, int fd, size_t max, bool waits, struct fault *fault)
{
    while (text->length <= max) {
        if (text->length == text->capacity && grow(text))
            return fault_no_memory(fault);
        if (waits)
            wait_for_bytes(fd);
        if (cancel_requested())
            return cancel_fault(fault);
        ssize_t got = read(fd, text->bytes + text->length, text->capacity - text->length);
        if (got == 0)
            return 0;
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return cannot_read(errno, fault);
        if (got > 0)
            text->length += (size_t)got;
    }
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "it exceeds the limit of %zu bytes", max);
}

int text_read(struct text *text, int fd, size_t max, struct fault *fault)
{
    return read_all(text, fd, max, true, fault);
}

static int is_not_regular(struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "not a regular file");
}

static int load_open(struct text *text, int fd, size_t max, bool regular, struct fault *fault)
{
    struct stat status;
    if (fstat(fd, &status))
        return cannot_read(errno, fault);
    if (regular && !S_ISREG(status.st_mode))
        return is_not_regular(fault);
    return read_all(text, fd, max, !S_ISREG(status.st_mode), fault);
}

static int is_not_there(const char *path, struct fault *fault)
{
    char near[NEAR_FILE_MAX];
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "%s%s", strerror(ENOENT),
                     near_file(near, path));
}

int text_load(struct text *text, const char *path, size_t max, bool regular, struct fault *fault)
{
    /* With O_NONBLOCK, open() does not wait until a program opens the fifo for writing. poll()
     * waits instead, because ^C can end its wait. */
    struct stat looked;
    if (regular && stat(path, &looked) == 0 && !S_ISREG(looked.st_mode))
        return is_not_regular(fault);
    int fd = open_path(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT)
        return is_not_there(path, fault);
    if (fd < 0)
        return cannot_read(errno, fault);
    int status = load_open(text, fd, max, regular, fault);
    close(fd);
    return status;
}

void text_finish(struct text *text)
{
    free(text->bytes);
    *text = (struct text){0};
}
