/* SPDX-License-Identifier: BSD-3-Clause */
/* The Python dictionary in a .npy header. Private to proto/. */
#ifndef PROTO_NPY_LITERAL_H
#define PROTO_NPY_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "mli_types.h"
#include "proto/json/fault.h"

enum { NPY_RANK_MAX = 64, NPY_DTYPE_MAX = 32 }; /* NumPy's maximum rank; bytes of a dtype */

struct npy_literal {
    char descr[NPY_DTYPE_MAX]; /* the dtype as written; "structured" for a structured dtype */
    bool fortran_order;
    uint32_t rank;
    uint64_t shape[NPY_RANK_MAX];
};

/* The accepted literals: those of tensors that can be moved, or all of NumPy. */
enum npy_scope { NPY_OURS, NPY_ANY };

/**
 * Parses "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }" in any order, with any
 * spacing, either kind of quotes and optional trailing commas, and the white space and newline
 * that end the header. Returns 0, or -1 with a fault as npy_parse().
 */
int npy_literal_parse(const char *text, size_t length, enum npy_scope scope,
                      struct npy_literal *literal, struct fault *fault);

#endif /* PROTO_NPY_LITERAL_H */
