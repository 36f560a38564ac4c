/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The geometry of a move: src, cfg and dst turned into checked 64-bit numbers. It answers for each
 * source dimension which samples are written, which of them come from the source and which are
 * padding, and how far apart they lie on both sides. All index arithmetic of the library that can
 * overflow happens here.
 */
#ifndef MLI_GEOMETRY_H
#define MLI_GEOMETRY_H

#include <stdbool.h>
#include <stdint.h>

#include "mli_mov_api.h"

/* One source dimension of a move. Sample k is padded coordinate offset + k * step. */
struct axis {
    uint64_t count;      /* samples written */
    uint64_t step;       /* of the subsampling */
    uint64_t lo, hi;     /* samples [lo, hi) come from the source, the others are zero */
    uint64_t first;      /* source coordinate of sample lo; meaningless where lo == hi */
    uint64_t src_stride; /* in elements */
    uint64_t dst_stride; /* in elements */
    uint32_t dst_offset; /* destination coordinate of sample 0 */
    uint32_t dst_dim;    /* the destination dimension it becomes */
};

/* Bytes [begin, end) relative to a tensor's first element; empty where begin == end. */
struct extent {
    uint64_t begin, end;
};

struct geometry {
    const char *src_name,
        *dst_name; /* in messages: "src", "dst" of a move, "in", "out" of a kernel */
    uint32_t rank;
    uint32_t elem;                    /* bytes of an element */
    uint64_t samples;                 /* written in all */
    bool reads;                       /* false: every sample is padding */
    bool pads;                        /* some samples are padding */
    bool cfg_strides;                 /* cfg has set strides of the destination */
    bool nested;                      /* each stride of the destination reaches over all that the
                                         dimensions inside it span, so that no elements overlap */
    struct axis axis[MLI_MAX_RANK];   /* by source dimension */
    uint32_t order[MLI_MAX_RANK];     /* source dimensions by falling stride of the destination */
    uint32_t dst_shape[MLI_MAX_RANK]; /* by destination dimension */
    int32_t dst_stride[MLI_MAX_RANK]; /* by destination dimension, none is 0 */
    struct extent read, written;
};

/**
 * Computes the geometry. The names are set already and `src` has passed tensor_check(); of `dst`
 * only mem_stride is looked at, and no pointer or capacity of either. MLI_STATUS_BAD_FUNC_CFG,
 * MLI_STATUS_BAD_TENSOR (a negative stride of dst) or MLI_STATUS_NOT_ENGH_MEM (overflow).
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

/** Checks what is touched against the capacities, and that src and dst are apart. */
mli_status geometry_check_memory(const struct geometry *g, const mli_tensor *src,
                                 const mli_tensor *dst);

#endif /* MLI_GEOMETRY_H */
