/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copies of input files in memory whose bytes encode their own positions. The bytes of all inputs
 * are numbered; in pass k, byte n has the value 1 + digit k of n in base 255. No byte is 0, which
 * is the value of a border. An output byte with the right value in all passes is a copy of the
 * right byte.
 */
#pragma once

#include <stdint.h>

#include "cli/tensor/tensor_file.h"

struct coded_input {
    char *path; /* owned */
    int fd;
    uint64_t header; /* size of the header, which is copied unchanged */
    uint64_t size;
    uint64_t first;          /* number n of the first byte after the header */
    enum file_format format; /* .npy or raw */
};

/** Copies the size and the header of a file. `first`: number n of the first byte after the header.
 * Returns 0, or -1 with the fault; coded_input_finish() is legal after both. */
int coded_input_init(struct coded_input *input, const char *path, enum file_format format,
                     uint64_t first, struct fault *fault);
/** Like coded_input_init(), for a .npy file in C order with dtype and shape of `header`. */
int coded_input_init_npy(struct coded_input *input, const char *path,
                         const struct npy_header *header, uint64_t first, struct fault *fault);
void coded_input_finish(struct coded_input *input);

/** Writes the values of pass `pass`. Returns 0, or -1 with the fault. */
int coded_input_fill(const struct coded_input *input, unsigned pass, struct fault *fault);

/** Returns the number of passes that distinguish `bytes` bytes, at least 1. */
unsigned coded_passes(uint64_t bytes);

/** Writes the values of the bytes from number `first` on. */
void coded_bytes(uint8_t *out, size_t count, uint64_t first, unsigned pass);
