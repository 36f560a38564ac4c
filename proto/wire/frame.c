/* SPDX-License-Identifier: BSD-3-Clause */
#include "proto/wire/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "proto/wire/fdpass.h"

int frame_init(struct frame *frame, size_t line_max)
{
    *frame = (struct frame){.capacity = line_max};
    frame->buffer = malloc(line_max);
    return frame->buffer ? 0 : -ENOMEM;
}

void frame_finish(struct frame *frame)
{
    fd_close_all(frame->fds, frame->fd_count);
    free(frame->buffer);
    *frame = (struct frame){0};
}

/* Moves the bytes that are not consumed yet to the start of the buffer. */
static void compact(struct frame *frame)
{
    if (frame->begin == 0)
        return;
    memmove(frame->buffer, frame->buffer + frame->begin, frame->end - frame->begin);
    frame->end -= frame->begin;
    frame->scanned -= frame->begin;
    frame->begin = 0;
}

char *frame_room(struct frame *frame, size_t *size)
{
    /* Move early, not only if the buffer is full: receiving a few bytes wastes a system call. */
    if (frame->begin == frame->end || frame->capacity - frame->end < frame->capacity / 4)
        compact(frame);
    *size = frame->capacity - frame->end;
    return *size > 0 ? frame->buffer + frame->end : NULL;
}

void frame_commit(struct frame *frame, size_t bytes)
{
    frame->end += bytes;
}

int frame_push_fds(struct frame *frame, const int *fds, size_t count)
{
    if (count > sizeof frame->fds / sizeof *frame->fds - frame->fd_count) {
        fd_close_all(fds, count);
        return -1;
    }
    for (size_t i = 0; i < count; i++)
        frame->fds[frame->fd_count++] = fds[i];
    return 0;
}

bool frame_next(struct frame *frame, const char **line, size_t *length)
{
    char *from = frame->buffer + frame->scanned;
    char *newline = memchr(from, '\n', frame->end - frame->scanned);

    if (!newline) {
        frame->scanned = frame->end;
        return false;
    }
    *line = frame->buffer + frame->begin;
    *length = (size_t)(newline - *line);
    if (*length > 0 && newline[-1] == '\r')
        --*length;
    frame->begin = frame->scanned = (size_t)(newline + 1 - frame->buffer);
    return true;
}

void frame_unread(struct frame *frame, const char *line)
{
    frame->begin = frame->scanned = (size_t)(line - frame->buffer);
}

size_t frame_take_bytes(struct frame *frame, size_t max, const char **bytes)
{
    size_t size = frame->end - frame->begin;

    if (size > max)
        size = max;
    *bytes = frame->buffer + frame->begin;
    frame->begin += size;
    frame->scanned = frame->begin;
    return size;
}

int frame_take_fds(struct frame *frame, size_t count, int *fds)
{
    if (count > frame->fd_count)
        return -1;
    if (count == 0)
        return 0;
    memcpy(fds, frame->fds, count * sizeof *fds);
    frame->fd_count -= count;
    memmove(frame->fds, frame->fds + count, frame->fd_count * sizeof *fds);
    return 0;
}

bool frame_leftover(const struct frame *frame)
{
    return frame->fd_count > 0 && frame->begin == frame->end;
}
