/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A region: a part of a client's file, mapped while at least one holder exists.
 *
 *     region_create ---- hold ---- begin ... end ---- drop ---- the last drop unmaps and frees it
 *                                    (a transfer)
 *
 * A region is guarded (sigbus.h) all the time. If its file shrinks or its storage fails, all
 * current and later transfers on the region fail, because its pages are no longer the file's.
 *
 * Only the loop's thread may call these functions, except region_end().
 */
#ifndef DAEMON_REGION_H
#define DAEMON_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/reaper.h"
#include "daemon/memory/board.h"
#include "daemon/memory/mapping.h"
#include "daemon/memory/sigbus.h"
#include "mli_mov_api.h"

struct region {
    uint32_t holders;
    struct mapping mapping;
    struct sigbus_guard guard;
    mli_mov_memory attached; /* the pages, made known to the engine's device */
    uint64_t size;           /* usable bytes from mapping.data on */
    uint64_t file_offset;    /* offset of mapping.data in the file */
    dev_t dev;
    ino_t ino;
    bool write;     /* true: the region may be written */
    bool sealed;    /* true: the file of the region cannot shrink; always false if exclusive */
    bool exclusive; /* true: the region is for one transfer, and region_end() unmaps it */
    bool quick;     /* true: small and in memory; the loop may unmap it without delay */
    bool slow;      /* true: on a disk or a server; an access to its pages may wait */
    int dma_buf;    /* a duplicate of the dma-buf, to synchronise its caches; -1: no dma-buf */
    uid_t uid;      /* uid of the owner, for the reaper */
    /* Place of the region in a memory of the board, or zeros. The last holder gives it back. */
    struct board_piece piece;
    struct reap reap;
};

/* The part of a file that a region is to map. */
struct region_want {
    struct mapping_use use;
    uint64_t offset, bytes; /* place in the file; bytes 0: from the offset to the file's end */
    bool exclusive;         /* true: the region is for one transfer */
    bool seal;              /* true: seal the file against shrinking if that is possible */
};

/**
 * Creates a region, held once, and attaches its pages to the device of the engine. The descriptor
 * stays the caller's, who may close it. Returns NULL with *fault filled: BAD_DESCRIPTOR, LIMIT (too
 * many mappings) or INTERNAL (no memory, or the device cannot use it).
 */
struct region *region_create(int fd, const struct region_want *want, struct fault *fault);

/** Adds a holder. Returns the region. */
struct region *region_hold(struct region *region);
/**
 * Removes a holder; the reaper unmaps the region after the last one. No transfer may be running on
 * the region. Accepts NULL.
 */
void region_drop(struct region *region);

/**
 * Checks that [offset, offset + bytes) is inside the region. Returns 0, or -1 with *fault filled,
 * which names the tensor `name` and the member `pointer`.
 */
int region_check_range(const struct region *region, uint64_t offset, uint64_t bytes,
                       const char *name, const char *pointer, struct fault *fault);

/** Returns whether two ranges (as for region_check_range()) share bytes of one file. */
bool region_overlaps(const struct region *a, uint64_t a_offset, uint64_t a_bytes,
                     const struct region *b, uint64_t b_offset, uint64_t b_bytes);

/**
 * Begins a transfer that reads or writes the region. Returns 0; or -1 if its file has shrunk, its
 * storage has failed, or the dma-buf's device refuses: do not call region_end() then.
 */
int region_begin(struct region *region, bool write);
/**
 * Ends a transfer. Any thread. Unmaps an exclusive region, so that it is unmapped when the client
 * gets the reply; but a large region on the loop's thread, and any region whose file system may
 * block, is left to region_drop() and the reaper.
 * After that only region_drop() may be called for an exclusive region. Returns 0, or -1 if
 * the file shrank or its storage failed since region_create().
 */
int region_end(struct region *region, bool write, bool on_loop);

#endif /* DAEMON_REGION_H */
