/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * .npz files: zip archives of .npy files, stored or deflated. A build without zlib has npz_absent.c
 * in place of npz.c, which refuses .npz files. Faults do not name the file.
 */
#ifndef CLI_NPZ_H
#define CLI_NPZ_H

#include <stdint.h>

#include "proto/file/tensor_list.h"
#include "proto/json/fault.h"

struct zip_member;
struct npz;

/*
 * The directory of a zip archive, read once from its first member to its last, in linear time for
 * any file. Names are not compared, only handed out. Knows zip64; no archives in several parts.
 * Faults do not name the file.
 */

enum { ZIP_STORED = 0, ZIP_DEFLATED = 8, ZIP_ENCRYPTED = 1 };

/* An entry of the directory, unchecked. */
struct zip_entry {
    uint64_t packed, unpacked; /* sizes in bytes */
    uint64_t at;               /* the member's own header in the file */
    uint32_t crc;              /* of the unpacked bytes */
    uint16_t method;           /* ZIP_STORED, ZIP_DEFLATED, or another */
    uint16_t flags;            /* ZIP_ENCRYPTED, and others */
};

/**
 * Opens the archive in a regular file of `size` bytes and fills *list with the sorted names of its
 * tensors. The caller keeps the descriptor. Returns null, with the fault set and an empty list, if
 * it fails.
 */
struct npz *npz_open(int fd, uint64_t size, struct tensor_list *list, struct fault *fault);
void npz_close(struct npz *npz);

/** Fills an entry with dtype, shape and size from the member's header. Returns 0 or -1. */
int npz_outline(struct npz *npz, struct tensor_entry *entry, struct fault *fault);

/**
 * Unpacks an outlined member, a whole .npy file, into a memfd that can neither shrink nor grow. ^C
 * ends it. Returns the descriptor, which the caller closes, or -1 with the fault.
 */
int npz_extract(struct npz *npz, const struct tensor_entry *entry, struct fault *fault);

#endif /* CLI_NPZ_H */
