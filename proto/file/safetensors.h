/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers of .safetensors files: the length of the JSON (8 bytes, little-endian), then JSON,
 *
 *     {"__metadata__": {"any": "text"},
 *      "conv.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * then the tensors, little-endian, in C order, without gaps or overlap, up to the end of the file.
 * Refuses any other header, so that every reader finds the same tensors in an accepted file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "proto/file/tensor_list.h"
#include "proto/json/fault.h"

enum {
    SAFETENSORS_PREFIX = 8,
    SAFETENSORS_HEADER_MAX = 16 * 1024 * 1024, /* bytes of JSON, for about 100000 tensors */
    SAFETENSORS_VALUES_MAX = 1024 * 1024       /* number of JSON values */
};

/**
 * Reads the length of the JSON from the prefix of a file of `file_size` bytes; fewer than
 * SAFETENSORS_PREFIX bytes suffice if the file is shorter. Returns 0, or -1 with
 * FAULT_INVALID_PARAMS without a pointer.
 */
int safetensors_length(const unsigned char *prefix, uint64_t file_size, size_t *length,
                       struct fault *fault);

/**
 * Parses the `length` bytes of JSON of a file of `file_size` bytes into a sorted list. Tensors that
 * no job can move (8-byte dtypes, rank 0 or above 4, extents of 0) have a refusal. Returns 0, or -1
 * with *list empty and a fault like that of safetensors_length().
 */
int safetensors_parse(const char *text, size_t length, uint64_t file_size, struct tensor_list *list,
                      struct fault *fault);
