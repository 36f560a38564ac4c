/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/region.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/dma-buf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/base/link.h"
#include "daemon/base/seam.h"
#include "daemon/base/uid.h"
#include "mli_helpers_api.h"

/* Magic numbers of file systems, from statfs(2). */
#define HUGETLBFS 0x958458f6U
#define DMA_BUF   0x444d4142U

enum {
    PLAIN_BLOCK_MAX = 32 * 1024, /* block size in bytes, smaller than every huge page */
    /* Limit in bytes: pages of smaller mappings are mapped at once, not by page faults. */
    POPULATE_MAX = 64 * 1024,
    UNMAP_MAX = 4 * 1024 * 1024, /* bytes that one call unmaps, in less than 1 ms */
    BLOCK = 512                  /* size in bytes of the unit of st_blocks */
};

static struct mapping_policy policy = {.max = UINT32_MAX};

/* Counting mappings. */

enum { RESERVED_PART = 8 }; /* one mapping in eight is reserved (struct mapping_policy) */

/* The mappings of one user. */
struct mapping_owner {
    struct link link; /* link in the list counts.owners */
    uid_t uid;
    uint32_t mappings;
};

static struct {
    pthread_mutex_t mutex; /* guards the members below */
    struct link owners;
    uint32_t open, reserved; /* numbers of unreserved and of reserved mappings */
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

/* Counts a mapping of a user. The mutex must be held. */
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
 * Adds a mapping to the count of a user; `max` limits the count of all users. Returns 0, or -1 with
 * *fault filled: LIMIT, or INTERNAL if out of memory. `pointer` becomes the fault's pointer.
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
 * Returns the magic number of the file system of a file of huge pages or of a dma-buf. Returns 0
 * for other files without a call of statfs(2), which can wait for a network server. Files of huge
 * pages are told by their seals and large blocks, dma-bufs by their lack of a file type.
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

/* Limit on bytes mapped, and on bytes of the file: unmapping more takes too long for the loop. */
enum { QUICK_MAX = 4 * 1024 * 1024 };

/* Seals the file, if wanted. Call it before the size is read, so that the size stays valid. */
static bool seal(int fd, const struct region_want *want)
{
    int seals;

    if (want->exclusive)
        return false; /* the region is too short-lived to be worth a system call */
    if (want->seal)
        (void)fcntl(fd, F_ADD_SEALS,
                    F_SEAL_SHRINK); /* fails unless the file is a memfd that can be sealed */
    seals = fcntl(fd, F_GET_SEALS);
    return seals >= 0 && (seals & F_SEAL_SHRINK);
}

/* Registers the pages with the device of the engine, if the engine requires it. */
static int attach(struct region *region, const struct mapped_file *file,
                  const struct region_want *want, struct fault *fault)
{
    const struct mapping *mapping = &region->mapping;

    region->attached = (mli_mov_memory){
        .address = mapping->pages,
        .size = mapping->pages_size,
        .fd = file->fd,
        .fd_offset = want->offset - (uint64_t)(mapping->data - mapping->pages),
        .flags = (want->use.write ? MLI_MOV_MEMORY_WRITE : 0) |
                 (file->dma_buf ? MLI_MOV_MEMORY_DMA_BUF : 0),
    };
    if (mli_mov_attach_memory(&region->attached) == MLI_STATUS_OK)
        return 0;
    return fault_set(fault, FAULT_INTERNAL, want->use.pointer, "%s: engine %s", want->use.name,
                     mli_last_error());
}

/* Maps, guards and attaches the region. The guard must exist before any access to the memory. */
static int map(struct region *region, const struct mapped_file *file,
               const struct region_want *want, uint64_t bytes, struct fault *fault)
{
    const struct mapping_use *use = &want->use;

    if (mapping_init(&region->mapping, file, want->offset, bytes, use, fault) < 0)
        return -1;
    if (sigbus_guard_init(&region->guard, region->mapping.pages, region->mapping.pages_size) < 0)
        return fault_set(fault, FAULT_INTERNAL, use->pointer, "%s: too many files are mapped",
                         use->name);
    if (attach(region, file, want, fault) < 0)
        return -1;
    if (!file->dma_buf)
        return 0;
    region->dma_buf = seam.duplicate(file->fd);
    if (region->dma_buf < 0)
        return fault_set(fault, FAULT_INTERNAL, use->pointer, "%s: %s", use->name, strerror(errno));
    return 0;
}

static int open_region(struct region *region, int fd, const struct region_want *want,
                       struct fault *fault)
{
    struct mapped_file file = {.fd = fd};
    uint64_t bytes = want->bytes;

