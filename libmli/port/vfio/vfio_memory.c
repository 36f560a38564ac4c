/* SPDX-License-Identifier: BSD-3-Clause */
#include "libmli/port/vfio/vfio.h"

#include <errno.h>
#include <unistd.h>

void vfio_memory_begin(struct vfio_memory *memory, struct vfio_device *device,
                       uint32_t address_bits)
{
    memory->device = device;
    iova_space_init(&memory->space, (size_t)sysconf(_SC_PAGESIZE), address_bits);
    vfio_device_windows(device, &memory->space);
}

void vfio_memory_allow(struct vfio_memory *memory)
{
    pthread_mutex_lock(&memory->mutex);
    memory->attaches = true;
    pthread_mutex_unlock(&memory->mutex);
}

void vfio_memory_end(struct vfio_memory *memory)
{
    pthread_mutex_lock(&memory->mutex);
    memory->attaches = false;
    vfio_device_close(memory->device);
    iova_space_finish(&memory->space);
    pthread_mutex_unlock(&memory->mutex);
}

/*
 * Maps memory for the device. Returns 0, or a negative errno.
 *
 * Maps for writing too, even if the device will only read: this gives the process pages of its own.
 * For reading alone, Linux before 6.2 maps the common page of zeros if the program has not written
 * the memory yet, and the device would not see what the program writes later. Memory that the
 * process cannot write, such as a file that is open for reading, has no such pages.
 */
static int map_locked(struct vfio_memory *memory, const void *address, size_t size, bool write,
                      struct iova_range **range)
{
    int error = -ENOSPC;

    *range = iova_space_add(&memory->space, (uintptr_t)address, size, true);
    if (!*range)
        return error;
    error = vfio_device_map(memory->device, *range);
    if (error < 0 && !write) {
        (*range)->write = false;
        error = vfio_device_map(memory->device, *range);
    }
    if (error < 0)
        iova_space_remove(&memory->space, *range);
    return error;
}

static void unmap_locked(struct vfio_memory *memory, struct iova_range *range)
{
    vfio_device_unmap(memory->device, range);
    iova_space_remove(&memory->space, range);
}

/* Returns 0 or a negative errno. */
static int map(struct vfio_memory *memory, const void *address, size_t size, bool write,
               struct iova_range **range)
{
    int error;

    pthread_mutex_lock(&memory->mutex);
    error = map_locked(memory, address, size, write, range);
    pthread_mutex_unlock(&memory->mutex);
    return error;
}

struct iova_range *vfio_memory_map(struct vfio_memory *memory, const void *address, size_t size)
{
    struct iova_range *range;

    return map(memory, address, size, false, &range) < 0 ? NULL : range;
}

bool vfio_memory_cannot_be_pinned(int error)
{
    return error == -EFAULT || error == -EOPNOTSUPP;
}

/*
 * Maps memory until detach, so that transfers need not map it. Does nothing while the channel is
 * closed: transfers then map the memory. Does nothing for memory that the kernel does not pin: the
 * processor moves it. The file descriptor is not needed, because VFIO maps by address.
 */
int vfio_memory_attach(struct vfio_memory *memory, mli_mov_memory *attached)
{
    const bool write = attached->flags & MLI_MOV_MEMORY_WRITE;
    struct iova_range *range;
    int error = 0;

    attached->cookie = 0;
    pthread_mutex_lock(&memory->mutex);
    if (memory->attaches)
        error = map_locked(memory, attached->address, (size_t)attached->size, write, &range);
    if (memory->attaches && error == 0)
        attached->cookie = range->label = ++memory->labels;
    pthread_mutex_unlock(&memory->mutex);
    return vfio_memory_cannot_be_pinned(error) ? 0 : -error;
}

/* The range no longer exists if the channel was closed since attach. */
void vfio_memory_detach(struct vfio_memory *memory, const mli_mov_memory *attached)
{
    struct iova_range *range;

    if (attached->cookie == 0)
        return;
    pthread_mutex_lock(&memory->mutex);
    range = memory->space.ranges;
    while (range && range->label != attached->cookie)
        range = range->next;
    if (range)
        unmap_locked(memory, range);
    pthread_mutex_unlock(&memory->mutex);
}

/* Windows */

uint64_t vfio_window_bus(const struct vfio_window *window, const void *address)
{
    return window->iova + ((uintptr_t)address - window->address);
}

/* Finds or maps [address, address + size). Returns 0 or a negative errno. */
static int open_window(struct vfio_memory *memory, struct vfio_window *window, uintptr_t address,
                       size_t size, bool write)
{
    const struct iova_range *range;
    int error;

    *window = (struct vfio_window){0};
    if (size == 0)
        return 0;
    pthread_mutex_lock(&memory->mutex);
    range = iova_space_find(&memory->space, address, size, write);
    if (range)
        *window = (struct vfio_window){range->address, range->iova, NULL};
    pthread_mutex_unlock(&memory->mutex);
    if (range)
        return 0;
    error = map(memory, (const void *)address, size, write, &window->own);
    if (error < 0) {
        window->own = NULL;
        return error;
    }
    window->address = window->own->address;
    window->iova = window->own->iova;
    return 0;
}

void vfio_window_close(struct vfio_memory *memory, struct vfio_window *window)
{
    if (!window->own)
        return;
    pthread_mutex_lock(&memory->mutex);
    unmap_locked(memory, window->own);
    pthread_mutex_unlock(&memory->mutex);
}

/* The range of memory from the first to the last byte of all boxes of a plan, on one side. */
struct extent {
    uintptr_t first, end;
};

static void cover(struct extent *extent, const void *first, size_t size)
{
    const uintptr_t address = (uintptr_t)first;

    if (extent->end == 0 || address < extent->first)
        extent->first = address;
    if (address + size > extent->end)
        extent->end = address + size;
}

static void cover_plan(const struct mli_plan *plan, struct extent *src, struct extent *dst)
{
    const struct mli_copy_box *box = &plan->box;
    size_t src_size = box->run, dst_size = box->run;

    for (size_t i = 0; i < box->loops; i++) {
        src_size += (box->loop[i].count - 1) * box->loop[i].src_step;
        dst_size += (box->loop[i].count - 1) * box->loop[i].dst_step;
    }
    if (box->run > 0) {
        cover(src, box->src, src_size);
        cover(dst, box->dst, dst_size);
    }
    for (size_t n = 0; n < plan->slabs; n++) {
        const struct mli_fill_slab *slab = &plan->slab[n];
        size_t size = slab->run;

        for (size_t i = 0; i < slab->loops; i++)
            size += (slab->loop[i].count - 1) * slab->loop[i].step;
        cover(dst, slab->dst, size);
    }
}

int vfio_windows_open(struct vfio_memory *memory, const struct mli_plan *plan,
                      struct vfio_window *src, struct vfio_window *dst)
{
    struct extent read = {0, 0}, written = {0, 0};
    int error;

    cover_plan(plan, &read, &written);
    error = open_window(memory, src, read.first, read.end - read.first, false);
    if (error < 0)
        return error;
    error = open_window(memory, dst, written.first, written.end - written.first, true);
    if (error < 0)
        vfio_window_close(memory, src);
    return error;
}
