/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Headers of .safetensors files: 8 bytes that say how long it is (little endian), then JSON,
 *
 *     {"__metadata__": {"any": "text"},
 *      "conv.weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]}, ...}
 *
 * then the tensors, little endian, in C order, without a gap and without overlap up to the end of
 * the file. Everything else is refused with a sentence: what stands here is read by programs that
 * trust it. The same tensors must come out of any reader.
 */
#ifndef PROTO_SAFETENSORS_H
#define PROTO_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "proto/file/tensor_list.h"
#include "proto/json/fault.h"

enum {
    SAFETENSORS_PREFIX = 8,
    SAFETENSORS_HEADER_MAX = 16 * 1024 * 1024, /* bytes of JSON: some 100000 tensors */
    SAFETENSORS_VALUES_MAX = 2 * 1024 * 1024   /* values in it */
};

/**
 * How many bytes of JSON follow the prefix of a file of `file_size` bytes, of which there must be
 * as many as the file has. Fault code FAULT_INVALID_PARAMS, no pointer. Returns 0 or -1.
 */
int safetensors_length(const unsigned char *prefix, uint64_t file_size, size_t *length,
                       struct fault *fault);

/**
 * Parses the `length` bytes of JSON of a file of `file_size` bytes into an empty list, sorted.
 * Tensors that no job can take (8-byte dtypes, rank 0 or above 4, extents of 0) are in it with
 * their refusal. Fault as above. Returns 0, or -1 with *list empty.
 */
int safetensors_parse(const char *text, size_t length, uint64_t file_size, struct tensor_list *list,
                      struct fault *fault);

#endif /* PROTO_SAFETENSORS_H */
