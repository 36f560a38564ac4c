/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The memory of the process that the device can access: ranges that are mapped through the IOMMU,
 * until detach or only for a work item. The functions may be called by several threads, except
 * vfio_memory_begin() and vfio_memory_end().
 */
#ifndef VFIO_MEMORY_H
#define VFIO_MEMORY_H

#include <pthread.h>

#include "libmli/port/vfio/vfio_device.h"
#include "mli_engine.h"

struct vfio_memory {
    struct vfio_device *device;
    pthread_mutex_t mutex; /* of the members below, and of the mappings of the IOMMU */
    struct iova_space space;
    bool attaches;   /* vfio_memory_attach() maps; else it does nothing */
    uint64_t labels; /* number of ranges that were attached */
};

/** A part of the process's memory that the device can access during a work item. */
struct vfio_window {
    uintptr_t address;
    uint64_t iova;          /* bus address of `address` */
    struct iova_range *own; /* null: the memory was mapped before */
};

/** Begins without any range, for a device that is open. */
void vfio_memory_begin(struct vfio_memory *memory, struct vfio_device *device,
                       uint32_t address_bits);

/** Lets vfio_memory_attach() map. */
void vfio_memory_allow(struct vfio_memory *memory);

/** Closes the device, which unmaps all ranges. */
void vfio_memory_end(struct vfio_memory *memory);

/** Maps memory that the device will only read. Returns null if the memory cannot be mapped. */
struct iova_range *vfio_memory_map(struct vfio_memory *memory, const void *address, size_t size);

/** attach and detach of mli_engine. */
int vfio_memory_attach(struct vfio_memory *memory, mli_mov_memory *attached);
void vfio_memory_detach(struct vfio_memory *memory, const mli_mov_memory *attached);

/**
 * Finds or maps the memory from the first to the last byte that a plan reads, and that it writes.
 * Returns 0, or a negative errno and no windows.
 */
int vfio_windows_open(struct vfio_memory *memory, const struct mli_plan *plan,
                      struct vfio_window *src, struct vfio_window *dst);

/**
 * Returns whether an error of vfio_windows_open() means that the kernel does not pin such memory
 * for a device: the buffers of some drivers, files on some disks. The processor can use it.
 */
bool vfio_memory_cannot_be_pinned(int error);

/** Ends windows, in any order. */
void vfio_window_close(struct vfio_memory *memory, struct vfio_window *window);

/** Returns the bus address of an address in a window. */
uint64_t vfio_window_bus(const struct vfio_window *window, const void *address);

#endif /* VFIO_MEMORY_H */
