/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA controllers that the engine vfio can drive: PCI devices that a process programs itself.
 *
 * To add a controller, start here: write its functions in a file of its own (edu.c is an example),
 * declare it below, and add it to the table in vfio_engine.c. The engine finds it by the
 * identification of the PCI device. The engine maps memory, waits for interrupts and cuts plans;
 * the functions of a controller only access registers, and only one thread calls them at a time.
 */
#pragma once

#include <endian.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmli/port/vfio/iova_space.h"
#include "mli_engine.h"

struct vfio_device;

/* A run of bytes that the controller is transferring. */
struct vfio_copy {
    uint64_t src, dst; /* bus addresses */
    uint32_t bytes;
    uint32_t step; /* state for the controller's use; 0 at the start */
};

enum vfio_progress { VFIO_RUNNING, VFIO_DONE, VFIO_FAILED };

struct vfio_controller {
    const char *name;
    uint16_t vendor, device; /* identification of the PCI device */
    uint32_t bar;            /* number of the region that has the registers */
    size_t registers_size;   /* bytes of the region that are used */
    uint32_t address_bits;   /* width of the bus addresses that the device can express */
    size_t run_max;          /* maximum number of bytes of one struct vfio_copy */
    size_t run_min;          /* the processor moves shorter runs; 0: none */

    /** Prepares an idle device. Returns false if it does not answer, or still moves data. */
    bool (*reset)(volatile void *registers);
    /** Begins a copy. The device raises its interrupt at the end of each step. */
    void (*start)(volatile void *registers, struct vfio_copy *copy);
    /** Handles an interrupt: acknowledges it, and begins the next step if there is one. */
    enum vfio_progress (*handle)(volatile void *registers, struct vfio_copy *copy);
};

/** QEMU's device `edu`. */
extern const struct vfio_controller vfio_edu;

static inline uint32_t vfio_read(volatile void *registers, size_t offset)
{
    return le32toh(*(volatile uint32_t *)((volatile char *)registers + offset));
}

/*
 * Memory that the program wrote before is visible to the device before the register changes.
 * GCC refuses atomic_thread_fence() in a build with ThreadSanitizer.
 */
static inline void vfio_write(volatile void *registers, size_t offset, uint32_t value)
{
    __sync_synchronize();
    *(volatile uint32_t *)((volatile char *)registers + offset) = htole32(value);
}

/*
 * The memory of the process that the device can access: ranges that are mapped through the IOMMU,
 * until detach or only for a work item. The functions may be called by several threads, except
 * vfio_memory_begin() and vfio_memory_end().
 */

struct vfio_memory {
    struct vfio_device *device;
    pthread_mutex_t mutex; /* protects the members below, and the mappings of the IOMMU */
    struct iova_space space;
    bool attaches;   /* true: vfio_memory_attach() maps memory; false: it does nothing */
    uint64_t labels; /* number of ranges that were attached */
};

/** A part of the process's memory that the device can access during a work item. */
struct vfio_window {
    uintptr_t address;
    uint64_t iova;          /* bus address of `address` */
    struct iova_range *own; /* null: the memory was mapped before */
};

/** Initialises *memory for an open device. No range of memory is attached yet. */
void vfio_memory_begin(struct vfio_memory *memory, struct vfio_device *device,
                       uint32_t address_bits);

/** Lets vfio_memory_attach() map memory. */
void vfio_memory_allow(struct vfio_memory *memory);

/** Closes the device, which unmaps all ranges. */
void vfio_memory_end(struct vfio_memory *memory);

/** Maps memory that the device will only read. Returns null if the memory cannot be mapped. */
struct iova_range *vfio_memory_map(struct vfio_memory *memory, const void *address, size_t size);

/** attach and detach of mli_engine. */
int vfio_memory_attach(struct vfio_memory *memory, mli_mov_memory *attached);
void vfio_memory_detach(struct vfio_memory *memory, const mli_mov_memory *attached);

