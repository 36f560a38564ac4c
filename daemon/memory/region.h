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
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/base/reaper.h"
#include "daemon/memory/board.h"
#include "daemon/memory/sigbus.h"
#include "mli_mov_api.h"
#include "proto/json/fault.h"

/*
 * Maps clients' descriptors, after every check that can be made beforehand: only regular files,
 * memfds and dma-bufs that are large enough and open for reading or writing as needed. A file can
 * still shrink later; sigbus.h handles that.
 *
 * Also counts the mappings of each user, because Linux limits the mappings of a process. Seven
 * eighths of the limit are open to every user, up to the share of uid_share_allows(). One eighth is
 * a reserve for root and the user that the process runs as, when the rest is used up. All services
 * in a process share one count. Any thread may call all functions except mapping_set_policy().
 */

/* The use of a descriptor, and its names in error messages. */
struct mapping_use {
    bool write;          /* true: the mapping is written; false: it is only read */
    const char *name;    /* "src" */
    const char *pointer; /* JSON pointer of the member, such as "/src/fd" */
    bool own;            /* true: the service made the file, which may therefore be sparse */
    uid_t uid;           /* the user for whom the mapping is counted */
};

/* Rules for all mappings of the process. */
struct mapping_policy {
    uint32_t max;       /* largest number of mappings of all users at a time */
    bool refuse_sparse; /* true: files in memory must be allocated completely */
    bool memory_only; /* true: refuse files on disks and servers, because a transfer could wait for
                         a page */
};

/** Sets the policy for later mappings. The default policy has no limit and refuses nothing. */
void mapping_set_policy(const struct mapping_policy *policy);

/* A descriptor that passed the checks. */
struct mapped_file {
    int fd;       /* the descriptor, which belongs to the caller */
    bool dma_buf; /* true: a dma-buf, whose caches must be synchronised before and after each use */
    bool memory;  /* true: a memfd or a file on tmpfs, where access never waits for a device or
                     server */
    uint64_t size;
    uint64_t allocated; /* bytes of the file that take memory or disk space */
    dev_t dev;
    ino_t ino;
};

/* One counted mapping of a user. */
struct mapping_claim {
    struct mapping_owner *owner; /* the user who has the mapping; null: no mapping is counted */
    bool reserved;               /* true: the mapping is counted among the reserved mappings */
};

struct mapping {
    unsigned char *pages; /* null: nothing is mapped */
    size_t pages_size;    /* size of the mapped pages in bytes */
    unsigned char *data;  /* address of the byte at the requested offset */
    struct mapping_claim claim;
};

/**
 * Checks that a descriptor can be mapped for this use. Returns 0, or -1 with *fault filled
 * (BAD_DESCRIPTOR, INTERNAL).
 */
int mapped_file_check(struct mapped_file *file, int fd, const struct mapping_use *use,
                      struct fault *fault);

/**
 * Maps `bytes` > 0 bytes from `offset` on. Returns 0; or -1 with *mapping empty and *fault filled,
 * if the file is too small or cannot be mapped (BAD_DESCRIPTOR), the user may have no more mappings
 * (LIMIT), or there is no memory (INTERNAL).
 */
int mapping_init(struct mapping *mapping, const struct mapped_file *file, uint64_t offset,
                 uint64_t bytes, const struct mapping_use *use, struct fault *fault);

/**
 * Unmaps in pieces, so that other threads can map and fault pages in between. Does nothing for an
 * empty or finished mapping.
 */
void mapping_finish(struct mapping *mapping);

struct region {
    uint32_t holders;
    struct mapping mapping;
    struct sigbus_guard guard;
    mli_mov_memory attached; /* registration of the pages with the engine's device */
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
    /* The range of the region in a memory of the board; zeros if the region is in none. The last
       region_drop() frees the range. */
    struct board_piece piece;
    struct reap reap;
};

/* The part of a file that a region is to map. */
struct region_want {
    struct mapping_use use;
    uint64_t offset,
        bytes;      /* range in the file; bytes = 0: from the offset to the end of the file */
    bool exclusive; /* true: the region is for one transfer */
    bool seal;      /* true: seal the file against shrinking if that is possible */
};

/**
 * Creates a region with one holder, and attaches its pages to the device of the engine. The caller
 * keeps the descriptor, and may close it. Returns NULL with *fault filled: BAD_DESCRIPTOR, LIMIT
 * (too many mappings) or INTERNAL (no memory, or the device cannot use it).
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

/** Returns whether two ranges [offset, offset + bytes) of regions share bytes of one file. */
bool region_overlaps(const struct region *a, uint64_t a_offset, uint64_t a_bytes,
                     const struct region *b, uint64_t b_offset, uint64_t b_bytes);

/**
 * Begins a transfer that reads or writes the region. Returns 0; or -1 if its file has shrunk, its
 * storage has failed, or the dma-buf's device refuses: do not call region_end() then.
 */
int region_begin(struct region *region, bool write);
/**
 * Ends a transfer. Thread-safe. Unmaps an exclusive region, so that it is unmapped when the client
 * gets the reply; but a large region on the loop's thread, and any region whose file system may
 * block, is left to region_drop() and the reaper. After that only region_drop() may be called for
 * an exclusive region. Returns 0, or -1 if the file shrank or its storage failed since
 * region_create().
 */
int region_end(struct region *region, bool write, bool on_loop);
