/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A window as NumPy writes it: "1:9,::2,:" or "...,-3:". Text to plain data, and plain data to
 * offset, size and step once the extents are known, exactly as NumPy does it.
 */
#ifndef PROTO_SLICE_H
#define PROTO_SLICE_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_types.h"
#include "proto/json/fault.h"

enum { SLICE_TEXT_MAX = 512 }; /* bytes; four entries of 20 digits each have room */

struct slice_entry {
    bool has_start, has_stop;
    int64_t start, stop; /* negative ones count from the end */
    int64_t step;        /* from 1 */
};

struct slice {
    uint32_t count;    /* entries that are written */
    uint32_t ellipsis; /* entries before "...", where missing dimensions go; count: at the end */
    struct slice_entry entries[MLI_MAX_RANK];
};

/* What an entry selects of one dimension: entries of offset, size and sub_sample_step. */
struct slice_window {
    uint32_t offset, size, step;
};

/**
 * Returns 0, or -1 with a sentence to put behind the slice's name: where in the text, and what is
 * possible there. Code FAULT_INVALID_PARAMS, no pointer.
 */
int slice_parse(const char *text, struct slice *slice, struct fault *fault);

/**
 * Applies it to a tensor of `rank` dimensions from 1 to MLI_MAX_RANK, with these extents from 1 to
 * 2^62. Refuses what selects nothing, more entries than dimensions, and windows beyond 32 bits.
 * Returns 0 or -1 as slice_parse().
 */
int slice_apply(const struct slice *slice, uint32_t rank, const int64_t *extents,
                struct slice_window windows[MLI_MAX_RANK], struct fault *fault);

#endif /* PROTO_SLICE_H */
