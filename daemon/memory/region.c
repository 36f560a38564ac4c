/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/memory/region.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/dma-buf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/base/seam.h"
#include "mli_helpers_api.h"

/* Limits on bytes mapped and bytes of the file: unmapping more takes too long for the loop. */
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

/* Makes the pages known to the device of the engine, if it needs that. */
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
    struct mapped_file file;
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

/* Returns whether this is the device of a file system with a server: for FUSE and NFS the kernel
 * lists a backing device of the same number. */
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
 * on FUSE waits for that too, but with the address space locked: then mmap(2) on the loop's thread
 * would wait as well. msync(2) waits without the lock.
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
    sigbus_guard_expect(&region->guard); /* this thread runs tiny transfers */
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
