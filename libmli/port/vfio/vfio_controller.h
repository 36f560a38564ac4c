/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DMA controllers that the engine vfio can drive: PCI devices that a process programs itself.
 *
 * To add a controller, start here: write its functions in a file of its own (edu.c is an example),
 * declare it below, and add it to the table in vfio_engine.c. The engine finds it by the
 * identification of the PCI device. The engine maps memory, waits for interrupts and cuts plans;
 * the functions of a controller only access registers, and only one thread calls them at a time.
 */
#ifndef VFIO_CONTROLLER_H
#define VFIO_CONTROLLER_H

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One run of bytes on its way through the controller. */
struct vfio_copy {
    uint64_t src, dst; /* bus addresses */
    uint32_t bytes;
    uint32_t step; /* for the controller; 0 at the start */
};

enum vfio_progress { VFIO_RUNNING, VFIO_DONE, VFIO_FAILED };

struct vfio_controller {
    const char *name;
    uint16_t vendor, device; /* identification of the PCI device */
    uint32_t bar;            /* number of the region that has the registers */
    size_t registers_size;   /* bytes of the region that are used */
    uint32_t address_bits;   /* width of the bus addresses that the device can express */
    size_t run_max;          /* most bytes of one struct vfio_copy */
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

#endif /* VFIO_CONTROLLER_H */
