/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The operators of ONNX that move data (https://onnx.ai/onnx/operators/). Older versions of an
 * operator have attributes where newer versions have inputs; both forms are read.
 */
#include <inttypes.h>
#include <string.h>

#include "cli/import/node_reader.h"

static const char *text_of(const struct node_reader *reader, const char *name, const char *absent)
{
    const struct model_attribute *attribute = model_attribute(reader->node, name);

    return attribute && attribute->kind == MODEL_TEXT ? attribute->text : absent;
}

/* Copies a tensor, or each tensor of a sequence. */
static bool read_identity(struct node_reader *reader)
{
    for (size_t i = 0; i < reader->node->input_count; i++) {
        struct movement *movement = node_movement(reader, MOVEMENT_COPY, i);

        if (!movement || !node_result_same(reader, movement, i))
            return false;
    }
    return node_has(reader, 0) || node_refuse(reader, "input 0 is missing");
}

static bool read_transpose(struct node_reader *reader)
{
    struct node_ints perm;

    return node_ints(reader, 0, "perm", &perm) && node_transpose(reader, &perm);
}

static bool read_slice(struct node_reader *reader)
{
    struct movement *movement = node_movement(reader, MOVEMENT_SLICE, 0);
    struct node_ints starts, ends, axes, steps;
    uint32_t seen = 0;

    if (!movement || !node_ints(reader, 1, "starts", &starts) ||
        !node_ints(reader, 2, "ends", &ends) || !node_ints(reader, 3, "axes", &axes) ||
        !node_ints(reader, 4, "steps", &steps))
        return false;
    if (starts.count < 0 || starts.count != ends.count ||
        (axes.count >= 0 && axes.count != starts.count) ||
        (steps.count >= 0 && steps.count != starts.count))
        return node_refuse(reader, "starts, ends, axes and steps have different lengths");
    for (uint32_t d = 0; d < movement->rank; d++)
        movement->step[d] = 1;
    for (int k = 0; k < starts.count; k++) {
        const int64_t step = steps.count < 0 ? 1 : steps.values[k];
        int64_t start = starts.values[k];
        uint32_t d;

        if (!node_axis(reader, axes.count < 0 ? k : axes.values[k], movement->rank, &d))
            return false;
        /* ONNX moves a start before the first sample to that sample, even for negative steps. */
        if (start < -(int64_t)movement->sources[0].shape[d])
            start = 0;
        if (!node_range(reader, movement, d, start, ends.values[k], step))
            return false;
        if (seen & 1u << d)
            return node_refuse(reader, "axis %" PRIu32 " is given twice", d);
        seen |= 1u << d;
    }
    return node_result_same(reader, movement, 0);
}

static bool read_concat(struct node_reader *reader)
{
    return node_concat(reader, node_int(reader, "axis", 1), false); /* the default of version 1 */
}

static bool read_split(struct node_reader *reader)
{
    struct node_ints sizes;

    return node_ints(reader, 1, "split", &sizes) &&
           node_split(reader, 0, node_int(reader, "axis", 0), &sizes, false);
}

/* Sets the border of a pad. `pads` has the width before each axis, then the width after each axis;
 * absent `axes` are all dimensions. */
static bool set_pads(struct node_reader *reader, struct movement *movement,
                     const struct node_ints *pads, const struct node_ints *axes)
{
    const int count = axes->count < 0 ? (int)movement->rank : axes->count;

    if (pads->count != 2 * count)
        return node_refuse(reader, "%d pads; %d are needed", pads->count, 2 * count);
    for (int k = 0; k < count; k++) {
        const int64_t before = pads->values[k], after = pads->values[count + k];
        uint32_t d;

        if (!node_axis(reader, axes->count < 0 ? k : axes->values[k], movement->rank, &d))
            return false;
        if (before < -INT32_MAX || before > INT32_MAX || after < -INT32_MAX || after > INT32_MAX)
            return node_refuse(reader, "a border of dimension %" PRIu32 " exceeds 31 bits", d);
        const int64_t extent = (int64_t)movement->sources[0].shape[d] + before + after;
        movement->begin[d] = before;
        movement->shape[d] = extent > 0 ? (uint64_t)extent : 0;
    }
    return true;
}

static bool read_pad(struct node_reader *reader)
{
    struct movement *movement = node_movement(reader, MOVEMENT_PAD, 0);
    const struct model_attribute *value = model_attribute(reader->node, "value");
    const char *mode = text_of(reader, "mode", "constant");
    struct node_ints pads, axes = {.count = -1};

    if (!movement)
        return false;
    movement->border = strcmp(mode, "edge") == 0      ? MOVEMENT_EDGE
                       : strcmp(mode, "reflect") == 0 ? MOVEMENT_REFLECT
                                                      : MOVEMENT_FILL;
    if (movement->border == MOVEMENT_FILL && strcmp(mode, "constant") != 0)
        return node_refuse(reader, "mode %.32s is not supported", mode);
    if (!node_ints(reader, 1, "pads", &pads))
        return false;
    if (pads.count < 0 && !node_ints(reader, 0, "paddings", &pads)) /* version 1 */
        return false;
    if (node_has(reader, 2) && !node_fill(reader, movement, 2))
        return false;
    if (node_has(reader, 3) && !node_input_ints(reader, 3, "axes", &axes))
        return false;
    if (value && value->kind == MODEL_FLOAT && value->f != 0) {
        if (movement->dtype->id != MODEL_FLOAT32)
            return node_refuse(reader, "the attribute value is neither 0 nor float32");
        const union {
            float value;
            uint32_t bits;
        } fill = {value->f};
        for (unsigned i = 0; i < sizeof(fill); i++)
            movement->fill[i] = (uint8_t)(fill.bits >> 8 * i);
    }
    return set_pads(reader, movement, &pads, &axes) &&
           (movement->border == MOVEMENT_FILL || node_check_mirror(reader, movement)) &&
           node_result_same(reader, movement, 0);
}

/* Adds a copy of input 0, and reads its shape. Returns false after a refusal. */
static bool shape_of(struct node_reader *reader, struct node_ints *shape)
{
    const struct movement *movement = node_movement(reader, MOVEMENT_COPY, 0);

    if (!movement)
        return false;
    shape->count = (int)movement->rank;
    for (uint32_t d = 0; d < movement->rank; d++)
        shape->values[d] = (int64_t)movement->shape[d];
    return true;
}

static bool end_copy(struct node_reader *reader, uint32_t rank, const int64_t *shape)
{
    uint64_t result[MOVEMENT_RANK_MAX];

    if (rank > MOVEMENT_RANK_MAX)
        return node_refuse(reader, "its result has %" PRIu32 " dimensions; at most %d can be moved",
                           rank, MOVEMENT_RANK_MAX);
    for (uint32_t d = 0; d < rank; d++)
        result[d] = (uint64_t)shape[d];
    return node_result(reader, &reader->list->movements[0], 0, rank, result);
}

/* Replaces an extent of -1 by the extent that remains, and zeros by the extents of the source. */
static bool complete_shape(struct node_reader *reader, const struct node_ints *source,
                           struct node_ints *shape)
{
    const bool zeros = node_int(reader, "allowzero", 0) != 0;
    int64_t elements = 1, known = 1;
    int open = -1;

    for (int d = 0; d < source->count; d++)
        elements *= source->values[d]; /* no overflow: at most MOVEMENT_BYTES_MAX */
    for (int d = 0; d < shape->count; d++) {
        if (shape->values[d] == 0 && !zeros && d < source->count)
            shape->values[d] = source->values[d];
        if (shape->values[d] == -1 && open < 0) {
            open = d;
            continue;
        }
        if (shape->values[d] < 1 || __builtin_mul_overflow(known, shape->values[d], &known))
            return node_refuse(reader, "extent %d of the new shape is %" PRId64, d,
                               shape->values[d]);
    }
    if (open >= 0)
        shape->values[open] = elements / known;
    return true;
}

static bool read_reshape(struct node_reader *reader)
{
    struct node_ints source, shape;

    /* The input with the new shape is not read if the model has the shape of the result. */
    if (node_has(reader, 1) && node_declared(reader, &shape))
        return node_copy_as_declared(reader);
    if (!shape_of(reader, &source) || !node_ints(reader, 1, "shape", &shape))
        return false;
    if (shape.count < 0)
        return node_refuse(reader, "shape is missing");
    return complete_shape(reader, &source, &shape) &&
           end_copy(reader, (uint32_t)shape.count, shape.values);
}

/* Reads axes of `rank` dimensions as a set of bits; the set of absent axes is empty. */
static bool read_axes(struct node_reader *reader, const struct node_ints *axes, uint32_t rank,
                      uint32_t *set)
{
    *set = 0;
    for (int k = 0; k < axes->count; k++) {
        uint32_t d;

        if (!node_axis(reader, axes->values[k], rank, &d))
            return false;
        if (*set & 1u << d)
            return node_refuse(reader, "axis %" PRIu32 " is given twice", d);
        *set |= 1u << d;
    }
    return true;
}

static bool read_squeeze(struct node_reader *reader)
{
    struct node_ints source, axes;
    uint32_t set, kept = 0;

    if (!shape_of(reader, &source) || !node_ints(reader, 1, "axes", &axes) ||
        !read_axes(reader, &axes, (uint32_t)source.count, &set))
        return false;
    for (int d = 0; d < source.count; d++) {
        if (axes.count < 0 ? source.values[d] == 1 : (set & 1u << d) != 0) {
            if (source.values[d] != 1)
                return node_refuse(reader, "dimension %d has the extent %" PRId64, d,
                                   source.values[d]);
            continue;
        }
        source.values[kept++] = source.values[d];
    }
    return end_copy(reader, kept, source.values);
}

static bool read_unsqueeze(struct node_reader *reader)
{
    struct node_ints source, axes;
    int64_t shape[3 * MOVEMENT_RANK_MAX];
    uint32_t set, rank;
    int from = 0;

    if (!shape_of(reader, &source) || !node_ints(reader, 1, "axes", &axes))
        return false;
    if (axes.count < 0)
        return node_refuse(reader, "axes is missing");
    rank = (uint32_t)(source.count + axes.count);
    if (!read_axes(reader, &axes, rank, &set))
        return false;
    for (uint32_t d = 0; d < rank; d++)
        shape[d] = set & 1u << d ? 1 : source.values[from++];
    return end_copy(reader, rank, shape);
}

static bool read_flatten(struct node_reader *reader)
{
    struct node_ints source;
    int64_t shape[2] = {1, 1}, axis = node_int(reader, "axis", 1);

    if (!shape_of(reader, &source))
        return false;
    if (axis < -source.count || axis > source.count)
        return node_refuse(reader, "axis %" PRId64 " is not in %d dimensions", axis, source.count);
    axis += axis < 0 ? source.count : 0;
    for (int d = 0; d < source.count; d++)
        shape[d >= axis] *= source.values[d];
    return end_copy(reader, 2, shape);
}

static bool read_depth_to_space(struct node_reader *reader)
{
    const char *mode = text_of(reader, "mode", "DCR");
    const bool crd = strcmp(mode, "CRD") == 0;

    if (!crd && strcmp(mode, "DCR") != 0)
        return node_refuse(reader, "mode %.32s is unknown", mode);
    return node_blocks(reader, MOVEMENT_DEPTH_TO_SPACE, crd ? MOVEMENT_CRD : MOVEMENT_DCR,
                       node_int(reader, "blocksize", 0));
}

static bool read_space_to_depth(struct node_reader *reader)
{
    return node_blocks(reader, MOVEMENT_SPACE_TO_DEPTH, MOVEMENT_DCR,
                       node_int(reader, "blocksize", 0));
}

static bool read_expand(struct node_reader *reader)
{
    struct node_ints shape;

    if (!node_declared(reader, &shape) && !node_input_ints(reader, 1, "shape", &shape))
        return false;
    return node_expand(reader, &shape);
}

static bool read_tile(struct node_reader *reader)
{
    struct node_ints repeats;

    if (node_has(reader, 2))
        return node_refuse(reader, "version 1 is not supported");
    return node_input_ints(reader, 1, "repeats", &repeats) && node_tile(reader, &repeats);
}

const struct node_operator onnx_operators[] = {
    {"Identity", read_identity},
    {"Transpose", read_transpose},
    {"Slice", read_slice},
    {"Concat", read_concat},
    {"Split", read_split},
    {"Pad", read_pad},
    {"Reshape", read_reshape},
    {"Squeeze", read_squeeze},
    {"Unsqueeze", read_unsqueeze},
    {"Flatten", read_flatten},
    {"DepthToSpace", read_depth_to_space},
    {"SpaceToDepth", read_space_to_depth},
    {"Expand", read_expand},
    {"Tile", read_tile},
    {0},
};
