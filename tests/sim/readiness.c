/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum { WATCHES_MAX = 512, EPOLLS_MAX = 8 };

struct watch {
    int fd;
    struct object *object;
    struct epoll_event event;
};

struct epoll {
    struct object object;
    struct watch watches[WATCHES_MAX];
    unsigned count;
};

struct event {
    struct object object;
    uint64_t counter;
};

static struct epoll *epolls[EPOLLS_MAX];
static unsigned epoll_count;

static void epoll_destroy(struct object *object)
{
    for (unsigned i = 0; i < epoll_count; i++) {
        if (&epolls[i]->object == object) {
            epolls[i] = epolls[--epoll_count];
            break;
        }
    }
    real_free(object);
}

int WRAP(epoll_create1)(int flags)
{
    struct epoll *epoll = real_calloc(1, sizeof *epoll);

    (void)flags;
    if (!epoll || epoll_count == EPOLLS_MAX)
        abort();
    object_init(&epoll->object, KIND_EPOLL);
    epoll->object.destroy = epoll_destroy;
    epolls[epoll_count++] = epoll;
    return descriptor_add(process_now(), &epoll->object, FD_CLOEXEC);
}

static struct watch *find_watch(struct epoll *epoll, int fd, const struct object *object)
{
    for (unsigned i = 0; i < epoll->count; i++) {
        if (epoll->watches[i].fd == fd && epoll->watches[i].object == object)
            return &epoll->watches[i];
    }
    return NULL;
}

void readiness_forget(struct object *object)
{
    for (unsigned k = 0; k < epoll_count; k++) {
        struct epoll *epoll = epolls[k];

        for (unsigned i = epoll->count; i-- > 0;) {
            if (epoll->watches[i].object == object)
                epoll->watches[i] = epoll->watches[--epoll->count];
        }
    }
}

/* Fails where epoll_ctl(2) fails: libuv uses it to find out whether a descriptor can be watched. */
static int control(struct epoll *epoll, int operation, int fd, struct epoll_event *event)
{
    struct object *object = process_now()->fds[fd].object;
    struct watch *watch;

    if (!object)
        return EBADF;
    if (!object->events)
        return EPERM;
    watch = find_watch(epoll, fd, object);
    if (operation == EPOLL_CTL_ADD && watch)
        return EEXIST;
    if (operation != EPOLL_CTL_ADD && !watch)
        return ENOENT;
    if (operation == EPOLL_CTL_DEL) {
        *watch = epoll->watches[--epoll->count];
        return 0;
    }
    if (!watch) {
        if (epoll->count == WATCHES_MAX)
            return ENOSPC;
        watch = &epoll->watches[epoll->count++];
    }
    *watch = (struct watch){fd, object, *event};
    return 0;
}

int WRAP(epoll_ctl)(int fd, int operation, int watched, struct epoll_event *event)
{
    int error;

    kernel_enter("epoll_ctl");
    if (watched < 0 || watched >= FDS_MAX)
        world_fail("epoll_ctl: descriptor %d", watched);
    error = control((struct epoll *)descriptor_of_kind(fd, KIND_EPOLL, "epoll_ctl"), operation,
                    watched, event);
    errno = error;
    return error ? -1 : 0;
}

static uint32_t happened(const struct watch *watch)
{
    const short events = watch->object->events(watch->object);

    return (uint32_t)events & (watch->event.events | EPOLLERR | EPOLLHUP);
}

static bool epoll_is_ready(void *context)
{
    const struct epoll *epoll = context;

    for (unsigned i = 0; i < epoll->count; i++) {
        if (happened(&epoll->watches[i]))
            return true;
    }
    return false;
}

/* Reports the watches in order, beginning with a random one. */
static int collect(struct epoll *epoll, struct epoll_event *events, int max)
{
    const unsigned first = epoll->count > 0 ? world_below(epoll->count) : 0;
    int count = 0;

    for (unsigned i = 0; i < epoll->count && count < max; i++) {
        const struct watch *watch = &epoll->watches[(first + i) % epoll->count];
        const uint32_t happens = happened(watch);

        if (happens)
            events[count++] = (struct epoll_event){.events = happens, .data = watch->event.data};
    }
    return count;
}