    region->sealed = seal(fd, want);
    if (mapped_file_check(&file, fd, &want->use, fault) < 0)
        return -1;
    if (bytes == 0 && want->offset >= file.size)
        return fault_set(fault, FAULT_BAD_DESCRIPTOR, want->use.pointer, "%s: the file is empty",
                         want->use.name);
    if (bytes == 0)
        bytes = file.size - want->offset;
    if (map(region, &file, want, bytes, fault) < 0)
        return -1;
    region->sealed |= file.dma_buf; /* the size of a dma-buf is fixed */
    region->quick =
        file.memory && file.allocated <= QUICK_MAX && region->mapping.pages_size <= QUICK_MAX;
    region->slow = !file.memory && !file.dma_buf;
    region->reap.may_block = !file.memory && (file.dma_buf || !reaper_is_local(S_IFREG, file.dev));
    region->size = bytes;
    region->file_offset = want->offset;
    region->dev = file.dev;
    region->ino = file.ino;
    return 0;
}

/* Unmaps the region. Returns true if the region was hit: its pages were no longer the file's. */
static bool unmap(struct region *region)
{
    const bool hit = sigbus_guard_finish(&region->guard);

    mli_mov_detach_memory(&region->attached);
    mapping_finish(&region->mapping);
    if (region->dma_buf >= 0)
        seam.close(region->dma_buf);
    region->dma_buf = -1;
    return hit;
}

/* Returns whether the file system with this device number has a server. For FUSE and NFS the kernel
 * lists a backing device (bdi) with the number of the file system. */
static bool is_on_server(dev_t dev)
{
    static const char *const endings[] = {"", "-fuse"};
    char path[64];

    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        snprintf(path, sizeof path, "/sys/class/bdi/%u:%u%s", major(dev), minor(dev), endings[i]);
        if (access(path, F_OK) == 0)
            return true;
    }
    return false;
}

/*
 * Waits until the server of a file has taken the pages that a transfer wrote. munmap(2) of a file
 * on FUSE waits for the server too, but locks the address space meanwhile: then mmap(2) on the
 * loop's thread would also wait. msync(2) waits without the lock.
 */
static void write_back(const struct region *region)
{
    const struct mapping *mapping = &region->mapping;

    if (mapping->pages && region->dma_buf < 0 && is_on_server(region->dev))
        (void)msync(mapping->pages, mapping->pages_size, MS_SYNC);
}

static void reap_region(struct reap *reap)
{
    struct region *region = LINK_OWNER(reap, struct region, reap);

    if (reap->may_block)
        write_back(region);
    unmap(region);
    free(region);
}

struct region *region_create(int fd, const struct region_want *want, struct fault *fault)
{
    struct region *region = seam.calloc(1, sizeof *region);

    if (!region) {
        fault_set(fault, FAULT_INTERNAL, want->use.pointer, "%s: no memory for it", want->use.name);
        return NULL;
    }
    region->holders = 1;
    region->reap.run = reap_region;
    region->reap.may_block = true; /* assume this until the kind of the file is known */
    region->uid = want->use.uid;
    region->guard.slot = region->dma_buf = -1;
    region->write = want->use.write;
    region->exclusive = want->exclusive;
    if (open_region(region, fd, want, fault) < 0) {
        region_drop(region);
        return NULL;
    }
    return region;
}

struct region *region_hold(struct region *region)
{
    region->holders++;
    return region;
}

void region_drop(struct region *region)
{
    if (!region || --region->holders > 0)
        return;
    board_remove(&region->piece);
    if (region->mapping.pages || region->dma_buf >= 0)
        reaper_add(region->uid, &region->reap);
    else
        free(region);
}

int region_check_range(const struct region *region, uint64_t offset, uint64_t bytes,
                       const char *name, const char *pointer, struct fault *fault)
{
    if (offset <= region->size && bytes <= region->size - offset)
        return 0;
    return fault_set(fault, FAULT_BAD_DESCRIPTOR, pointer,
                     "%s: %" PRIu64 " B are needed from offset %" PRIu64 ", the buffer has %" PRIu64
                     " B",
                     name, bytes, offset, region->size);
}

bool region_overlaps(const struct region *a, uint64_t a_offset, uint64_t a_bytes,
                     const struct region *b, uint64_t b_offset, uint64_t b_bytes)
{
    const uint64_t a_begin = a->file_offset + a_offset, b_begin = b->file_offset + b_offset;

    return a->dev == b->dev && a->ino == b->ino && a_begin < b_begin + b_bytes &&
           b_begin < a_begin + a_bytes;
}

static int sync_caches(const struct region *region, uint64_t when, bool write)
{
    const uint64_t flags = when | (write ? DMA_BUF_SYNC_RW : DMA_BUF_SYNC_READ);
    int result;

    if (region->dma_buf < 0)
        return 0;
    do
        result = seam.dma_buf_sync(region->dma_buf, flags);
    while (result < 0 && (errno == EINTR || errno == EAGAIN));
    return result;
}

int region_begin(struct region *region, bool write)
{
    if (sigbus_guard_hit(&region->guard))
        return -1;
    sigbus_guard_expect(&region->guard); /* for tiny transfers, which this thread runs itself */
    return sync_caches(region, DMA_BUF_SYNC_START, write);
}

int region_end(struct region *region, bool write, bool on_loop)
{
    const bool may_wait = region->reap.may_block && region->dma_buf < 0;
    const bool may_unmap = region->quick || (!on_loop && !may_wait);
    const bool last = region->exclusive && may_unmap;
    int result = sync_caches(region, DMA_BUF_SYNC_END, write);

    if (last ? unmap(region) : sigbus_guard_hit(&region->guard))
        result = -1;
    return result;
}
