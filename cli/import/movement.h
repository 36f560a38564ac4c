/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The data movement of a model, in eight kinds that ONNX and TFLite have in common. This is the
 * main header of the folder. Data flow:
 *
 *     struct model (cli/model) -> onnx_nodes.c, tflite_nodes.c   one movement for each output of a
 *                                                                node, or the reason for none
 *         struct movement -> element.c    the expected result, element by element
 *                         -> move.c       moves with strides, of any rank
 *                              -> fold.c  moves of at most 4 dimensions, as libmli does them
 *                                   -> case_file.c   jobs of a job file
 *     import.c groups the movements of a graph into cases; import_report.c lists all nodes
 *
 * element.c and move.c compute each result independently: a job passes only if both agree.
 *
 * To add an operator, start here: read it in onnx_nodes.c or tflite_nodes.c. To add a kind of
 * movement: extend enum movement_kind, element.c and move.c.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/model.h"

enum {
    MOVEMENT_RANK_MAX = 8,
    MOVEMENT_ELEMENT_MAX = 8, /* bytes of an element */
    MOVEMENT_REASON_MAX = 256
};

/* Larger tensors are refused: the expected result is computed in memory. */
#define MOVEMENT_BYTES_MAX (UINT64_C(1) << 30)

enum movement_kind {
    MOVEMENT_COPY,      /* all elements in order, in a new shape */
    MOVEMENT_TRANSPOSE, /* result dimension i is source dimension perm[i] */
    MOVEMENT_SLICE,     /* result[i] = source[begin[i] + i * step[i]] */
    MOVEMENT_CONCAT,    /* all sources, one after the other along `axis` */
    MOVEMENT_PAD,  /* begin[i] border elements before the source, the rest after; < 0: cut off */
    MOVEMENT_TILE, /* result[i] = source[i mod extent] */
    MOVEMENT_DEPTH_TO_SPACE,
    MOVEMENT_SPACE_TO_DEPTH
};

/* Layout, and the channel in the deeper tensor that has element (row, column, c) of a block. */
enum movement_layout {
    MOVEMENT_NHWC, /* channel = (row * block + column) * channels + c */
    MOVEMENT_DCR,  /* NCHW, channel = (row * block + column) * channels + c */
    MOVEMENT_CRD   /* NCHW, channel = (c * block + row) * block + column */
};

/* The border of a pad. */
enum movement_border {
    MOVEMENT_FILL,     /* the value `fill` */
    MOVEMENT_EDGE,     /* the nearest element of the source */
    MOVEMENT_REFLECT,  /* the source mirrored, without repeating its outermost elements */
    MOVEMENT_SYMMETRIC /* the source mirrored, with its outermost elements */
};

/* A source of a movement: a tensor, and a shape that may differ from its shape by extents of 1. */
struct movement_source {
    size_t tensor;
    uint64_t shape[MOVEMENT_RANK_MAX];
};

/* A movement makes one tensor. Extents are at least 1. */
struct movement {
    enum movement_kind kind;
    uint32_t rank; /* number of dimensions of the sources and of `shape` */
    struct movement_source *sources;
    size_t source_count;
    uint64_t shape[MOVEMENT_RANK_MAX]; /* shape of the result */
    size_t output;                     /* the tensor that the movement makes */
    uint32_t result_rank;              /* rank and shape that the tensor `output` gets */
    uint64_t result[MOVEMENT_RANK_MAX];
    const struct model_dtype *dtype;
    uint32_t perm[MOVEMENT_RANK_MAX];
    int64_t begin[MOVEMENT_RANK_MAX];
    int64_t step[MOVEMENT_RANK_MAX]; /* steps of a slice; not 0 */
    uint32_t axis;
    uint64_t block;
    enum movement_layout layout;
    enum movement_border border;
    uint8_t fill[MOVEMENT_ELEMENT_MAX]; /* MOVEMENT_FILL: the element of the border */
};

/* The movements of a node. */
struct movement_list {
    struct movement *movements; /* one for each output that is used */
    size_t count;
    char reason[MOVEMENT_REASON_MAX]; /* the reason why the list is empty; or empty */
    bool unknown; /* true: the reason is an operand whose type or shape the model lacks */
};

/**
 * Reads a node. Fills the list with movements or a reason. An output that has no shape in the
 * model gets the shape of the result. Returns 0, or -1 (no memory).
 */
int movement_read(struct model *model, const struct model_node *node, struct movement_list *list);
void movement_list_finish(struct movement_list *list);

/** Returns the product of the first `rank` extents. */
static inline uint64_t movement_elements(uint32_t rank, const uint64_t *shape)
{
    uint64_t elements = 1;

    for (uint32_t d = 0; d < rank; d++)
        elements *= shape[d];
    return elements;
}
