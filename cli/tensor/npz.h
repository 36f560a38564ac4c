/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * .npz files: zip archives of .npy files, stored or deflated. This is all that knows of libzip;
 * without it npz_absent.c refuses to open one. Faults do not name the file.
 */
#ifndef CLI_NPZ_H
#define CLI_NPZ_H

#include <stdint.h>

#include "proto/file/tensor_list.h"
#include "proto/json/fault.h"

struct npz;

/**
 * Opens the archive in a regular file, whose descriptor stays the caller's, and fills an empty list
 * with the names of its tensors, sorted. Null with the fault filled, and *list empty.
 */
struct npz *npz_open(int fd, struct tensor_list *list, struct fault *fault);
void npz_close(struct npz *npz);

/** Fills an entry with what the member's header says. Returns 0 or -1. */
int npz_outline(struct npz *npz, struct tensor_entry *entry, struct fault *fault);

/**
 * Unpacks a member that was outlined: all of it, a .npy file, into a memfd of exactly its size,
 * which can neither shrink nor grow. ^C ends it. Returns the descriptor or -1.
 */
int npz_extract(struct npz *npz, const struct tensor_entry *entry, struct fault *fault);

#endif /* CLI_NPZ_H */
