/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The bus addresses of a device (IOVA, I/O virtual addresses) behind an IOMMU: which memory of the
 * process has which bus address. Only keeps the account; the caller programs the IOMMU and protects
 * the account against other threads.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Mapped memory, in whole pages. */
struct iova_range {
    struct iova_range *next; /* the next range by bus address */
    uintptr_t address;
    size_t size;
    uint64_t iova;
    bool write;     /* true: the device may write to it */
    uint64_t label; /* label for the caller's use */
};

enum { IOVA_WINDOWS_MAX = 8 };

struct iova_space {
    size_t page;
    uint64_t last; /* greatest bus address that the device can express */
    struct {
        uint64_t first, last;
    } windows[IOVA_WINDOWS_MAX]; /* bus addresses that the IOMMU can map; ascending */
    uint32_t count;              /* number of windows */
    struct iova_range *ranges;   /* ascending by bus address */
};

/** Makes a space without windows for a device with addresses of `bits` bits, 1 to 64. */
void iova_space_init(struct iova_space *space, size_t page, uint32_t bits);

/** Removes all ranges. */
void iova_space_finish(struct iova_space *space);

/**
 * Adds the bus addresses [first, last], as far as the device can express them. The first page of
 * all bus addresses is never used, so that 0 is never a valid address.
 */
void iova_space_allow(struct iova_space *space, uint64_t first, uint64_t last);

/**
 * Assigns bus addresses to the pages that contain [address, address + size). Returns the new range,
 * which the space owns, or NULL if there is no room (or no memory).
 */
struct iova_range *iova_space_add(struct iova_space *space, uintptr_t address, size_t size,
                                  bool write);

/** Removes and frees a range of the space. */
void iova_space_remove(struct iova_space *space, struct iova_range *range);

/**
 * Returns a range that contains [address, address + size), and that the device may write if `write`
 * is true; NULL if there is none.
 */
struct iova_range *iova_space_find(const struct iova_space *space, uintptr_t address, size_t size,
                                   bool write);
