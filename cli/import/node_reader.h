/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Functions for the readers of nodes: operands, attributes and results. A function that returns
 * bool returns false after node_refuse(): the calling reader must then return false, too.
 */
#pragma once

#include "cli/import/movement.h"

struct node_reader {
    struct model *model;
    const struct model_node *node;
    struct movement_list *list;
    bool no_memory;
};

/* A list of integers of a node, such as axes; `count` -1: absent. */
struct node_ints {
    int count;
    int64_t values[2 * MOVEMENT_RANK_MAX];
};

/** Sets the reason of the refusal, after the name of the operator. Returns false. */
bool node_refuse(struct node_reader *reader, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** Returns whether the node has input `i`. */
bool node_has(const struct node_reader *reader, size_t i);

/**
 * Adds a movement of kind `kind` with the source input `i`, and with the rank and the shape of
 * this input. Returns null after a refusal.
 */
struct movement *node_movement(struct node_reader *reader, enum movement_kind kind, size_t i);

/** Reads the integers of input `i`, which must be a constant. `what` is its name in messages. */
bool node_input_ints(struct node_reader *reader, size_t i, const char *what,
                     struct node_ints *ints);
/** Reads the integers of input `i`, or else of the attribute; the node may have neither. */
bool node_ints(struct node_reader *reader, size_t i, const char *attribute, struct node_ints *ints);
/** Returns an integer attribute, or `absent`. */
int64_t node_int(const struct node_reader *reader, const char *attribute, int64_t absent);

/** Checks an axis from -rank to rank - 1, and sets *out to the same axis from 0 to rank - 1. */
bool node_axis(struct node_reader *reader, int64_t axis, uint32_t rank, uint32_t *out);

/** Copies the element of input `i`, a constant of one element, to the fill of the movement. */
bool node_fill(struct node_reader *reader, struct movement *movement, size_t i);

/**
 * Makes output `i` of the node the result of a movement. The shape `result` must equal the shape
 * of the output in the model.
 */
bool node_result(struct node_reader *reader, struct movement *movement, size_t i, uint32_t rank,
                 const uint64_t *result);
/** Like node_result(); `result` is the shape of the movement. */
bool node_result_same(struct node_reader *reader, struct movement *movement, size_t i);
/** Adds a copy of input 0 in the shape that the model gives output 0. */
bool node_copy_as_declared(struct node_reader *reader);
/** Reads the shape that the model gives output 0. Returns false, without a refusal, if unknown. */
bool node_declared(const struct node_reader *reader, struct node_ints *shape);

/**
 * Adds slices of input `i` along `axis`, one for each output. `sizes`: the extents of the slices,
 * one of which may be -1; absent: equal parts. `drop`: the results have no dimension `axis`.
 */
bool node_split(struct node_reader *reader, size_t i, int64_t axis, struct node_ints *sizes,
                bool drop);
/** Adds a permutation of input 0; an absent `perm` reverses the order of the dimensions. */
bool node_transpose(struct node_reader *reader, const struct node_ints *perm);
/** Adds the concatenation of the inputs; `stack`: along a new dimension. */
bool node_concat(struct node_reader *reader, int64_t axis, bool stack);
/** Adds input 0 repeated to `shape`; the last dimensions of `shape` are those of the input. */
bool node_expand(struct node_reader *reader, const struct node_ints *shape);
/** Adds input 0 repeated repeats->values[d] times along each dimension d. */
bool node_tile(struct node_reader *reader, const struct node_ints *repeats);
/** Adds a depth-to-space or space-to-depth of input 0. */
bool node_blocks(struct node_reader *reader, enum movement_kind kind, enum movement_layout layout,
                 int64_t block);
/** Sets dimension `d` of a slice, with Python's rules for begin and end. */
bool node_range(struct node_reader *reader, struct movement *movement, uint32_t d, int64_t begin,
                int64_t end, int64_t step);

/** Checks that the source of a pad has the elements that its border repeats. */
bool node_check_mirror(struct node_reader *reader, const struct movement *movement);

/* An operator of a format, and its reader. The last entry of a table has no name. */
struct node_operator {
    const char *name;
    bool (*read)(struct node_reader *reader);
};
extern const struct node_operator onnx_operators[], tflite_operators[];
