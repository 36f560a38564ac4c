/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/base/link.h"
#include "daemon/base/seam.h"
#include "daemon/base/uid.h"

/* File system magics of statfs(2). */
#define HUGETLBFS 0x958458f6U
#define DMA_BUF   0x444d4142U

enum {
    PLAIN_BLOCK_MAX = 32 * 1024, /* bytes: every huge page is larger than such a block */
    POPULATE_MAX =
        64 * 1024, /* bytes; pages of smaller mappings are mapped at once, not by page faults */
    UNMAP_MAX = 4 * 1024 * 1024, /* bytes unmapped by one call, which takes less than 1 ms */
    BLOCK = 512                  /* bytes; the unit of st_blocks */
};

static struct mapping_policy policy = {.max = UINT32_MAX};

/* Counting mappings. */

enum { RESERVED_PART = 8 }; /* one mapping in eight is reserved */

/* A user with mappings. */
struct mapping_owner {
    struct link link; /* in the list counts.owners */
    uid_t uid;
    uint32_t mappings;
};

static struct {
    pthread_mutex_t mutex; /* guards the members below */
    struct link owners;
    uint32_t open, reserved; /* numbers of mappings of both kinds */
} counts = {
    .mutex = PTHREAD_MUTEX_INITIALIZER,
    .owners = {&counts.owners, &counts.owners},
};

static struct mapping_owner *find(uid_t uid)
{
    for (struct link *l = counts.owners.next; l != &counts.owners; l = l->next) {
        struct mapping_owner *owner = LINK_OWNER(l, struct mapping_owner, link);

        if (owner->uid == uid)
            return owner;
    }
    return NULL;
}

static struct mapping_owner *find_or_add(uid_t uid)
{
    struct mapping_owner *owner = find(uid);

    if (owner)
        return owner;
    owner = seam.calloc(1, sizeof *owner);
    if (!owner)
        return NULL;
    owner->uid = uid;
    link_append(&counts.owners, &owner->link);
    return owner;
}

static int refuse(uid_t uid, uint32_t own, uint32_t max, const char *pointer, struct fault *fault)
{
    return fault_set(fault, FAULT_LIMIT, pointer,
                     "limits.mappings: the service has %" PRIu32 " of %" PRIu32
                     " mappings, %" PRIu32 " of them for user %u, and keeps the rest for others; "
                     "release buffers or prepared jobs, or try again when jobs have ended",
                     counts.open + counts.reserved, max, own, (unsigned)uid);
}

/* The mutex must be held. */
static int take(struct mapping_claim *claim, uid_t uid, uint32_t max, const char *pointer,
                struct fault *fault)
{
    const uint32_t kept = max / RESERVED_PART;
    struct mapping_owner *owner = find(uid);
    const uint32_t own = owner ? owner->mappings : 0;
    const bool open = uid_share_allows(own, counts.open, max - kept);

    if (!open && (!uid_is_master(uid) || counts.reserved >= kept))
        return refuse(uid, own, max, pointer, fault);
    owner = find_or_add(uid);
    if (!owner)
        return fault_set(fault, FAULT_INTERNAL, pointer, "no memory to count a mapping");
    owner->mappings++;
    *(open ? &counts.open : &counts.reserved) += 1;
    *claim = (struct mapping_claim){.owner = owner, .reserved = !open};
    return 0;
}

/*
 * Adds a mapping to the count of a user, within `max` of all users. Returns 0, or -1 with *fault
 * filled (LIMIT, or INTERNAL if out of memory), which names the member `pointer`.
 */
static int count_mapping(struct mapping_claim *claim, uid_t uid, uint32_t max, const char *pointer,
                         struct fault *fault)
{
    int result;

    pthread_mutex_lock(&counts.mutex);
    result = take(claim, uid, max, pointer, fault);
    pthread_mutex_unlock(&counts.mutex);
    return result;
}

/* Removes a claim from the counts and empties it. Does nothing for an empty claim. */
static void uncount_mapping(struct mapping_claim *claim)
{
    struct mapping_owner *owner = claim->owner;

    if (!owner)
        return;
    pthread_mutex_lock(&counts.mutex);
    *(claim->reserved ? &counts.reserved : &counts.open) -= 1;
    if (--owner->mappings == 0) {
        link_remove(&owner->link);
        free(owner);
    }
    pthread_mutex_unlock(&counts.mutex);
    *claim = (struct mapping_claim){0};
}

/* Mapping */

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
                         "%s: the descriptor was opened with O_PATH; open the file itself",
                         use->name);
    if (use->write && (flags & O_ACCMODE) != O_RDWR)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                         "%s: the file is not open for reading and writing", use->name);
    if (!use->write && (flags & O_ACCMODE) == O_WRONLY)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                         "%s: the file is not open for reading", use->name);
    return 0;
}

/*
 * Returns the file system's magic for files of huge pages and dma-bufs, else 0. statfs(2) of other
 * files can wait for a server. Files of huge pages have seals and large blocks; dma-bufs have no
 * file type.
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
    /* sigbus.c replaces pages of a file that shrinks; parts of a huge page cannot be replaced. */
    if (magic == HUGETLBFS)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                         "%s: a file of huge pages cannot be used", use->name);
    if (S_ISREG(st->st_mode) || magic == DMA_BUF)
        return 0;
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                     "%s: %s given; a regular file, memfd or dma-buf is required", use->name,
                     kind_of(st->st_mode));
}

/*
 * Pages of a sparse file in memory that a transfer touches first are charged to the service's own
 * control group. Sparse files on disks are fine: the system can write their pages back.
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
    /* The sum offset + bytes could overflow. */
    if (offset <= file->size && bytes <= file->size - offset)
        return 0;
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, use->pointer,
                     "%s: %" PRIu64 " B are needed from offset %" PRIu64 ", the file has %" PRIu64
                     " B",
                     use->name, bytes, offset, file->size);
}

static void *map_pages(const struct mapped_file *file, off_t offset, size_t size, bool write)
{
    const int protection = write ? PROT_READ | PROT_WRITE : PROT_READ;
    const int at_once = file->memory && size <= POPULATE_MAX ? MAP_POPULATE : 0;
    void *pages = seam.mmap(NULL, size, protection, MAP_SHARED | at_once, file->fd, offset);

    /*
     * Kernels before 6.7 refuse a shared mapping, even a read-only one, of a memfd that is sealed
     * against writing and open for writing. The bytes cannot change, so a private mapping is as
     * good.
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
    size = (skip + bytes + page - 1) / page * page; /* cannot overflow: files are smaller */
    if (size > SIZE_MAX)
        return fault_set(fault, FAULT_INTERNAL, use->pointer,
                         "%s: no address space for %" PRIu64 " B", use->name, bytes);
    if (count_mapping(&mapping->claim, use->uid, policy.max, use->pointer, fault) < 0)
        return -1;
    pages = map_pages(file, (off_t)(offset - skip), (size_t)size, use->write);
    if (pages == MAP_FAILED) {
        fault_set(fault, errno == ENOMEM ? FAULT_INTERNAL : FAULT_BAD_DESCRIPTOR, use->pointer,
                  "%s: cannot be mapped: %s", use->name, strerror(errno));
        uncount_mapping(&mapping->claim);
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
    uncount_mapping(&mapping->claim);
    *mapping = (struct mapping){0};
}
