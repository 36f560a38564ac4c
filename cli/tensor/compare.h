/* SPDX-License-Identifier: BSD-3-Clause */
/* Two tensors compared, bit for bit. */
#ifndef CLI_COMPARE_H
#define CLI_COMPARE_H

#include <stdint.h>

#include "cli/tensor/dtype.h"
#include "cli/tensor/tensor_file.h"
#include "proto/file/sha256_text.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

/*
 * The first thing that differs: the size of a raw file, the dtype, the shape, else elements, else
 * bytes of the files. Of a tensor that is known by its digest only, the digests.
 */
struct difference {
    enum {
        DIFFERENCE_NONE = 0,
        DIFFERENCE_SIZE,
        DIFFERENCE_DTYPE,
        DIFFERENCE_SHAPE,
        DIFFERENCE_VALUES,
        DIFFERENCE_BYTES,
        DIFFERENCE_DIGEST
    } kind;
    uint64_t a_bytes, b_bytes; /* DIFFERENCE_SIZE; both the same for DIFFERENCE_BYTES */
    struct npy_header a, b;
    /* DIFFERENCE_VALUES */
    uint32_t at[MLI_MAX_RANK]; /* the first, in the order of the coordinates */
    char a_value[DTYPE_TEXT_MAX], b_value[DTYPE_TEXT_MAX];
    uint64_t count, elements; /* that differ (bytes for DIFFERENCE_BYTES); in all */
    /* DIFFERENCE_BYTES: the position of the first one, and its two values */
    uint64_t byte_at;
    uint8_t a_byte, b_byte;
    /* DIFFERENCE_DIGEST */
    uint8_t a_digest[SHA256_SIZE], b_digest[SHA256_SIZE];
};

/** Compares what the headers say; DIFFERENCE_NONE or _DTYPE or _SHAPE. */
void compare_headers(const struct npy_header *a, const struct npy_header *b,
                     struct difference *difference);

/**
 * Compares what is known without the elements; DIFFERENCE_SIZE where `b` is a raw file that was
 * not described (its rank is 0), as no tensor like `a` can be in it.
 */
void compare_outlines(const struct tensor_file *a, const struct tensor_file *b,
                      struct difference *difference);

/** Compares two open tensors. Returns 0 with *difference filled, or -1 where one can't be read. */
int compare_tensors(struct tensor_file *a, struct tensor_file *b, struct difference *difference,
                    struct fault *fault);

/**
 * Compares `size` bytes of two open files; the bytes of a file begin at its header.data_offset.
 * Sets header.data_size of both to `size` and maps them. Returns 0 with *difference
 * (DIFFERENCE_NONE or _BYTES) filled, or -1 if a file cannot be read.
 */
int compare_bytes(struct tensor_file *a, struct tensor_file *b, uint64_t size,
                  struct difference *difference, struct fault *fault);

/** Two digests that differ. */
void difference_of_digests(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE],
                           struct difference *difference);

enum { COMPARE_TEXT_MAX = 320 };
/** A sentence; `a` and `b` are what the two are called (`b` may be null of a digest). Returns
 * `out`.
 */
const char *difference_text(const struct difference *difference, const char *a, const char *b,
                            char out[COMPARE_TEXT_MAX]);

/**
 * The same of a result `a` that was expected to be `b`: "got 14, expected 99 in golden.npy".
 * `golden` is the name of b's file, or null. Returns `out`.
 */
const char *difference_expected(const struct difference *difference, const char *golden,
                                char out[COMPARE_TEXT_MAX]);

/**
 * Prints `before` and such a sentence. What there is to be seen at once has a colour: all of "the
 * same", else up to "differ", or the first word; file names come behind it.
 */
void difference_print(const struct print_style *style, const char *before, bool same,
                      const char *text);

/** As member `key`; null where there is no difference. */
void difference_json(struct jsonw *w, const char *key, const struct difference *difference);

#endif /* CLI_COMPARE_H */
