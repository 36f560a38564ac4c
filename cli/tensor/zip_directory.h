/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The directory of a zip archive, read once from its first member to its last, in linear time for
 * any file. Names are not compared, only handed out. Knows zip64; no archives in several parts.
 * Faults do not name the file.
 */
#ifndef CLI_ZIP_DIRECTORY_H
#define CLI_ZIP_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_ENCRYPTED = 1 };

/* An entry of the directory, unchecked. */
struct zip_entry {
    uint64_t packed, unpacked; /* sizes in bytes */
    uint64_t at;               /* the member's own header in the file */
    uint32_t crc;              /* of the unpacked bytes */
    uint16_t method;           /* ZIP_STORED, ZIP_DEFLATED, or another */
    uint16_t flags;            /* ZIP_ENCRYPTED, and others */
};

struct zip_directory {
    int fd;
    uint64_t count;       /* members */
    uint64_t next;        /* the member that zip_directory_next() reads */
    uint64_t at, end;     /* the rest of the directory in the file */
    unsigned char *chunk; /* bytes of the file from `chunk_at` on; owned */
    uint64_t chunk_at;
    size_t chunk_size;
    char *name; /* owned */
};

/**
 * Finds the directory of the archive in a file of `size` bytes, and fills `count`. The caller keeps
 * the descriptor open, and calls zip_directory_close() in any case. Returns 0 or -1.
 */
int zip_directory_open(struct zip_directory *directory, int fd, uint64_t size, struct fault *fault);
void zip_directory_close(struct zip_directory *directory);

/**
 * Reads the next of the `count` members. *name becomes its name, valid until the next call. A name
 * that is not UTF-8 is refused. Returns 0 or -1.
 */
int zip_directory_next(struct zip_directory *directory, struct zip_entry *entry, const char **name,
                       struct fault *fault);

#endif /* CLI_ZIP_DIRECTORY_H */
