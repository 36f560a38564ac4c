/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/wire/frame.h"

/* A buffer for control messages, with the alignment of their headers. */
union control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(PROTO_FDS_MAX * sizeof(int))];
};

union received_control {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(FD_RECV_MAX * sizeof(int))];
};

void fd_close_all(const int *fds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        close(fds[i]);
}

/* Collects the descriptors of one control message. */
static void take(struct cmsghdr *header, int fds[FD_RECV_MAX], size_t *count)
{
    size_t given = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    if (given > FD_RECV_MAX - *count)
        given = FD_RECV_MAX - *count; /* cannot happen: the control buffer has no more room */
    memcpy(fds + *count, CMSG_DATA(header), given * sizeof *fds);
    *count += given;
}

ssize_t fd_recv_all(int socket, void *bytes, size_t size, int fds[FD_RECV_MAX], size_t *count)
{
    union received_control control;
    struct iovec data = {.iov_base = bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &data,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    ssize_t received;

    *count = 0;
    do {
        received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    } while (received < 0 && errno == EINTR);
    if (received < 0)
        return -errno;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header;
         header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level == SOL_SOCKET && header->cmsg_type == SCM_RIGHTS)
            take(header, fds, count);
    }
    return message.msg_flags & MSG_CTRUNC ? -EMSGSIZE : received;
}

ssize_t fd_recv(int socket, void *bytes, size_t size, int fds[PROTO_FDS_MAX], size_t *count)
{
    int all[FD_RECV_MAX];
    ssize_t received = fd_recv_all(socket, bytes, size, all, count);

    if (*count > PROTO_FDS_MAX)
        received = -EMSGSIZE;
    if (received < 0) {
        fd_close_all(all, *count);
        *count = 0;
    }
    memcpy(fds, all, *count * sizeof *fds);
    return received;
}

ssize_t fd_send(int socket, const void *bytes, size_t size, const int *fds, size_t count)
{
    union control control;
    /* sendmsg() only reads the bytes, but struct iovec has no const. */
    struct iovec data = {.iov_base = (void *)(uintptr_t)bytes, .iov_len = size};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};
    ssize_t sent;

    if (count > PROTO_FDS_MAX || (count > 0 && size == 0))
        return -EINVAL;
    if (count > 0) {
        struct cmsghdr *header = &control.align;

        memset(&control, 0, sizeof control);
        message.msg_control = control.bytes;
        message.msg_controllen = CMSG_SPACE(count * sizeof *fds);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof *fds);
        memcpy(CMSG_DATA(header), fds, count * sizeof *fds);
    }
    do {
        sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    } while (sent < 0 && errno == EINTR);
    return sent < 0 ? -errno : sent;
}

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
    /* Move the bytes before the buffer is full: receiving a few bytes wastes a system call. */
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

enum { FIRST_CAPACITY = 16 * 1024, CHUNK = 128 * 1024, FIRST_MARKS = 16 };

static void drop_mark(const struct out_mark *mark)
{
    if (!mark->borrowed)
        fd_close_all(mark->fds, mark->count);
}

static void drop_all(struct out *out)
{
    for (size_t i = out->mark_begin; i < out->mark_end; i++)
        drop_mark(&out->marks[i]);
    out->position += out->end - out->begin;
    out->mark_begin = out->mark_end = 0;
    out->begin = out->end = 0;
}

void out_finish(struct out *out)
{
    drop_all(out);
    free(out->text);
    free(out->marks);
    free(out->chunk);
    *out = (struct out){0};
}

bool out_empty(const struct out *out)
{
    return out->begin == out->end && out->mark_begin == out->mark_end;
}

size_t out_waiting(const struct out *out)
{
    return out->end - out->begin;
}

char *out_room(struct out *out, size_t size)
{
    if (out->capacity - out->end >= size)
        return out->text + out->end;
    size_t waiting = out_waiting(out);
    if (out->begin > 0) {
        memmove(out->text, out->text + out->begin, waiting);
        out->line_text -= out->line_text < out->begin ? out->line_text : out->begin;
        out->begin = 0;
        out->end = waiting;
    }
    size_t capacity = out->capacity ? out->capacity : FIRST_CAPACITY;
    while (capacity - waiting < size)
        capacity *= 2;
    if (capacity > out->capacity) {
        char *text = realloc(out->text, capacity);
        if (!text)
            return NULL;
        out->text = text;
        out->capacity = capacity;
    }
    return out->text + out->end;
}

void out_commit(struct out *out, size_t size)
{
    out->end += size;
}

int out_add(struct out *out, const void *bytes, size_t size)
{
    char *room = out_room(out, size);

    if (!room)
        return -ENOMEM;
    memcpy(room, bytes, size);
    out->end += size;
    return 0;
}

void out_line_begin(struct out *out)
{
    out->line_text = out->end;
    out->line_mark = out->mark_end;
}

void out_line_drop(struct out *out)
{
    while (out->mark_end > out->line_mark)
        drop_mark(&out->marks[--out->mark_end]);
    out->end = out->line_text;
}

static struct out_mark *add_mark(struct out *out)
{
    if (out->mark_end == out->mark_capacity && out->mark_begin > 0) {
        size_t count = out->mark_end - out->mark_begin;
        memmove(out->marks, out->marks + out->mark_begin, count * sizeof(*out->marks));
        out->line_mark -= out->line_mark < out->mark_begin ? out->line_mark : out->mark_begin;
        out->mark_begin = 0;
        out->mark_end = count;
    }
    if (out->mark_end == out->mark_capacity) {
        size_t capacity = out->mark_capacity ? 2 * out->mark_capacity : FIRST_MARKS;
        struct out_mark *marks = realloc(out->marks, capacity * sizeof(*marks));
        if (!marks)
            return NULL;
        out->marks = marks;
        out->mark_capacity = capacity;
    }
    struct out_mark *mark = &out->marks[out->mark_end++];
    *mark = (struct out_mark){.at = out->position + out_waiting(out), .borrowed = true};
    return mark;
}

