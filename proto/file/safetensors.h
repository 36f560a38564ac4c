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
    SAFETENSORS_HEADER_MAX = 100 * 1000 * 1000, /* bytes of JSON: the limit of the format */
    SAFETENSORS_VALUES_MAX = 8 * 1024 * 1024    /* number of JSON values, for 1000000 tensors */
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
 * no job can move (dtypes of less than 8 bits, rank 0 or above 4, extents of 0) have a refusal.
 * Returns 0, or -1 with *list empty and a fault like that of safetensors_length().
 */
int safetensors_parse(const char *text, size_t length, uint64_t file_size, struct tensor_list *list,
                      struct fault *fault);
