/* SPDX-License-Identifier: BSD-3-Clause */
/* Comparison of two tensors, bit by bit. */
#pragma once

#include <stdint.h>

#include "cli/diagnose/diagnose.h"
#include "cli/diagnose/differing.h"
#include "cli/tensor/dtype.h"
#include "cli/tensor/tensor_file.h"
#include "proto/file/job_spec.h"
#include "proto/json/fault.h"
#include "proto/json/jsonw.h"

enum { DIFFERENCE_VALUE_MAX = SHA256_TEXT_SIZE }; /* the longest value is a digest */

/*
 * The difference of two tensors a and b, of the first kind that applies: the size of a raw file,
 * the dtype, the shape, the elements, other bytes of the files, the quantisation parameters. If b
 * is known by its digest only, the kind is DIFFERENCE_DIGEST instead of these.
 */
struct difference {
    enum {
        DIFFERENCE_NONE = 0,
        DIFFERENCE_SIZE,
        DIFFERENCE_DTYPE,
        DIFFERENCE_SHAPE,
        DIFFERENCE_VALUES,
        DIFFERENCE_BYTES,
        DIFFERENCE_DIGEST,
        DIFFERENCE_PARAMS
    } kind;
    uint64_t a_bytes, b_bytes; /* sizes of both files, for DIFFERENCE_SIZE and DIFFERENCE_BYTES */
    struct npy_header a, b;
    /* What differs, as text: sizes, dtypes, ...; the first elements, bytes or parameters. */
    char a_value[DIFFERENCE_VALUE_MAX], b_value[DIFFERENCE_VALUE_MAX];
    /* For DIFFERENCE_VALUES: */
    uint32_t at[TENSOR_RANK_MAX]; /* coordinate of the first different element */
    uint64_t count, elements; /* numbers of different elements (or bytes), and of all elements */
    struct differing differing;
    struct diagnosis diagnosis; /* after compare_diagnose() */
    uint64_t byte_at;           /* DIFFERENCE_BYTES: position of the first different byte */
    char param[32]; /* DIFFERENCE_PARAMS: the first of `count` that differ, such as "scale[2]" */
};

/**
 * Compares two tensors without reading elements: DIFFERENCE_NONE, _DTYPE or _SHAPE. If `b` is a
 * raw file without a description (its rank is 0): DIFFERENCE_SIZE, because the sizes differ.
 */
void compare_outlines(const struct tensor_file *a, const struct tensor_file *b,
                      struct difference *difference);

/* Maximum number of differing elements that a report lists. */
enum { COMPARE_FIRST = 10 };

/**
 * Compares two open tensors, and keeps the first `first` differing elements. Returns 0 with
 * *difference set, or -1 with the fault.
 */
int compare_tensors(struct tensor_file *a, struct tensor_file *b, uint32_t first,
                    struct difference *difference, struct fault *fault);

/** Describes the elements of a mapped tensor. */
struct elements compare_elements(const struct tensor_file *file);

/* Names of the tensors in a diagnosis. */
struct compare_names {
    const char *got, *wanted; /* if `got` is null, sentences begin with "every value is" instead */
};

/**
 * Finds the cause of a difference of kind DIFFERENCE_VALUES between the mapped tensors `a`, which
 * is wrong, and `b`; does nothing for other kinds. `move`: the move that made `a`, or null. Returns
 * 0, or -1 with the fault if a file has shrunk.
 */
int compare_diagnose(const struct tensor_file *a, const struct tensor_file *b,
                     const struct compare_names *names, const struct diagnose_move *move,
                     struct difference *difference, struct fault *fault);

/**
 * Compares `size` bytes of two open files, each from its header.data_offset on. Sets
 * header.data_size of both to `size` and maps them. Returns 0 with *difference set (DIFFERENCE_NONE
 * or _BYTES), or -1 with the fault.
 */
int compare_bytes(struct tensor_file *a, struct tensor_file *b, uint64_t size,
                  struct difference *difference, struct fault *fault);

/**
 * Compares the quantisation parameters of two tensors; their types only if both have one. Missing
 * parameters are neutral. Sets *difference to DIFFERENCE_NONE or _PARAMS.
 */
void compare_params(const struct tensor_desc *a, const struct tensor_desc *b,
                    struct difference *difference);

/** Fills *difference, of kind DIFFERENCE_DIGEST, for two digests that differ. */
void difference_of_digests(const uint8_t a[SHA256_SIZE], const uint8_t b[SHA256_SIZE],
                           struct difference *difference);

enum { COMPARE_TEXT_MAX = 512, COMPARE_CAUSE_MAX = 2 * DIAGNOSIS_TEXT_MAX + 8 };
/**
 * Writes a difference as a sentence, such as "...: 14 in A, 99 in B". `a` and `b` are the names of
 * the tensors. If `a` is null, the first one is a result and the second one the expected tensor:
 * "...: got 14, expected 99 in golden.npy" (`b` may be null then). Returns `out`.
 */
const char *difference_text(const struct difference *difference, const char *a, const char *b,
                            char out[COMPARE_TEXT_MAX]);

/**
 * Writes the diagnosis with "; " before it, as an addition to a sentence; empty if there is no
 * diagnosis. Returns `out`.
 */
const char *difference_cause(const struct difference *difference, char out[COMPARE_CAUSE_MAX]);

/** Prints the diagnosis, if there is one. */
void difference_print_cause(const struct print_style *style, const struct difference *difference);

/** Prints what follows the sentence about a difference of kind DIFFERENCE_VALUES: region, planes,
 * the first elements, diagnosis. `a` and `b` are the names of the two tensors. */
void difference_print_details(const struct print_style *style, const struct difference *difference,
                              const char *a, const char *b);

/** Prints `before` and a sentence of difference_text(). Colours the whole sentence if `same`; else
 * the words up to "differ", or the first word if "differ" is missing. */
void difference_print(const struct print_style *style, const char *before, bool same,
                      const char *text);

/** Writes a difference as member `key`; null for DIFFERENCE_NONE. */
void difference_json(struct jsonw *w, const char *key, const struct difference *difference);