int out_attach(struct out *out, const int *fds, size_t count)
{
    struct out_mark *mark = add_mark(out);

    if (!mark)
        return -ENOMEM;
    mark->count = (uint32_t)count;
    memcpy(mark->fds, fds, count * sizeof(*fds));
    return 0;
}

int out_file(struct out *out, int fd, uint64_t size, uint64_t owner)
{
    struct out_mark *mark = add_mark(out);

    if (!mark)
        return -ENOMEM;
    mark->is_file = true;
    mark->count = 1;
    mark->fds[0] = fd;
    mark->left = size;
    mark->owner = owner;
    return 0;
}

static int keep_mark(struct out_mark *mark)
{
    int own[PROTO_FDS_MAX];

    for (uint32_t i = 0; i < mark->count; i++) {
        own[i] = fcntl(mark->fds[i], F_DUPFD_CLOEXEC, 0);
        if (own[i] < 0) {
            int error = -errno;
            fd_close_all(own, i);
            return error;
        }
    }
    memcpy(mark->fds, own, mark->count * sizeof(*own));
    mark->borrowed = false;
    return 0;
}

int out_keep(struct out *out)
{
    for (size_t i = out->mark_begin; i < out->mark_end; i++) {
        int error = out->marks[i].borrowed ? keep_mark(&out->marks[i]) : 0;
        if (error)
            return error;
    }
    return 0;
}

/* Sends to a socket, or writes to a pipe (the program ignores SIGPIPE). */
static ssize_t transmit(int fd, const void *bytes, size_t size, const int *fds, size_t count)
{
    ssize_t sent = fd_send(fd, bytes, size, fds, count);

    if (sent != -ENOTSOCK || count > 0)
        return sent;
    sent = write(fd, bytes, size);
    return sent < 0 ? -errno : sent;
}

/*
 * Returns `sent`. If the peer has closed the connection, sets `broken` and returns 0, not an error:
 * lines that the peer has sent can still be received.
 */
static ssize_t sent_or_broken(struct out *out, ssize_t sent)
{
    if (sent != -EPIPE && sent != -ECONNRESET)
        return sent;
    out->broken = true;
    drop_all(out);
    return 0;
}

/* Sends the next bytes of a file, and zeros after its end: the line has announced the length. */
static ssize_t send_file(struct out *out, struct out_mark *mark, int socket)
{
    if (!out->chunk)
        out->chunk = malloc(CHUNK);
    if (!out->chunk)
        return -ENOMEM;
    size_t wanted = mark->left < CHUNK ? (size_t)mark->left : CHUNK;
    ssize_t got;
    do
        got = pread(mark->fds[0], out->chunk, wanted, (off_t)mark->offset);
    while (got < 0 && errno == EINTR);
    const int error = got < 0 ? errno : 0;
    bool missing = got <= 0;
    if (missing) {
        memset(out->chunk, 0, wanted);
        got = (ssize_t)wanted;
    }
    ssize_t sent = sent_or_broken(out, transmit(socket, out->chunk, (size_t)got, NULL, 0));
    if (sent > 0) {
        if (missing) {
            out->cut = mark->owner;
            out->cut_error = error;
        }
        mark->offset += (uint64_t)sent;
        mark->left -= (uint64_t)sent;
    }
    return sent;
}

static ssize_t send_text(struct out *out, size_t size, const struct out_mark *mark, int socket)
{
    ssize_t sent = sent_or_broken(out, transmit(socket, out->text + out->begin, size,
                                                mark ? mark->fds : NULL, mark ? mark->count : 0));

    if (sent > 0) {
        out->begin += (size_t)sent;
        out->position += (uint64_t)sent;
    }
    return sent;
}

static void pop_mark(struct out *out)
{
    drop_mark(&out->marks[out->mark_begin++]);
}

/* Makes one system call. It sends the text up to the next mark. If the mark is next, it sends the
 * mark's descriptors or bytes of its file. */
static ssize_t send_some(struct out *out, int socket)
{
    struct out_mark *mark = NULL;
    uint64_t limit = out->position + out_waiting(out);

    if (out->mark_begin < out->mark_end)
        mark = &out->marks[out->mark_begin];
    if (!mark || mark->at > out->position)
        return send_text(out, (size_t)((mark ? mark->at : limit) - out->position), NULL, socket);
    if (mark->is_file) {
        ssize_t sent = mark->left ? send_file(out, mark, socket) : 0;
        if (sent >= 0 && !out->broken && mark->left == 0)
            pop_mark(out);
        return sent;
    }
    if (out->mark_begin + 1 < out->mark_end)
        limit = mark[1].at;
    ssize_t sent = send_text(out, (size_t)(limit - out->position), mark, socket);
    if (sent > 0)
        pop_mark(out);
    return sent;
}

int out_flush(struct out *out, int socket)
{
    if (out->broken)
        drop_all(out);
    while (!out_empty(out)) {
        ssize_t sent = send_some(out, socket);
        if (sent == -EAGAIN)
            return 0;
        if (sent < 0 && sent != -EINTR)
            return (int)sent;
        if (out->cut)
            return 0;
    }
    if (out->begin == out->end)
        out->begin = out->end = 0;
    if (out->mark_begin == out->mark_end)
        out->mark_begin = out->mark_end = 0;
    return 0;
}
