/* SPDX-License-Identifier: BSD-3-Clause */
/* The Python dictionary in a .npy header. Private to proto/. */
#ifndef PROTO_NPY_LITERAL_H
#define PROTO_NPY_LITERAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fault.h"
#include "mli_types.h"

struct npy_literal {
    char descr[32]; /* as it stands there */
    bool fortran_order;
    uint32_t rank;
    uint32_t shape[MLI_MAX_RANK];
};

/**
 * Parses "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }" with the freedoms Python
 * leaves: any order, spacing, quotes and trailing commas; then white space up to the newline that
 * ends the header. Fault as npy_parse(). Returns 0 or -1.
 */
int npy_literal_parse(const char *text, size_t length, struct npy_literal *literal,
                      struct fault *fault);

#endif /* PROTO_NPY_LITERAL_H */
