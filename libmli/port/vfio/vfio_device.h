/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A PCI device that the process programs itself, through Linux's VFIO: its registers, its
 * interrupt, and its view of the process's memory. "VFIO - Virtual Function I/O" of the kernel's
 * documentation describes the interface.
 */
#ifndef VFIO_DEVICE_H
#define VFIO_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libmli/port/vfio/iova_space.h"
#include "libmli/port/vfio/vfio_controller.h"

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
 * and *id; -1 with a reason if there is no such device, or VFIO does not have it.
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

/** Adds the bus addresses that the IOMMU can map to the space. */
void vfio_device_windows(const struct vfio_device *device, struct iova_space *space);

/** Lets the device access the memory of a range. Returns 0 or a negative errno. */
int vfio_device_map(const struct vfio_device *device, const struct iova_range *range);
void vfio_device_unmap(const struct vfio_device *device, const struct iova_range *range);

/** Waits for an interrupt. Returns false after `timeout_ms`. */
bool vfio_device_wait(const struct vfio_device *device, int timeout_ms);

/** Allows or forbids all accesses of the device to memory. */
bool vfio_device_set_master(const struct vfio_device *device, bool master);

#endif /* VFIO_DEVICE_H */
