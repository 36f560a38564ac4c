/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum {
    PASSED_MAX = 253, /* largest number of descriptors of a message */
    WAITING_MAX = 64, /* limit on unread messages with descriptors in a socket */
    BACKLOG = 16
};

/* Descriptors that were sent and not received, attached to byte `at` of the stream. */
struct passed {
    struct passed *next;
    uint64_t at;
    size_t count;
    struct object *objects[];
};

struct stream {
    struct object object;
    struct stream *peer;       /* null: closed */
    struct ucred peer_creator; /* the process that has the other socket */
    /* A ring buffer with the bytes that were sent and not read. */
    unsigned char *bytes;
    size_t size, used;
    uint64_t head; /* number of bytes of the stream that were read */
    struct passed *first, *last;
    unsigned waiting; /* number of messages with descriptors */
    bool ended;       /* true: the peer has shut down its sending side */
    bool reset;       /* true: the peer was closed while it had unread bytes */
    bool deaf;        /* shutdown(SHUT_RD) */
};

struct listener {
    struct object object;
    struct stream *waiting[BACKLOG];
    unsigned count;
};

static struct stream *stream_of(struct object *object)
{
    return (struct stream *)object;
}

/* Returns how many further bytes fit into the stream. */
static size_t room_of(const struct stream *stream)
{
    return stream->waiting < WAITING_MAX ? stream->size - stream->used : 0;
}

static short stream_events(struct object *object)
{
    struct stream *stream = stream_of(object);
    short events = 0;

    if (stream->used > 0 || stream->ended || !stream->peer || stream->deaf)
        events |= POLLIN;
    if (stream->ended || !stream->peer)
        events |= POLLRDHUP;
    if (!stream->peer || (stream->ended && stream->peer->ended))
        events |= POLLHUP;
    if (stream->reset)
        events |= POLLERR;
    if (!stream->peer || room_of(stream->peer) >= stream->peer->size / 4)
        events |= POLLOUT;
    return events;
}

static void drop_passed(struct stream *stream)
{
    while (stream->first) {
        struct passed *passed = stream->first;

        stream->first = passed->next;
        for (size_t i = 0; i < passed->count; i++)
            object_release(passed->objects[i]);
        real_free(passed);
    }
}

static void stream_destroy(struct object *object)
{
    struct stream *stream = stream_of(object);

    if (stream->peer) {
        stream->peer->peer = NULL;
        stream->peer->ended = true;
        stream->peer->reset |= stream->used > 0;
    }
    drop_passed(stream);
    real_free(stream->bytes);
    real_free(stream);
}

static struct stream *stream_create(const struct process *peer_creator)
{
    struct stream *stream = real_calloc(1, sizeof *stream);

    if (!stream)
        abort();
    object_init(&stream->object, KIND_STREAM);
    stream->object.destroy = stream_destroy;
    stream->object.events = stream_events;
    stream->peer_creator = (struct ucred){.pid = peer_creator->pid, .uid = peer_creator->uid};
    stream->size = (size_t)2048 << world_below(7);
    stream->bytes = real_malloc(stream->size);
    if (!stream->bytes)
        abort();
    return stream;
}

static struct stream *pair(const struct process *one, const struct process *other)
{
    struct stream *a = stream_create(other), *b = stream_create(one);

    a->peer = b;
    b->peer = a;
    return a;
}

static void listener_destroy(struct object *object)
{
    struct listener *listener = (struct listener *)object;

    for (unsigned i = 0; i < listener->count; i++)
        object_release(&listener->waiting[i]->object);
    real_free(listener);
}

static short listener_events(struct object *object)
{
    return ((struct listener *)object)->count > 0 ? POLLIN : 0;
}

int kernel_listen(struct process *process)
{
    struct listener *listener = real_calloc(1, sizeof *listener);

    if (!listener)
        abort();
    object_init(&listener->object, KIND_LISTENER);
    listener->object.destroy = listener_destroy;
    listener->object.events = listener_events;
    return descriptor_add(process, &listener->object, FD_CLOEXEC);
}

int kernel_connect(struct process *process, struct process *listening, int number)
{
    struct listener *listener = (struct listener *)listening->fds[number].object;
    struct stream *client;
    int fd;

    if (!listener || listener->object.kind != KIND_LISTENER)
        return -ECONNREFUSED;
    if (listener->count == BACKLOG)
        return -EAGAIN;
    client = pair(process, listening);
    client->object.status |= O_NONBLOCK;
    object_take(&client->peer->object);
    listener->waiting[listener->count++] = client->peer;
    fd = descriptor_add(process, &client->object, FD_CLOEXEC);
    if (fd < 0)
        abort();
    return fd;
}

