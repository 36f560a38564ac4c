/* SPDX-License-Identifier: BSD-3-Clause */
#include "job_files.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bounds.h"
#include "cancel.h"
#include "exit_code.h"

struct text {
    char *bytes;
    size_t length, capacity;
};

static int out_of_memory(struct fault *fault)
{
    return fault_set(fault, FAULT_INTERNAL, NULL, "out of memory");
}

static int grow(struct text *text)
{
    size_t capacity = text->capacity ? 2 * text->capacity : 16 * 1024;
    char *bytes = realloc(text->bytes, capacity);
    if (!bytes)
        return -1;
    text->bytes = bytes;
    text->capacity = capacity;
    return 0;
}

static int cannot_read(int error, struct fault *fault)
{
    enum fault_code code = exit_code_is_shortage(error) ? FAULT_IO_ERROR : FAULT_INVALID_PARAMS;
    return fault_set(fault, code, NULL, "%s", error == EBADF ? "it is closed" : strerror(error));
}

/* Reads to the end, a byte more than allowed at most. A terminal or pipe may keep us waiting. */
static int read_text(int fd, struct text *text, struct fault *fault)
{
    while (text->length <= JOB_FILE_BYTES_MAX) {
        if (text->length == text->capacity && grow(text))
            return out_of_memory(fault);
        struct pollfd polled[] = {{.fd = fd, .events = POLLIN},
                                  {.fd = cancel_fd(), .events = POLLIN}};
        poll(polled, 2, -1);
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
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "more than %d bytes", JOB_FILE_BYTES_MAX);
}

static char *directory_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return strdup(".");
    return slash == path ? strdup("/") : strndup(path, (size_t)(slash - path));
}

const char *job_file_label(const char *path)
{
    return strcmp(path, "-") == 0 ? "stdin" : path;
}

static int parse(struct job_file *file, struct fault *fault)
{
    bool standard_input = strcmp(file->path, "-") == 0;
    file->directory = standard_input ? strdup(".") : directory_of(file->path);
    if (!file->directory)
        return out_of_memory(fault);
    /* O_NONBLOCK: a fifo is awaited by poll(), which ^C ends, and not by open(). */
    int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
    int fd = standard_input ? STDIN_FILENO : open(file->path, flags);
    if (fd < 0)
        return cannot_read(errno, fault);
    struct text text = {0};
    int result = read_text(fd, &text, fault);
    if (result == 0)
        result = job_file_parse(text.bytes, text.length, &file->list, fault);
    free(text.bytes);
    if (!standard_input)
        close(fd);
    file->path = job_file_label(file->path);
    return result;
}

/* A job's name and where it stands. */
struct named {
    const char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* Fills file->after. The parser has checked that every name is there. */
static int find_predecessors(struct job_file *file)
{
    size_t named_count = 0;
    struct named *names = calloc(file->list.count, sizeof(*names));
    file->after = calloc(file->list.count, sizeof(*file->after));
    int result = names && file->after ? 0 : -1;
    for (size_t i = 0; i < file->list.count && !result; i++) {
        if (file->list.jobs[i].name)
            names[named_count++] = (struct named){file->list.jobs[i].name, i};
    }
    if (!result)
        qsort(names, named_count, sizeof(*names), compare_names);
    for (size_t i = 0; i < file->list.count && !result; i++) {
        const struct job *job = &file->list.jobs[i];
        if (job->after_count == 0)
            continue;
        file->after[i] = calloc(job->after_count, sizeof(size_t));
        result = file->after[i] ? 0 : -1;
        for (size_t k = 0; k < job->after_count && !result; k++) {
            struct named wanted = {.name = job->after[k]};
            const struct named *found =
                bsearch(&wanted, names, named_count, sizeof(*names), compare_names);
            file->after[i][k] = found ? found->index : i;
        }
    }
    free(names);
    return result;
}

/*
 * Depth first in file order: a job's predecessors come just before it unless they came already.
 * `path` is the chain of jobs that wait for one another, next[] how far each one's list is done.
 * There is no cycle, so no job is twice on the path.
 */
static int find_order(struct job_file *file)
{
    size_t count = file->list.count, placed = 0;
    size_t *path = calloc(count, sizeof(*path));
    size_t *next = calloc(count, sizeof(*next));
    bool *done = calloc(count, sizeof(*done));
    file->order = calloc(count, sizeof(*file->order));
    int result = path && next && done && file->order ? 0 : -1;
    for (size_t i = 0; i < count && !result; i++) {
        size_t depth = 0;
        if (!done[i])
            path[depth++] = i;
        while (depth > 0) {
            size_t job = path[depth - 1];
            if (next[job] < file->list.jobs[job].after_count) {
                size_t before = file->after[job][next[job]++];
                if (!done[before] && before != job)
                    path[depth++] = before;
            } else {
                done[job] = true;
                file->order[placed++] = job;
                depth--;
            }
        }
    }
    free(path);
    free(next);
    free(done);
    return result;
}

int job_file_load(struct job_file *file, const char *path, struct fault *fault)
{
    *file = (struct job_file){.path = path};
    if (parse(file, fault))
        goto fail;
    if (find_predecessors(file) || find_order(file)) {
        out_of_memory(fault);
        goto fail;
    }
    return 0;
fail:
    job_file_finish(file);
    return -1;
}

void job_file_finish(struct job_file *file)
{
    for (size_t i = 0; file->after && i < file->list.count; i++)
        free(file->after[i]);
    free(file->after);
    free(file->order);
    job_list_finish(&file->list);
    free(file->directory);
    *file = (struct job_file){0};
}

char *job_file_path(const struct job_file *file, const char *path)
{
    char *joined = NULL;
    if (path[0] == '/' || strcmp(file->directory, ".") == 0)
        return strdup(path);
    const char *slash = strcmp(file->directory, "/") == 0 ? "" : "/";
    return asprintf(&joined, "%s%s%s", file->directory, slash, path) < 0 ? NULL : joined;
}
