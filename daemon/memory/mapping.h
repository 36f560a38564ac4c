/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Maps clients' descriptors, after every check that can be made beforehand: only regular files,
 * memfds and dma-bufs that are large enough and open for reading or writing as needed. A file can
 * still shrink later; sigbus.h handles that.
 *
 * Also counts the mappings of each user, because Linux limits the mappings of a process. Seven
 * eighths of the limit are open to every user, up to the share of uid_share_allows(); one eighth is
 * reserved for root and the user that the process runs as, who get it when the rest is refused. A
 * process has one count. Any thread may call everything but mapping_set_policy().
 */
#ifndef DAEMON_MAPPING_H
#define DAEMON_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proto/json/fault.h"

/* The use of a descriptor, and its names in error messages. */
struct mapping_use {
    bool write;          /* true: the mapping is written; false: it is only read */
    const char *name;    /* "src" */
    const char *pointer; /* JSON pointer of the member, as "/src/fd" */
    bool own;            /* true: the service made the file, which may therefore be sparse */
    uid_t uid;           /* the user for whom the mapping is counted */
};

/* Rules for all mappings of the process. */
struct mapping_policy {
    uint32_t max;       /* largest number of mappings of all users at a time */
    bool refuse_sparse; /* true: files in memory must be allocated whole */
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

#endif /* DAEMON_MAPPING_H */
