/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Big-endian .npy files. All other code sees little-endian elements, on every host: before the
 * first access to the elements, a big-endian file is replaced by a little-endian copy in memory.
 */
#ifndef CLI_LITTLE_ENDIAN_H
#define CLI_LITTLE_ENDIAN_H

#include "cli/tensor/tensor_file.h"
#include "proto/json/fault.h"

/**
 * Copies a big-endian .npy file, header included, into a little-endian file in memory of the same
 * size. Refuses files above half of the memory; ^C ends the copy. Returns a descriptor, which the
 * caller closes, or -1 with the fault.
 */
int little_endian_copy(const struct tensor_file *file, struct fault *fault);

/**
 * Replaces the descriptor of a big-endian file by that of little_endian_copy(). Does nothing for
 * other files. Returns 0, or -1 with the fault.
 */
int little_endian_replace(struct tensor_file *file, struct fault *fault);

#endif /* CLI_LITTLE_ENDIAN_H */
