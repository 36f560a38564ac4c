/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows in NumPy's notation, such as "1:9,::2,:" or "...,-3:". slice_parse() reads the text;
 * slice_apply() computes offset, size and step for the extents of a tensor, exactly as NumPy does.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/wire/tensor_desc.h"

enum { SLICE_TEXT_MAX = 512 }; /* bytes: enough for 8 entries of three numbers of 20 digits */

struct slice_entry {
    bool has_start, has_stop;
    int64_t start, stop; /* negative numbers count from the end */
    int64_t step;        /* from 1 */
};

struct slice {
    uint32_t count;    /* number of entries in the text */
    uint32_t ellipsis; /* number of entries before "..."; without "...": all entries */
    struct slice_entry entries[TENSOR_RANK_MAX];
};

/* The window in one dimension: an entry of cfg.offset, of cfg.size and of cfg.sub_sample_step. */
struct slice_window {
    uint32_t offset, size, step;
};

/**
 * Parses a slice. Returns 0, or -1 with FAULT_INVALID_PARAMS without a pointer; the message says
 * where in the text the fault is and what is expected there. The caller prepends the slice's name.
 */
int slice_parse(const char *text, struct slice *slice, struct fault *fault);

/**
 * Computes the windows of a tensor of rank 1 to TENSOR_RANK_MAX with extents from 1 to 2^62.
 * Refuses empty windows, more entries than dimensions, and windows that exceed 32 bits. Returns 0,
 * or -1 with a fault like that of slice_parse().
 */
int slice_apply(const struct slice *slice, uint32_t rank, const int64_t *extents,
                struct slice_window windows[TENSOR_RANK_MAX], struct fault *fault);