/**
 * Finds or maps two windows: from the first to the last byte that a plan reads, and from the first
 * to the last byte that it writes. Returns 0, or a negative errno and no windows.
 */
int vfio_windows_open(struct vfio_memory *memory, const struct mli_plan *plan,
                      struct vfio_window *src, struct vfio_window *dst);

/**
 * Returns whether an error of vfio_windows_open() means that the kernel does not pin such memory
 * for a device: the buffers of some drivers, files on some disks. The processor can use it.
 */
bool vfio_memory_cannot_be_pinned(int error);

/** Unmaps windows, in any order. */
void vfio_window_close(struct vfio_memory *memory, struct vfio_window *window);

/** Returns the bus address of an address in a window. */
uint64_t vfio_window_bus(const struct vfio_window *window, const void *address);

/*
 * A PCI device that the process programs itself, through Linux's VFIO: its registers, its
 * interrupt, and its view of the process's memory. "VFIO - Virtual Function I/O" of the kernel's
 * documentation describes the interface.
 */

enum { VFIO_ADDRESS_SIZE = 13, VFIO_WHY_SIZE = 160 };

/* "0000:00:04.0": domain, bus, slot and function in hexadecimal, as `lspci -D` prints it. */
typedef char vfio_address[VFIO_ADDRESS_SIZE];

/* The reason of a failure: one sentence. */
typedef char vfio_why[VFIO_WHY_SIZE];

struct vfio_device {
    int container, group, device;
    int interrupt;   /* an eventfd, which the kernel signals at each interrupt */
    uint64_t config; /* offset of the PCI configuration space in `device` */
    void *registers; /* null: not mapped */
    size_t registers_size;
};

/**
 * Looks for the device without using it. Returns the number of its IOMMU group, and sets *vendor
 * and *id; -1 with a reason if there is no such device, or if it is not bound to vfio-pci behind an
 * IOMMU.
 */
int vfio_device_find(const char *address, uint16_t *vendor, uint16_t *id, vfio_why why);

/**
 * Takes the device: afterwards its registers are mapped, its interrupt is connected, and it can
 * access the memory that vfio_device_map() maps. Returns false with a reason, and with nothing to
 * close, if that fails.
 */
bool vfio_device_open(struct vfio_device *device, const char *address,
                      const struct vfio_controller *controller, vfio_why why);

/** Gives the device back. The kernel then resets it and unmaps all memory. */
void vfio_device_close(struct vfio_device *device);

/** Adds to *space the bus addresses that the IOMMU can map. */
void vfio_device_windows(const struct vfio_device *device, struct iova_space *space);

/** Lets the device access the memory of a range. Returns 0 or a negative errno. */
int vfio_device_map(const struct vfio_device *device, const struct iova_range *range);
void vfio_device_unmap(const struct vfio_device *device, const struct iova_range *range);

/** Waits for an interrupt. Returns false after `timeout_ms`. */
bool vfio_device_wait(const struct vfio_device *device, int timeout_ms);

/** Allows or forbids all accesses of the device to memory. */
bool vfio_device_set_master(const struct vfio_device *device, bool master);

/*
 * The engine vfio: a DMA controller on PCI behind an IOMMU, which this process programs through
 * Linux's VFIO. The top of this file says how to add a controller.
 *
 *   vfio:device=ADDRESS  Use this PCI device, for example device=0000:00:04.0. Required. The device
 *                        must be bound to the driver vfio-pci.
 *   vfio:timeout_ms=N    Give up a run of bytes after N ms, 1 to 600000 (default: 10000).
 *
 * Data flow: submit hands the work item to the thread of the channel. The thread maps the memory of
 * the plan for the device, cuts the plan into runs, and for each run starts the controller and
 * sleeps until its interrupt. docs/vfio.md explains how to prepare a machine.
 */

extern const struct mli_engine vfio_engine;
