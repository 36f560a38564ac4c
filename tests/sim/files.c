/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/real.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum { NFS_MAGIC = 0x6969, SERVER_MAJOR = 0, SERVER_MINOR = 99 };

struct file {
    struct object object;
    int real;        /* a memfd */
    uint64_t number; /* its inode */
    bool null;       /* true: the file is /dev/null */
    bool on_disk; /* true: it behaves like a file on a server: it has no seals, and its close() may
                     wait */
};

static void file_destroy(struct object *object)
{
    real_close(((struct file *)object)->real);
    real_free(object);
}

/* The close() of a file on a server waits for the server. */
static void file_closing(struct object *object)
{
    if (((struct file *)object)->on_disk && process_now()->service &&
        world_chance(world_rates.slow_close))
        interruptible_sleep(world_between(1, 4000) * MS);
}

static struct file *file_create(void)
{
    static uint64_t files;
    struct file *file = real_calloc(1, sizeof *file);

    if (!file)
        abort();
    object_init(&file->object, KIND_FILE);
    file->number = ++files;
    file->object.destroy = file_destroy;
    file->object.closing = file_closing;
    file->real = __real_memfd_create("sim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file->real < 0)
        world_fail("memfd_create: %s", strerror(errno));
    return file;
}

int kernel_file(struct process *process, size_t size, bool on_disk)
{
    struct file *file = file_create();

    file->on_disk = on_disk;
    if (__real_ftruncate64(file->real, (off_t)size) < 0)
        world_fail("ftruncate: %s", strerror(errno));
    return descriptor_add(process, &file->object, FD_CLOEXEC);
}

int kernel_null_file(struct process *process)
{
    struct file *file = file_create();
    int fd;

    file->null = true;
    fd = descriptor_add(process, &file->object, FD_CLOEXEC);
    if (fd < 0)
        file_destroy(&file->object);
    return fd;
}

unsigned kernel_descriptors(const struct process *process)
{
    unsigned count = 0;

    for (int fd = FD_FIRST; fd < FDS_MAX; fd++) {
        const struct object *object = process->fds[fd].object;

        count += object && (object->kind != KIND_FILE || !((const struct file *)object)->null);
    }
    return count;
}

int kernel_real_file(struct process *process, int fd)
{
    return ((struct file *)process->fds[fd].object)->real;
}

static struct file *file_of(int fd, const char *call)
{
    return (struct file *)descriptor_of_kind(fd, KIND_FILE, call);
}

int WRAP(memfd_create)(const char *name, unsigned flags)
{
    struct file *file;
    int fd;

    (void)name;
    (void)flags;
    kernel_enter("memfd_create");
    if (kernel_fails(world_rates.memory)) {
        errno = EMFILE;
        return -1;
    }
    file = file_create();
    fd = descriptor_add(process_now(), &file->object, FD_CLOEXEC);
    if (fd < 0) {
        file_destroy(&file->object);
        errno = -fd;
        return -1;
    }
    return fd;
}

int file_seals(struct object *object, int command, int seals)
{
    const struct file *file = (struct file *)object;

    if (object->kind != KIND_FILE || file->on_disk) {
        errno = EINVAL;
        return -1;
    }
    return __real_fcntl64(file->real, command, seals);
}

/* fstat() of a descriptor that is not a file returns a socket. */
static void stat_other(struct stat *st)
{
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFSOCK | 0600;
}

int WRAP(fstat64)(int fd, struct stat *st)
{
    struct object *object;

    if (descriptor_is_real(fd))
        return __real_fstat64(fd, st);
    kernel_enter("fstat");
    object = descriptor_object(fd, "fstat");
    if (object->kind != KIND_FILE) {
        stat_other(st);
        return 0;
    }
    return __real_fstat64(((struct file *)object)->real, st);
}

int WRAP(statx)(int fd, const char *path, int flags, unsigned mask, struct statx *st)
{
    struct object *object;
    int result;

    kernel_enter("statx");
    object = descriptor_object(fd, "statx");
    if (object->kind != KIND_FILE) {
        memset(st, 0, sizeof *st);
        st->stx_mode = S_IFSOCK | 0600;
        return 0;
    }
    result = __real_statx(((struct file *)object)->real, path, flags, mask, st);
    /* The inode number of the memfd would differ from run to run. */
    st->stx_ino = ((struct file *)object)->number;
    if (((struct file *)object)->on_disk) {
        st->stx_dev_major = SERVER_MAJOR;
        st->stx_dev_minor = SERVER_MINOR;
    }
    return result;
}

int WRAP(fstatfs64)(int fd, struct statfs *st)
{
    struct file *file;
    int result;

    kernel_enter("fstatfs");
    file = file_of(fd, "fstatfs");
    result = __real_fstatfs64(file->real, st);
    if (file->on_disk)
        st->f_type = NFS_MAGIC;
    return result;
}

int WRAP(ftruncate64)(int fd, off_t size)
{
    kernel_enter("ftruncate");
    if (kernel_fails(world_rates.memory)) {
        errno = ENOSPC;
        return -1;
    }
    return __real_ftruncate64(file_of(fd, "ftruncate")->real, size);
}

static void note_mapping(void *address, size_t size)
{
    struct process *process = process_now();

    if (process->mapping_count == MAPPINGS_MAX)
        world_fail("%s: more than %d mappings", process->name, MAPPINGS_MAX);
    process->mappings[process->mapping_count++] = (struct mapping_range){address, size};
}

void *WRAP(mmap64)(void *address, size_t size, int protection, int flags, int fd, off_t offset)
{
    const struct file *file;
    void *pages;
    int real = -1;

    /* Only the SIGBUS handler uses MAP_FIXED. libmli maps an anonymous page to notice forks, and
     * never unmaps it. */
    if (!fiber_current() || flags & (MAP_FIXED | MAP_ANONYMOUS))
        return real_mmap(address, size, protection, flags, fd, offset);
    kernel_enter("mmap");
    if (kernel_fails(world_rates.memory)) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (fd >= 0) {
        file = file_of(fd, "mmap");
        if ((file->object.status & O_ACCMODE) == O_RDONLY && protection & PROT_WRITE &&
            flags & MAP_SHARED) {
            errno = EACCES;
            return MAP_FAILED;
        }
        real = file->real;
    }
    pages = real_mmap(address, size, protection, flags, real, offset);
    if (pages != MAP_FAILED)
        note_mapping(pages, size);
    return pages;
}

/* Removes a range from a mapping; the parts before and after the range stay mapped. */
static void forget_mapping(struct process *process, unsigned i, char *address, size_t size)
{
    const struct mapping_range whole = process->mappings[i];
    const size_t before = (size_t)(address - whole.address);

    process->mappings[i] = process->mappings[--process->mapping_count];
    if (before > 0)
        note_mapping(whole.address, before);
    if (before + size < whole.size)
        note_mapping(address + size, whole.size - before - size);
}

int WRAP(munmap)(void *address, size_t size)
{
    struct process *process;

    if (!fiber_current())
        return real_munmap(address, size);
    kernel_enter("munmap");
    process = process_now();
    for (unsigned i = 0; i < process->mapping_count; i++) {
        const struct mapping_range *range = &process->mappings[i];

        if ((char *)address >= range->address &&
            (char *)address + size <= range->address + range->size) {
            forget_mapping(process, i, address, size);
            return real_munmap(address, size);
        }
    }
    world_fail("%s: munmap(%zu bytes) of what is not mapped", process->name, size);
}