int WRAP(accept4)(int fd, struct sockaddr *address, socklen_t *length, int flags)
{
    struct listener *listener;
    struct stream *stream;
    int accepted;

    (void)address;
    (void)length;
    kernel_enter("accept4");
    listener = (struct listener *)descriptor_of_kind(fd, KIND_LISTENER, "accept4");
    if (listener->count == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (kernel_fails(world_rates.descriptors)) {
        errno = EMFILE;
        return -1;
    }
    stream = listener->waiting[0];
    if (flags & SOCK_NONBLOCK)
        stream->object.status |= O_NONBLOCK;
    accepted = descriptor_add(process_now(), &stream->object, FD_CLOEXEC);
    if (accepted < 0) {
        errno = -accepted;
        return -1;
    }
    object_release(&stream->object);
    listener->count--;
    memmove(listener->waiting, listener->waiting + 1, listener->count * sizeof(void *));
    return accepted;
}

static int pair_of_descriptors(int fds[2], int status)
{
    struct process *process = process_now();
    struct stream *a = pair(process, process), *b = a->peer;

    a->object.status |= status;
    b->object.status |= status;
    fds[0] = descriptor_add(process, &a->object, FD_CLOEXEC);
    fds[1] = descriptor_add(process, &b->object, FD_CLOEXEC);
    if (fds[0] < 0 || fds[1] < 0)
        abort(); /* only the start of the service and clients call this */
    return 0;
}

int WRAP(pipe2)(int fds[2], int flags)
{
    kernel_enter("pipe2");
    return pair_of_descriptors(fds, flags & O_NONBLOCK);
}

int WRAP(socketpair)(int domain, int type, int protocol, int fds[2])
{
    (void)domain;
    (void)protocol;
    kernel_enter("socketpair");
    return pair_of_descriptors(fds, type & SOCK_NONBLOCK ? O_NONBLOCK : 0);
}

size_t stream_unread(struct object *object)
{
    return object->kind == KIND_STREAM ? stream_of(object)->used : 0;
}

/* Copies bytes from the ring buffer or to it, beginning at a position of the stream. */
static void copy_out(const struct stream *stream, unsigned char *to, size_t count)
{
    for (size_t i = 0; i < count; i++)
        to[i] = stream->bytes[(stream->head + i) % stream->size];
}

static void copy_in(struct stream *stream, const unsigned char *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        stream->bytes[(stream->head + stream->used + i) % stream->size] = from[i];
    stream->used += count;
}

/* Returns an error that the call gets instead of a result, or 0. */
static int hindered(void)
{
    if (kernel_fails(world_rates.interrupted))
        return EINTR;
    return kernel_fails(world_rates.again) ? EAGAIN : 0;
}

/* Returns how many of the bytes a call moves: all of them, or fewer. */
static size_t shortened(size_t count)
{
    return count > 1 && kernel_fails(world_rates.short_count) ? 1 + world_below((uint32_t)count - 1)
                                                              : count;
}

/* Gives the receiver the descriptors that are attached to the next byte of the stream. */
static void receive_descriptors(struct stream *stream, struct msghdr *message, size_t room)
{
    struct passed *passed = stream->first;
    struct cmsghdr *header = message->msg_control;
    int fds[PASSED_MAX];
    size_t count = 0;

    while (count < passed->count && count < room) {
        int fd = kernel_fails(world_rates.descriptors)
                     ? -EMFILE
                     : descriptor_add(process_now(), passed->objects[count], FD_CLOEXEC);

        if (fd < 0)
            break;
        fds[count++] = fd;
    }
    if (count < passed->count)
        message->msg_flags |= MSG_CTRUNC;
    if (count > 0) {
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(count * sizeof(int));
        memcpy(CMSG_DATA(header), fds, count * sizeof(int));
        message->msg_controllen = CMSG_SPACE(count * sizeof(int));
    }
    stream->first = passed->next;
    stream->waiting--;
    for (size_t i = 0; i < passed->count; i++)
        object_release(passed->objects[i]);
    real_free(passed);
}

/* Returns how many bytes may be received before the end of the next message with descriptors. */
static size_t until_descriptors(const struct stream *stream, size_t count, bool *has)
{
    const struct passed *passed = stream->first;

    *has = passed && passed->at < stream->head + count;
    if (!*has)
        return count;
    if (passed->at > stream->head && world_chance(5000)) { /* simulates a short read */
        *has = false;
        return passed->at - stream->head;
    }
    if (passed->next && passed->next->at < stream->head + count)
        return passed->next->at - stream->head;
    return count;
}

static ssize_t receive(struct stream *stream, struct msghdr *message)
{
    const size_t room = message->msg_controllen >= CMSG_LEN(0)
                            ? (message->msg_controllen - CMSG_LEN(0)) / sizeof(int)
                            : 0;
    size_t count = message->msg_iov[0].iov_len;
    bool has;

    if (stream->reset && stream->used == 0) {
        stream->reset = false;
        errno = ECONNRESET;
        return -1;
    }
    if (stream->used == 0 && !stream->ended && stream->peer && !stream->deaf) {
        errno = EAGAIN;
        return -1;
    }
    errno = hindered();
    if (errno)
        return -1;
    message->msg_controllen = 0;
    message->msg_flags = 0;
    count = until_descriptors(stream, shortened(count < stream->used ? count : stream->used), &has);
    copy_out(stream, message->msg_iov[0].iov_base, count);
    stream->head += count;
    stream->used -= count;
    if (has)
        receive_descriptors(stream, message, room);
    world_note(count);
    return (ssize_t)count;
}

static bool stream_is_readable(void *context)
{
    return stream_events(context) & POLLIN;
}

static void wait_until_readable(struct object *object)
{
    if (!(object->status & O_NONBLOCK))
        (void)fiber_wait(stream_is_readable, object, FIBER_FOREVER);
}

ssize_t WRAP(recvmsg)(int fd, struct msghdr *message, int flags)
{
    struct object *object;

    (void)flags;
    kernel_enter("recvmsg");
    object = descriptor_of_kind(fd, KIND_STREAM, "recvmsg");
    wait_until_readable(object);
    return receive(stream_of(object), message);
}

ssize_t stream_read(struct object *object, void *bytes, size_t size)
{
    struct iovec data = {bytes, size};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

    wait_until_readable(object);
    return receive(stream_of(object), &message);
}

static void send_descriptors(struct stream *stream, const struct msghdr *message)
{
    const struct cmsghdr *header = message->msg_control;
    size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    struct passed *passed = real_calloc(1, sizeof *passed + count * sizeof(void *));

    if (!passed)
        abort();
    passed->at = stream->head + stream->used;
    passed->count = count;
    for (size_t i = 0; i < count; i++) {
        int fd;

        memcpy(&fd, CMSG_DATA(header) + i * sizeof fd, sizeof fd);
        passed->objects[i] = descriptor_object(fd, "sendmsg");
        object_take(passed->objects[i]);
    }
    if (stream->first)
        stream->last->next = passed;
    else
        stream->first = passed;
    stream->last = passed;
    stream->waiting++;
}

static ssize_t send_to(struct stream *stream, const struct msghdr *message)
{
    struct stream *peer = stream->peer;
    size_t count = 0, room;

    if (!peer || peer->ended || peer->deaf) {
        errno = EPIPE;
        return -1;
    }
    errno = hindered();
    if (errno)
        return -1;
    room = room_of(peer);
    for (size_t i = 0; i < message->msg_iovlen; i++)
        count += message->msg_iov[i].iov_len;
    count = shortened(count < room ? count : room);
    if (count == 0) {
        errno = EAGAIN;
        return -1;
    }
    if (message->msg_control && message->msg_controllen > 0)
        send_descriptors(peer, message);
    for (size_t i = 0, left = count; left > 0; i++) {
        const size_t part = message->msg_iov[i].iov_len < left ? message->msg_iov[i].iov_len : left;

        copy_in(peer, message->msg_iov[i].iov_base, part);
        left -= part;
    }
    world_note(count);
    return (ssize_t)count;
}

ssize_t WRAP(sendmsg)(int fd, const struct msghdr *message, int flags)
{
    (void)flags;
    kernel_enter("sendmsg");
    return send_to(stream_of(descriptor_of_kind(fd, KIND_STREAM, "sendmsg")), message);
}

ssize_t stream_write(struct object *object, const void *bytes, size_t size)
{
    struct iovec data = {(void *)(uintptr_t)bytes, size};
    const struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

    return send_to(stream_of(object), &message);
}

ssize_t WRAP(send)(int fd, const void *bytes, size_t size, int flags)
{
    (void)flags;
    if (descriptor_is_real(fd)) { /* standard error, to which the log goes, is not a socket */
        errno = ENOTSOCK;
        return -1;
    }
    kernel_enter("send");
    return stream_write(descriptor_of_kind(fd, KIND_STREAM, "send"), bytes, size);
}

int WRAP(shutdown)(int fd, int how)
{
    struct stream *stream;

    kernel_enter("shutdown");
    stream = stream_of(descriptor_of_kind(fd, KIND_STREAM, "shutdown"));
    if (how != SHUT_WR)
        stream->deaf = true;
    if (how != SHUT_RD && stream->peer)
        stream->peer->ended = true;
    return 0;
}

int WRAP(getsockopt)(int fd, int level, int name, void *value, socklen_t *length)
{
    struct object *object;

    (void)level;
    kernel_enter("getsockopt");
    object = descriptor_object(fd, "getsockopt");
    if (name == SO_PEERCRED && object->kind == KIND_STREAM) {
        memcpy(value, &stream_of(object)->peer_creator, *length);
        return 0;
    }
    if (name == SO_TYPE || name == SO_ACCEPTCONN || name == SO_DOMAIN) {
        *(int *)value = name == SO_TYPE     ? SOCK_STREAM
                        : name == SO_DOMAIN ? AF_UNIX
                                            : object->kind == KIND_LISTENER;
        return 0;
    }
    errno = ENOPROTOOPT;
    return -1;
}

int WRAP(setsockopt)(int fd, int level, int name, const void *value, socklen_t length)
{
    (void)level;
    (void)name;
    (void)value;
    (void)length;
    kernel_enter("setsockopt");
    (void)descriptor_object(fd, "setsockopt");
    return 0;
}

int WRAP(getsockname)(int fd, struct sockaddr *address, socklen_t *length)
{
    kernel_enter("getsockname");
    (void)descriptor_object(fd, "getsockname");
    memset(address, 0, *length);
    address->sa_family = AF_UNIX;
    *length = sizeof(sa_family_t);
    return 0;
}
