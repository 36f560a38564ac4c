/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/seam.h"

/* Magics in statfs(2). */
#define HUGETLBFS 0x958458f6U
#define DMA_BUF   0x444d4142U

enum {
    PLAIN_BLOCK_MAX = 32 * 1024, /* no huge page is as small */
    POPULATE_MAX = 64 * 1024,    /* bytes: pages of smaller mappings come at once, not by faults */
    UNMAP_MAX = 4 * 1024 * 1024, /* bytes unmapped by one call, which takes less than 1 ms */
    BLOCK = 512                  /* bytes, the unit of st_blocks */
};

static struct mapping_policy policy = {.max = UINT32_MAX};

void mapping_set_policy(const struct mapping_policy *wanted)
{
    policy = *wanted;
}

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "a directory";
    case S_IFSOCK:
        return "a socket";
    case S_IFIFO:
        return "a pipe";
    case S_IFCHR:
        return "a character device";
    case S_IFBLK:
        return "a block device";
    default:
        return "something else";
    }
}

static int check_access(int fd, const struct mapping_use *use, struct fault *fault)
{
    int flags = seam.open_flags(fd);

    if (flags < 0)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer, "%s: %s", use->name,
                         strerror(errno));
    if (flags & O_PATH)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                         "%s: the descriptor is a mere path (O_PATH)", use->name);
    if (use->write && (flags & O_ACCMODE) != O_RDWR)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                         "%s: the file is not open for reading and writing", use->name);
    if (!use->write && (flags & O_ACCMODE) == O_WRONLY)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                         "%s: the file is not open for reading", use->name);
    return 0;
}

/*
 * Returns the magic of the file system if that matters, else 0. statfs(2) can wait for a server, so
 * only descriptors that cannot have one are asked: files of huge pages, which have seals and large
 * blocks, and dma-bufs, which have no file type.
 */
static unsigned file_system(int fd, const struct stat *st, bool memory)
{
    const bool huge = S_ISREG(st->st_mode) && memory && st->st_blksize > PLAIN_BLOCK_MAX;
    struct statfs fs;

    if (!huge && (st->st_mode & S_IFMT) != 0)
        return 0;
    return seam.fstatfs(fd, &fs) == 0 ? (unsigned)fs.f_type : 0;
}

static int check_kind(const struct stat *st, unsigned magic, const struct mapping_use *use,
                      struct fault *fault)
{
    /* Parts of a huge page cannot be replaced, which is how a shrinking file is survived. */
    if (magic == HUGETLBFS)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                         "%s: a file of huge pages cannot be used", use->name);
    if (S_ISREG(st->st_mode) || magic == DMA_BUF)
        return 0;
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                     "%s: a regular file, a memfd or a dma-buf is wanted, not %s", use->name,
                     kind_of(st->st_mode));
}

/*
 * The service's own control group pays for pages that a transfer is the first to touch. A file on
 * a disk is not meant: the system can write its pages back and take them away.
 */
static int check_allocated(const struct mapped_file *file, const struct mapping_use *use,
                           struct fault *fault)
{
    if (!policy.refuse_sparse || use->own || !file->memory || file->allocated >= file->size)
        return 0;
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                     "%s: %" PRIu64 " of %" PRIu64 " B of the file are allocated; this service "
                     "refuses sparse files in memory (refuse_sparse): allocate it whole, as with "
                     "posix_fallocate()",
                     use->name, file->allocated, file->size);
}

static int check_memory(const struct mapped_file *file, const struct mapping_use *use,
                        struct fault *fault)
{
    if (!policy.memory_only || file->memory || file->dma_buf)
        return 0;
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                     "%s: this service takes memfds, files on tmpfs and dma-bufs only "
                     "(memory_only): copy the file into a memfd",
                     use->name);
}

