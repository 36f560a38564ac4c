/* SPDX-License-Identifier: BSD-3-Clause */
/* The Python dictionary in a .npy header. Private to proto/. */
#ifndef PROTO_NPY_LITERAL_H
#define PROTO_NPY_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_types.h"
#include "proto/json/fault.h"

enum { NPY_RANK_MAX = 64, NPY_DTYPE_MAX = 32 }; /* as many dimensions as NumPy can have */

struct npy_literal {
    char descr[NPY_DTYPE_MAX]; /* as it stands there; of a structured dtype "structured" */
    bool fortran_order;
    uint32_t rank;
    uint64_t shape[NPY_RANK_MAX];
};

/* What is taken: what a tensor of ours can be, or all that NumPy writes. */
enum npy_scope { NPY_OURS, NPY_ANY };

/**
 * Parses "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }" with the freedoms Python
 * leaves: any order, spacing, quotes and trailing commas; then white space up to the newline that
 * ends the header. Fault as npy_parse(). Returns 0 or -1.
 */
int npy_literal_parse(const char *text, size_t length, enum npy_scope scope,
                      struct npy_literal *literal, struct fault *fault);

#endif /* PROTO_NPY_LITERAL_H */
