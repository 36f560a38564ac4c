/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a member of a zip archive, stored or deflated. Only zip_member.c uses zlib. */
#ifndef CLI_ZIP_MEMBER_H
#define CLI_ZIP_MEMBER_H

#include <stddef.h>
#include <stdint.h>

#include "cli/tensor/zip_directory.h"
#include "proto/json/fault.h"

struct zip_member;

/**
 * Opens a member, which must be stored or deflated, of the archive in a file of `size` bytes. The
 * caller keeps the descriptor open. Returns null with the fault if it fails.
 */
struct zip_member *zip_member_open(int fd, uint64_t size, const struct zip_entry *entry,
                                   struct fault *fault);
void zip_member_close(struct zip_member *member);

/**
 * Unpacks the next `size` bytes, or fewer at the member's end, whatever size its directory states;
 * the end is an error if the CRC is wrong. Returns the number of bytes, or -1 with the fault.
 */
int64_t zip_member_read(struct zip_member *member, void *buffer, size_t size, struct fault *fault);

#endif /* CLI_ZIP_MEMBER_H */
