/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A piece of a client's file as memory, for as long as anybody holds it.
 *
 *     region_create ---- hold ---- begin ... end ---- drop ---- the last drop: unmapped, gone
 *                                    (a transfer)
 *
 * A region is guarded (sigbus.h) from its creation to its end: where its file shrinks, or its
 * storage fails, under a transfer, every transfer that is under way on it fails, and so does every
 * later one: its pages are not the file's any more.
 *
 * All of it belongs to the loop's thread, but for region_end().
 */
#ifndef DAEMON_REGION_H
#define DAEMON_REGION_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/reaper.h"
#include "daemon/memory/mapping.h"
#include "daemon/memory/sigbus.h"

struct region {
    uint32_t holders;
    struct mapping mapping;
    struct sigbus_guard guard;
    uint64_t size;        /* bytes from mapping.data on that may be used */
    uint64_t file_offset; /* of mapping.data */
    dev_t dev;
    ino_t ino;
    bool write;     /* may be written */
    bool sealed;    /* its file cannot shrink; not looked at where exclusive */
    bool exclusive; /* for one transfer: taken down by region_end() */
    bool quick;     /* small and in memory: taking it down does not hold the loop up */
    int dma_buf;    /* a descriptor of it, for caches to agree; -1: it is none */
    uid_t uid;      /* whose it is */
    struct reap reap;
};

/* What is wanted of a file. */
struct region_want {
    struct mapping_use use;
    uint64_t offset, bytes; /* bytes 0: from the offset to the file's end */
    bool exclusive;         /* for one transfer */
    bool seal;              /* keep the file from shrinking, where that can be had */
};

/**
 * Maps it, held once. The descriptor stays the caller's and is not needed any more. Returns null
 * with *fault filled: BAD_DESCRIPTOR, or INTERNAL where the system is short of something.
 */
struct region *region_create(int fd, const struct region_want *want, struct fault *fault);

/** Returns the region. */
struct region *region_hold(struct region *region);
/**
 * Drops a holder's claim; the reaper unmaps after the last one. Not while a transfer is under way
 * on the region. Null is fine.
 */
void region_drop(struct region *region);

/** Does [offset, offset + bytes) lie in it? Returns 0, or -1: "NAME: ... the buffer has ...". */
int region_check_range(const struct region *region, uint64_t offset, uint64_t bytes,
                       const char *name, const char *pointer, struct fault *fault);

/** The same bytes of one file, whatever they are mapped as? Ranges as for region_check_range(). */
bool region_overlaps(const struct region *a, uint64_t a_offset, uint64_t a_bytes,
                     const struct region *b, uint64_t b_offset, uint64_t b_bytes);

/**
 * Before a transfer reads or writes it. Returns 0; or -1: its file has shrunk or its storage has
 * failed before, or a device does not give it; then there is nothing to end.
 */
int region_begin(struct region *region, bool write);
/**
 * Ends what region_begin() began, in any thread. An exclusive region is unmapped here, before the
 * client is answered, unless that could take long and this is the loop's thread: then region_drop()
 * leaves it to the reaper. Only region_drop() may follow for an exclusive region. Returns 0, or -1
 * where the file shrank or its storage failed since region_create().
 */
int region_end(struct region *region, bool write, bool on_loop);

#endif /* DAEMON_REGION_H */
