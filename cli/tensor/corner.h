/* SPDX-License-Identifier: BSD-3-Clause */
/* The corner of a tensor: the first few elements along every dimension, for people. */
#ifndef CLI_CORNER_H
#define CLI_CORNER_H

#include <stdint.h>

#include "cli/tensor/tensor_file.h"
#include "cli/term/print.h"
#include "proto/json/jsonw.h"

struct corner {
    const struct tensor_file *file; /* mapped */
    uint32_t shape[MLI_MAX_RANK];   /* shape of the corner, not of the file */
};

/** Sets the corner to at most `most` elements along each dimension. */
void corner_init(struct corner *corner, const struct tensor_file *file, uint32_t most);

/** Prints a table of the last two dimensions for each coordinate of the outer dimensions. */
void corner_print(const struct corner *corner, const struct print_style *style);

/** Writes {"shape": [...], "values": nested arrays} as member `key`. */
void corner_json(const struct corner *corner, struct jsonw *w, const char *key);

#endif /* CLI_CORNER_H */