int mapped_file_check(struct mapped_file *file, int fd, const struct mapping_use *use,
                      struct fault *fault)
{
    const bool memory = seam.seals(fd) >= 0; /* only files in memory can be sealed */
    struct stat st;
    unsigned magic;

    if (seam.fstat(fd, &st) < 0)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer, "%s: %s", use->name,
                         strerror(errno));
    magic = file_system(fd, &st, memory);
    if (check_kind(&st, magic, use, fault) < 0 || check_access(fd, use, fault) < 0)
        return -1;
    *file = (struct mapped_file){
        .fd = fd,
        .dma_buf = magic == DMA_BUF,
        .memory = memory,
        .size = st.st_size > 0 ? (uint64_t)st.st_size : 0,
        .allocated = st.st_blocks > 0 ? (uint64_t)st.st_blocks * BLOCK : 0,
        .dev = st.st_dev,
        .ino = st.st_ino,
    };
    return check_memory(file, use, fault) < 0 ? -1 : check_allocated(file, use, fault);
}

static int check_range(const struct mapped_file *file, uint64_t offset, uint64_t bytes,
                       const struct mapping_use *use, struct fault *fault)
{
    /* Not offset + bytes <= size: that sum can overflow. */
    if (offset <= file->size && bytes <= file->size - offset)
        return 0;
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                     "%s: %" PRIu64 " B needed from offset %" PRIu64 ", the file has %" PRIu64 " B",
                     use->name, bytes, offset, file->size);
}

static void *map_pages(const struct mapped_file *file, off_t offset, size_t size, bool write)
{
    const int protection = write ? PROT_READ | PROT_WRITE : PROT_READ;
    const int at_once = file->memory && size <= POPULATE_MAX ? MAP_POPULATE : 0;
    void *pages = seam.mmap(NULL, size, protection, MAP_SHARED | at_once, file->fd, offset);

    /*
     * Kernels before 6.7 refuse to share a memfd sealed against writing with anyone who opened it
     * for writing, even for reading only. Its bytes cannot change: a private view is the same.
     */
    if (pages == MAP_FAILED && errno == EPERM && !write)
        pages = seam.mmap(NULL, size, protection, MAP_PRIVATE, file->fd, offset);
    return pages;
}

int mapping_init(struct mapping *mapping, const struct mapped_file *file, uint64_t offset,
                 uint64_t bytes, const struct mapping_use *use, struct fault *fault)
{
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const uint64_t skip = offset % page;
    uint64_t size;
    void *pages;

    *mapping = (struct mapping){0};
    if (check_range(file, offset, bytes, use, fault) < 0)
        return -1;
    size = (skip + bytes + page - 1) / page * page; /* a file's size leaves room for this */
    if (size > SIZE_MAX)
        return fault_set(fault, FAULT_INTERNAL, use->pointer,
                         "%s: no address space for %" PRIu64 " B", use->name, bytes);
    if (mapping_count_take(&mapping->claim, use->uid, policy.max, use->pointer, fault) < 0)
        return -1;
    pages = map_pages(file, (off_t)(offset - skip), (size_t)size, use->write);
    if (pages == MAP_FAILED) {
        fault_set(fault, errno == ENOMEM ? FAULT_INTERNAL : FAULT_BAD_DESCRIPTOR, use->pointer,
                  "%s: cannot be mapped: %s", use->name, strerror(errno));
        mapping_count_give_back(&mapping->claim);
        return -1;
    }
    mapping->pages = pages;
    mapping->pages_size = (size_t)size;
    mapping->data = mapping->pages + skip;
    return 0;
}

void mapping_finish(struct mapping *mapping)
{
    for (size_t at = 0, size; at < mapping->pages_size; at += size) {
        size = mapping->pages_size - at;
        if (size > UNMAP_MAX)
            size = UNMAP_MAX;
        seam.munmap(mapping->pages + at, size);
    }
    mapping_count_give_back(&mapping->claim);
    *mapping = (struct mapping){0};
}
