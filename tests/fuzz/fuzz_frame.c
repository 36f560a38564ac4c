/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames with descriptors: lines over a socket pair, in fragments of any size, each with
 * descriptors or without. The receiver must get lines and descriptors in the order of the sender,
 * or refuse them; at the end all descriptors are closed.
 *
 * Input: the size of the frame's buffer, then fragments: number of descriptors, length, bytes.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/wire/frame.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"

enum { STREAM_MAX = 1 << 16, FDS_MAX = 4096, MARKS = 5 };

/* All that was sent: the bytes, and the number of the file that each descriptor refers to. */
static struct {
    char bytes[STREAM_MAX];
    size_t length, lines_at;
    ino_t fds[FDS_MAX];
    size_t fd_count, fds_taken;
} sent;

static int marks[MARKS]; /* files to distinguish descriptors */
static ino_t inodes[MARKS];

/* Opens the files at the first call, so that later calls open no descriptors. */
static void open_marks(void)
{
    static const char *const names[MARKS] = {"0", "1", "2", "3", "4"};
    char path[SCRATCH_PATH_MAX];
    struct stat status;

    for (int i = 0; i < MARKS && marks[i] == 0; i++) {
        scratch_write(names[i], "", 0);
        marks[i] = open(scratch_path(path, names[i]), O_RDONLY | O_CLOEXEC);
        FUZZ_ASSERT(marks[i] > 0 && fstat(marks[i], &status) == 0);
        inodes[i] = status.st_ino;
    }
}

/* Sends one fragment. Returns false if the socket takes no more. */
static bool send_fragment(struct fuzz_reader *reader, int socket)
{
    const size_t count = fuzz_rarely(reader) ? 1 + fuzz_below(reader, PROTO_FDS_MAX) : 0;
    int fds[PROTO_FDS_MAX];
    size_t size;
    const char *bytes = (const char *)fuzz_piece(reader, 255, &size);
    ssize_t done;

    for (size_t i = 0; i < count; i++)
        fds[i] = marks[(sent.fd_count + i) % MARKS];
    if (size == 0 || sent.length + size > STREAM_MAX || sent.fd_count + count > FDS_MAX)
        return size == 0;
    done = fd_send(socket, bytes, size, fds, count);
    if (done < 0)
        return false;
    memcpy(sent.bytes + sent.length, bytes, (size_t)done);
    sent.length += (size_t)done;
    for (size_t i = 0; i < count; i++, sent.fd_count++)
        sent.fds[sent.fd_count] = inodes[sent.fd_count % MARKS];
    return (size_t)done == size;
}

/* Compares a line with the bytes that were sent. */
static void check_line(const char *line, size_t length)
{
    const char *from = sent.bytes + sent.lines_at;
    const char *newline = memchr(from, '\n', sent.length - sent.lines_at);
    size_t wanted;

    FUZZ_ASSERT(newline);
    wanted = (size_t)(newline - from);
    sent.lines_at += wanted + 1;
    wanted -= wanted > 0 && newline[-1] == '\r';
    FUZZ_ASSERT(wanted == length && memcmp(from, line, length) == 0);
}

/*
 * Takes as many descriptors as the line's first byte requests, and compares them with those that
 * were sent.
 */
static void take_fds(struct frame *frame, const char *line, size_t length)
{
    const size_t wanted = length > 0 ? (unsigned char)line[0] % (PROTO_FDS_MAX + 2) : 0;
    const size_t before = frame->fd_count;
    int fds[2 * PROTO_FDS_MAX];
    struct stat status;

    if (frame_take_fds(frame, wanted, fds) < 0) {
        FUZZ_ASSERT(wanted > before && frame->fd_count == before);
        return;
    }
    FUZZ_ASSERT(frame->fd_count == before - wanted);
    for (size_t i = 0; i < wanted; i++) {
        FUZZ_ASSERT(fstat(fds[i], &status) == 0 && status.st_ino == sent.fds[sent.fds_taken++]);
        FUZZ_ASSERT(fcntl(fds[i], F_GETFD) & FD_CLOEXEC);
    }
    fd_close_all(fds, wanted);
}

/* Receives once. Returns false at the end of the stream, or if the receiver refuses the data. */
static bool receive(struct frame *frame, int socket)
{
    int fds[PROTO_FDS_MAX];
    size_t room, count, length;
    const char *line;
    char *into = frame_room(frame, &room);
    ssize_t got;

    if (!into)
        return false;
    got = fd_recv(socket, into, room, fds, &count);
    if (got == -EAGAIN)
        return true;
    if (got <= 0) {
        FUZZ_ASSERT(count == 0);
        return false;
    }
    if (frame_push_fds(frame, fds, count) < 0)
        return false;
    frame_commit(frame, (size_t)got);
    while (frame_next(frame, &line, &length)) {
        check_line(line, length);
        frame_unread(frame, line);
        FUZZ_ASSERT(frame_next(frame, &line, &length));
        take_fds(frame, line, length);
    }
    FUZZ_ASSERT(frame_leftover(frame) == (frame->fd_count > 0 && frame->begin == frame->end));
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);
    struct frame frame;
    int ends[2], lowest;
    bool open = true; /* the receiver has not refused anything */

    memset(&sent, 0, sizeof sent);
    open_marks();
    lowest = scratch_lowest_fd();
    FUZZ_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    FUZZ_ASSERT(frame_init(&frame, 16 + fuzz_below(&reader, 256)) == 0);
    while (open && fuzz_left(&reader) > 0 && send_fragment(&reader, ends[0])) {
        if (fuzz_rarely(&reader))
            open = receive(&frame, ends[1]);
    }
    close(ends[0]);
    while (open)
        open = receive(&frame, ends[1]);
    frame_finish(&frame);
    close(ends[1]);
    FUZZ_ASSERT(scratch_lowest_fd() == lowest);
    return 0;
}
