/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The geometry of a move: src, cfg and dst as checked 64-bit numbers. For each source dimension it
 * has the samples that the move writes, the samples that come from the source or are padding, and
 * the strides on both sides. All index arithmetic of the library that can overflow is in
 * geometry.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "mli_mov_api.h"

/* One source dimension of a move. Sample k is padded coordinate offset + k * step. */
struct axis {
    uint64_t count;      /* number of samples that the move writes */
    uint64_t step;       /* step of the subsampling */
    uint64_t lo, hi;     /* samples [lo, hi) come from the source, all others are zero */
    uint64_t first;      /* source coordinate of sample lo; meaningless if lo == hi */
    uint64_t src_stride; /* stride of the source, in elements */
    uint64_t dst_stride; /* stride of the destination, in elements */
    uint32_t dst_offset; /* destination coordinate of sample 0 */
    uint32_t dst_dim;    /* destination dimension that this source dimension becomes */
};

/* Bytes [begin, end) relative to a tensor's first element; empty if begin == end. */
struct extent {
    uint64_t begin, end;
};

struct geometry {
    const char *src_name, *dst_name; /* names of the tensors in messages: "src", "dst" of a move,
                                        "in", "out" of a kernel */
    uint32_t rank;
    uint32_t elem;    /* size of an element in bytes */
    uint64_t samples; /* samples that the move writes */
    bool reads;       /* true: the move reads the source; false: every sample is padding */
    bool pads;        /* true: some samples are padding */
    bool unplaced;    /* true: the tensors have no memory, so addresses are not compared */
    bool cfg_strides; /* true: cfg sets strides of the destination */
    bool nested; /* true: each stride of the destination exceeds the span of the dimensions inside
                    it, so no elements overlap */
    struct axis axis[MLI_MAX_RANK];   /* axes, indexed by source dimension */
    uint32_t order[MLI_MAX_RANK];     /* source dimensions by falling stride of the destination */
    uint32_t dst_shape[MLI_MAX_RANK]; /* shape, indexed by destination dimension */
    int32_t dst_stride[MLI_MAX_RANK]; /* strides, indexed by destination dimension; an extent of 1
                                         may have a stride of 0 */
    struct extent read, written;
};

/**
 * Computes the geometry. The caller has set the names and `unplaced`, and `src` has passed
 * tensor_check(). Reads only mem_stride of `dst`, and no pointer or capacity of either tensor.
 * Returns MLI_STATUS_BAD_FUNC_CFG, MLI_STATUS_BAD_TENSOR (a negative stride of dst) or
 * MLI_STATUS_NOT_ENGH_MEM (overflow).
 */
mli_status geometry_init(struct geometry *g, const mli_tensor *src, const mli_mov_cfg_t *cfg,
                         const mli_tensor *dst);

/** Checks that the written elements do not overlap one another. */
mli_status geometry_check_written(const struct geometry *g);

/**
 * Makes the checks that need neither pointers nor capacities: each tensor fits a capacity of 32
 * bits (else MLI_STATUS_NOT_ENGH_MEM), and geometry_check_written().
 */
mli_status geometry_check_spans(const struct geometry *g);

/**
 * Returns whether the move accesses any of the `size` bytes at `at`. If `written` is true, `tensor`
 * is dst and the move writes; otherwise `tensor` is src and the move reads.
 */
bool geometry_accesses(const struct geometry *g, const mli_tensor *tensor, bool written,
                       const void *at, uint64_t size);

/**
 * Checks the bytes that the move accesses against the capacities, and that src and dst do not
 * overlap.
 */
mli_status geometry_check_memory(const struct geometry *g, const mli_tensor *src,
                                 const mli_tensor *dst);
