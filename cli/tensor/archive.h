/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Archives: files of several tensors (.npz, .safetensors, and models). Jobs often read many tensors
 * of one file, or one tensor several times, so the most recent archives stay in a cache, with their
 * lists and unpacked members, until the file changes. All functions are thread-safe.
 */
#pragma once

#include <sys/stat.h>

#include "proto/file/job_spec.h"
#include "proto/file/tensor_list.h"
#include "proto/json/fault.h"

struct archive;

/**
 * Opens the archive in a regular file, or takes it from the cache. `stat` is the result of fstat()
 * for the file; the caller keeps the descriptor. Returns null with a fault that does not name the
 * file, or an archive for archive_release().
 */
struct archive *archive_acquire(int fd, const struct stat *stat, enum file_format format,
                                struct fault *fault);
void archive_release(struct archive *archive);

/** Returns the tensors, sorted by name. Tensors of a .npz have only names until archive_outline().
 */
const struct tensor_list *archive_list(const struct archive *archive);

/** Fills an entry of the list with dtype, shape and size. Returns 0, or -1 with the fault. */
int archive_outline(struct archive *archive, struct tensor_entry *entry, struct fault *fault);

/**
 * Unpacks an entry that archive_outline() has filled. *fd becomes a new descriptor of a file that
 * has the elements from header.data_offset on, or -1 if that file is the archive itself. Returns
 * 0, or -1 with the fault.
 */
int archive_unpack(struct archive *archive, const struct tensor_entry *entry, int *fd,
                   struct fault *fault);
