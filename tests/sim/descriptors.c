/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum { CALL_NS_MIN = 200, CALL_NS_MAX = 1500 };

void object_init(struct object *object, enum kind kind)
{
    object->kind = kind;
    object->status = O_RDWR;
}

void object_take(struct object *object)
{
    object->references++;
}

void object_release(struct object *object)
{
    if (--object->references > 0)
        return;
    readiness_forget(object);
    object->destroy(object);
}

struct process *process_now(void)
{
    return fiber_process(fiber_current());
}

void process_init(struct process *process, const char *name, uid_t uid)
{
    static pid_t pids = 1000;

    memset(process, 0, sizeof *process);
    process->name = name;
    process->uid = uid;
    process->pid = ++pids;
    process->fd_limit = FDS_MAX;
}

void process_kill(struct process *process)
{
    fiber_end_all(process);
    for (int fd = 0; fd < FDS_MAX; fd++) {
        struct object *object = process->fds[fd].object;

        process->fds[fd].object = NULL;
        if (object)
            object_release(object);
    }
    process->fd_count = 0;
    for (unsigned i = 0; i < process->mapping_count; i++)
        real_munmap(process->mappings[i].address, process->mappings[i].size);
    process->mapping_count = 0;
}

bool descriptor_is_real(int fd)
{
    return !fiber_current() || (fd >= 0 && fd < FD_FIRST);
}

static int add_from(struct process *process, struct object *object, int flags, int fd)
{

    while (fd < (int)process->fd_limit && process->fds[fd].object)
        fd++;
    if (fd >= (int)process->fd_limit)
        return -EMFILE;
    process->fds[fd] = (struct descriptor){object, flags};
    process->fd_count++;
    object_take(object);
    return fd;
}

int descriptor_add(struct process *process, struct object *object, int flags)
{
    return add_from(process, object, flags, FD_FIRST);
}

struct object *descriptor_object(int fd, const char *call)
{
    struct process *process = process_now();

    if (fd < FD_FIRST || fd >= FDS_MAX || !process->fds[fd].object)
        world_fail("%s: %s(%d): the descriptor is not open", process->name, call, fd);
    return process->fds[fd].object;
}

struct object *descriptor_of_kind(int fd, enum kind kind, const char *call)
{
    struct object *object = descriptor_object(fd, call);

    if (object->kind != kind)
        world_fail("%s: %s(%d): not a descriptor for this call", process_now()->name, call, fd);
    return object;
}

/*
 * Lets other fibers run. Their time does not count as time of the loop's turn.
 */
static void give_way(struct process *process, bool is_loop)
{
    const uint64_t before = world_now();

    fiber_yield();
    if (is_loop)
        process->turn += world_now() - before;
}

void kernel_enter(const char *call)
{
    struct process *process = process_now();
    const int saved = errno;

    for (const char *c = call; *c; c++)
        world_note((unsigned char)*c);
    if (process->service) {
        const bool is_loop = fiber_number(fiber_current()) == process->loop;

        process->calls += is_loop;
        world_pass(world_between(CALL_NS_MIN, CALL_NS_MAX));
        if (world_chance(world_rates.change))
            give_way(process, is_loop);
    }
    errno = saved;
}

bool kernel_fails(uint32_t rate)
{
    return process_now()->faulty && world_chance(rate);
}

int WRAP(close)(int fd)
{
    struct process *process;
    struct object *object;

    if (descriptor_is_real(fd))
        return real_close(fd);
    kernel_enter("close");
    object = descriptor_object(fd, "close");
    process = process_now();
    process->fds[fd].object = NULL;
    process->fd_count--;
    if (object->references == 1 && object->closing)
        object->closing(object);
    object_release(object);
    return 0;
}

static int duplicate(int fd, int least)
{
    struct object *object = descriptor_object(fd, "fcntl");
    int copy = -EMFILE;

    if (!kernel_fails(world_rates.descriptors))
        copy = add_from(process_now(), object, FD_CLOEXEC, least > FD_FIRST ? least : FD_FIRST);

    if (copy < 0) {
        errno = -copy;
        return -1;
    }
    return copy;
}

int WRAP(fcntl64)(int fd, int command, ...)
{
    struct object *object;
    va_list arguments;
    int argument;

    va_start(arguments, command);
    argument = va_arg(arguments, int);
    va_end(arguments);
    if (descriptor_is_real(fd))
        return __real_fcntl64(fd, command, argument);
    kernel_enter("fcntl");
    object = descriptor_object(fd, "fcntl");
    switch (command) {
    case F_DUPFD_CLOEXEC:
        return duplicate(fd, argument);
    case F_GETFD:
        return process_now()->fds[fd].flags;
    case F_SETFD:
        process_now()->fds[fd].flags = argument;
        return 0;
    case F_GETFL:
        return object->status;
    case F_SETFL:
        object->status = (object->status & O_ACCMODE) | (argument & ~O_ACCMODE);
        return 0;
    case F_GET_SEALS:
    case F_ADD_SEALS:
        return file_seals(object, command, argument);
    default:
        world_fail("fcntl(%d, %d): a command without simulation", fd, command);
    }
}

int WRAP(fcntl)(int fd, int command, ...)
{
    va_list arguments;
    int argument;

    va_start(arguments, command);
    argument = va_arg(arguments, int);
    va_end(arguments);
    return WRAP(fcntl64)(fd, command, argument);
}

int WRAP(ioctl)(int fd, unsigned long request, ...)
{
    struct object *object;
    va_list arguments;
    int *argument;

    va_start(arguments, request);
    argument = va_arg(arguments, int *);
    va_end(arguments);
    kernel_enter("ioctl");
    object = descriptor_object(fd, "ioctl");
    switch (request) {
    case FIONBIO:
        object->status = *argument ? object->status | O_NONBLOCK : object->status & ~O_NONBLOCK;
        return 0;
    case FIOCLEX:
        process_now()->fds[fd].flags = FD_CLOEXEC;
        return 0;
    case FIONREAD:
        *argument = (int)stream_unread(object);
        return 0;
    default:
        world_fail("ioctl(%d, %lu): a request without simulation", fd, request);
    }
}

/* The service opens /dev/null to keep a descriptor in reserve. */
int WRAP(open64)(const char *path, int flags, ...)
{
    int fd;

    if (!fiber_current() || strcmp(path, "/dev/null") != 0) {
        fd = __real_open64(path, flags, 0);
        if (fd >= FD_FIRST && fiber_current())
            world_fail("open(%s): a file without simulation", path);
        return fd;
    }
    kernel_enter("open");
    fd = kernel_fails(world_rates.descriptors) ? -EMFILE : kernel_null_file(process_now());
    if (fd < 0) {
        errno = -fd;
        return -1;
    }
    return fd;
}

pid_t WRAP(getpid)(void)
{
    return fiber_current() ? process_now()->pid : getppid();
}

uid_t WRAP(geteuid)(void)
{
    return fiber_current() ? process_now()->uid : 0;
}