static uint64_t deadline_of(int timeout_ms)
{
    return timeout_ms < 0 ? FIBER_FOREVER : world_now() + (uint64_t)timeout_ms * MS;
}

int WRAP(epoll_pwait)(int fd, struct epoll_event *events, int max, int timeout,
                      const sigset_t *signals)
{
    struct epoll *epoll = (struct epoll *)descriptor_of_kind(fd, KIND_EPOLL, "epoll_wait");
    struct process *process = process_now();

    (void)signals;
    turn_ended(process);
    if (kernel_fails(world_rates.interrupted)) {
        errno = EINTR;
        return -1;
    }
    (void)fiber_wait(epoll_is_ready, epoll, deadline_of(timeout));
    turn_begins(process);
    return collect(epoll, events, max);
}

int WRAP(epoll_wait)(int fd, struct epoll_event *events, int max, int timeout)
{
    return WRAP(epoll_pwait)(fd, events, max, timeout, NULL);
}

struct polled {
    const struct process *process;
    struct pollfd *fds;
    nfds_t count;
};

static int look(const struct polled *polled)
{
    int count = 0;

    for (nfds_t i = 0; i < polled->count; i++) {
        struct pollfd *entry = &polled->fds[i];
        struct object *object = entry->fd < 0 ? NULL : polled->process->fds[entry->fd].object;

        entry->revents = 0;
        if (entry->fd >= 0 && !object)
            entry->revents = POLLNVAL;
        else if (object)
            entry->revents = object->events(object) & (entry->events | POLLERR | POLLHUP);
        count += entry->revents != 0;
    }
    return count;
}

static bool poll_is_ready(void *context)
{
    return look(context) > 0;
}

int WRAP(poll)(struct pollfd *fds, nfds_t count, int timeout)
{
    struct polled polled = {process_now(), fds, count};

    kernel_enter("poll");
    if (look(&polled) == 0 && timeout != 0)
        (void)fiber_wait(poll_is_ready, &polled, deadline_of(timeout));
    return look(&polled);
}

static void event_destroy(struct object *object)
{
    real_free(object);
}

static short event_events(struct object *object)
{
    return ((struct event *)object)->counter > 0 ? POLLIN | POLLOUT : POLLOUT;
}

int WRAP(eventfd)(unsigned value, int flags)
{
    struct event *event = real_calloc(1, sizeof *event);

    if (!event)
        abort();
    object_init(&event->object, KIND_EVENT);
    event->object.destroy = event_destroy;
    event->object.events = event_events;
    event->object.status |= flags & EFD_NONBLOCK ? O_NONBLOCK : 0;
    event->counter = value;
    return descriptor_add(process_now(), &event->object, FD_CLOEXEC);
}

ssize_t WRAP(read)(int fd, void *bytes, size_t size)
{
    struct object *object;
    struct event *event;

    if (descriptor_is_real(fd))
        return __real_read(fd, bytes, size);
    kernel_enter("read");
    object = descriptor_object(fd, "read");
    if (object->kind == KIND_STREAM)
        return stream_read(object, bytes, size);
    event = (struct event *)descriptor_of_kind(fd, KIND_EVENT, "read");
    if (event->counter == 0) {
        errno = EAGAIN;
        return -1;
    }
    memcpy(bytes, &event->counter, sizeof event->counter);
    event->counter = 0;
    return sizeof event->counter;
}

ssize_t WRAP(write)(int fd, const void *bytes, size_t size)
{
    struct object *object;
    uint64_t added;

    if (descriptor_is_real(fd)) /* the log */
        return world_log || !fiber_current() ? __real_write(fd, bytes, size) : (ssize_t)size;
    kernel_enter("write");
    object = descriptor_object(fd, "write");
    if (object->kind == KIND_STREAM)
        return stream_write(object, bytes, size);
    memcpy(&added, bytes, sizeof added);
    ((struct event *)descriptor_of_kind(fd, KIND_EVENT, "write"))->counter += added;
    return (ssize_t)size;
}
