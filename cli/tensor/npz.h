/* SPDX-License-Identifier: BSD-3-Clause */
/* .npz files: zip archives of .npy files, stored or deflated. In a build without zlib,
 * npz_absent.c replaces npz.c and refuses .npz files. Faults do not name the file. */
#pragma once

#include <stdint.h>

#include "proto/file/tensor_list.h"
#include "proto/json/fault.h"

struct npz;

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
 * Unpacks the member of an entry, which npz_outline() has filled, into a memfd that can neither
 * shrink nor grow. The result is a whole .npy file. ^C ends the unpacking. Returns the descriptor,
 * which the caller closes, or -1 with the fault.
 */
int npz_extract(struct npz *npz, const struct tensor_entry *entry, struct fault *fault);
