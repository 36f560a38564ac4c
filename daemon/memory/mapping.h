/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Descriptors of clients become memory here, after every check that can be made beforehand: only
 * regular files, memfds and dma-bufs, open for what is to be done with them, large enough. A file
 * can still shrink later; sigbus.h deals with that.
 */
#ifndef DAEMON_MAPPING_H
#define DAEMON_MAPPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "daemon/memory/mapping_count.h"
#include "proto/json/fault.h"

/* How a descriptor will be used, and what complaints call it. */
struct mapping_use {
    bool write;          /* written; else only read */
    const char *name;    /* "src" */
    const char *pointer; /* "/src/fd" */
    bool own;            /* the service has made the file: it may be sparse */
    uid_t uid;           /* the user whose mappings it counts among */
};

/* What holds for all mappings of the process. */
struct mapping_policy {
    uint32_t max;       /* mappings at a time, of all users */
    bool refuse_sparse; /* files in memory must be allocated whole */
    bool memory_only;   /* no files on disks and servers, whose pages a transfer could wait for */
};

/** Sets the policy; mappings that are there stay. Until then: no limit, sparse files are fine. */
void mapping_set_policy(const struct mapping_policy *policy);

/* A descriptor that passed the checks. */
struct mapped_file {
    int fd;       /* the caller's */
    bool dma_buf; /* caches must be made to agree before and after each use */
    bool memory;  /* a memfd or a file on tmpfs: no device or server to wait for */
    uint64_t size;
    uint64_t allocated; /* bytes of it that take memory or disk space */
    dev_t dev;
    ino_t ino;
};

struct mapping {
    unsigned char *pages; /* null: nothing is mapped */
    size_t pages_size;    /* whole pages */
    unsigned char *data;  /* the byte that was asked for */
    struct mapping_claim claim;
};

/** Is it a file that can be mapped for this use? Returns 0, or -1 (BAD_DESCRIPTOR, INTERNAL). */
int mapped_file_check(struct mapped_file *file, int fd, const struct mapping_use *use,
                      struct fault *fault);

/**
 * Maps `bytes` > 0 bytes from `offset` on. Returns 0, or -1 where the file is too small or cannot
 * be mapped (BAD_DESCRIPTOR), the user may have no more mappings (LIMIT), or memory is
 * short (INTERNAL); *mapping is then empty.
 */
int mapping_init(struct mapping *mapping, const struct mapped_file *file, uint64_t offset,
                 uint64_t bytes, const struct mapping_use *use, struct fault *fault);

/** Unmaps piece by piece, so that other threads can map and fault pages in meanwhile. An empty or
 *  finished mapping is fine. */
void mapping_finish(struct mapping *mapping);

#endif /* DAEMON_MAPPING_H */
