/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files of several tensors. Jobs often take one tensor after the other of the same file, or the
 * same one again: the latest archives stay open, with what was read and unpacked of them, for as
 * long as the file does not change. Safe to use from several threads.
 */
#ifndef CLI_ARCHIVE_H
#define CLI_ARCHIVE_H

#include <sys/stat.h>

#include "proto/file/tensor_list.h"
#include "proto/file/tensor_spec.h"
#include "proto/json/fault.h"

enum {
    ARCHIVES_KEPT = 4,                     /* that nobody uses */
    ARCHIVE_MEMBERS_KEPT = 32,             /* unpacked, of each */
    ARCHIVE_BYTES_KEPT = 256 * 1024 * 1024 /* unpacked, of each; a larger one is not kept */
};

struct archive;

/**
 * The archive in a regular file, `stat` being its fstat(). The descriptor stays the caller's.
 * Faults do not name the file. Null: the fault is filled; else archive_release() when done.
 */
struct archive *archive_acquire(int fd, const struct stat *stat, enum file_format format,
                                struct fault *fault);
void archive_release(struct archive *archive);

/** Its tensors, sorted. Of a .npz the names alone, until an entry is outlined. */
const struct tensor_list *archive_list(const struct archive *archive);

/** Fills an entry of the list. Returns 0 or -1. */
int archive_outline(struct archive *archive, struct tensor_entry *entry, struct fault *fault);

/**
 * The file in which the elements of an outlined entry lie from header.data_offset on: *fd becomes a
 * new descriptor, or -1 where that is the archive itself. Returns 0 or -1.
 */
int archive_unpack(struct archive *archive, const struct tensor_entry *entry, int *fd,
                   struct fault *fault);

#endif /* CLI_ARCHIVE_H */
