/* SPDX-License-Identifier: BSD-3-Clause */
/* The operators of TFLite that move data. TFLite models have the shapes of all tensors. */
#include <inttypes.h>
#include <string.h>

#include "cli/import/node_reader.h"

static bool read_transpose(struct node_reader *reader)
{
    struct node_ints perm;

    return node_input_ints(reader, 1, "perm", &perm) && node_transpose(reader, &perm);
}

static bool read_slice(struct node_reader *reader)
{
    struct movement *movement = node_movement(reader, MOVEMENT_SLICE, 0);
    struct node_ints begin, size;

    if (!movement || !node_input_ints(reader, 1, "begin", &begin) ||
        !node_input_ints(reader, 2, "size", &size))
        return false;
    if (begin.count != (int)movement->rank || size.count != (int)movement->rank)
        return node_refuse(reader, "begin and size do not have an entry for each dimension");
    for (uint32_t d = 0; d < movement->rank; d++) {
        const int64_t extent = (int64_t)movement->shape[d], from = begin.values[d];
        const int64_t taken = size.values[d] == -1 ? extent - from : size.values[d];

        if (from < 0 || from > extent || taken < 0 || taken > extent - from)
            return node_refuse(reader,
                               "dimension %" PRIu32 ": begin %" PRId64 " and size %" PRId64
                               " exceed the extent %" PRId64,
                               d, from, size.values[d], extent);
        movement->begin[d] = from;
        movement->step[d] = 1;
        movement->shape[d] = (uint64_t)taken;
    }
    return node_result_same(reader, movement, 0);
}

/* A strided slice that is being read. */
struct strided {
    struct node_ints begin, end, step;
    uint32_t result_rank;
    uint64_t result[2 * MOVEMENT_RANK_MAX];
};

/* Reads entry k of begin, end and step, which is for dimension d of the source. */
static bool read_entry(struct node_reader *reader, struct movement *movement,
                       struct strided *strided, int k, uint32_t d)
{
    const int64_t bit = INT64_C(1) << k, step = strided->step.values[k];
    const int64_t extent = (int64_t)movement->sources[0].shape[d];
    const bool shrink = node_int(reader, "shrink_axis_mask", 0) & bit;
    int64_t begin = strided->begin.values[k], end = strided->end.values[k];

    /* A bit of a mask removes begin or end: node_range() limits the range to the extent. */
    if (node_int(reader, "begin_mask", 0) & bit && !shrink)
        begin = step < 0 ? INT64_MAX : 0;
    if (shrink) {
        begin += begin < 0 ? extent : 0;
        if (begin < 0 || begin >= extent)
            return node_refuse(reader, "index %" PRId64 " is outside the extent %" PRId64,
                               strided->begin.values[k], extent);
        end = begin + 1;
    } else if (node_int(reader, "end_mask", 0) & bit) {
        end = step < 0 ? INT64_MIN : extent;
    } else if (node_int(reader, "offset", 0)) {
        end += begin; /* no overflow: both have 32 bits in the file */
    }
    if (!node_range(reader, movement, d, begin, end, shrink ? 1 : step))
        return false;
    if (!shrink)
        strided->result[strided->result_rank++] = movement->shape[d];
    return true;
}

/* Takes `count` whole dimensions from `d` on. */
static void take_whole(struct movement *movement, struct strided *strided, uint32_t d,
                       uint32_t count)
{
    for (; count-- > 0; d++) {
        movement->step[d] = 1;
        strided->result[strided->result_rank++] = movement->shape[d];
    }
}

static bool read_strided_slice(struct node_reader *reader)
{
    struct movement *movement = node_movement(reader, MOVEMENT_SLICE, 0);
    struct strided s = {.result_rank = 0};
    const int64_t dots = node_int(reader, "ellipsis_mask", 0);
    const int64_t fresh = node_int(reader, "new_axis_mask", 0);
    uint32_t used = 0, d = 0;

    if (!movement || !node_input_ints(reader, 1, "begin", &s.begin) ||
        !node_input_ints(reader, 2, "end", &s.end) ||
        !node_input_ints(reader, 3, "strides", &s.step))
        return false;
    if (s.begin.count != s.end.count || s.begin.count != s.step.count ||
        s.begin.count > MOVEMENT_RANK_MAX || (dots & (dots - 1)))
        return node_refuse(reader, "begin, end and strides, or its masks, contradict each other");
    for (int k = 0; k < s.begin.count; k++)
        used += !(dots >> k & 1) && !(fresh >> k & 1);
    if (used > movement->rank)
        return node_refuse(reader, "%" PRIu32 " entries for %" PRIu32 " dimensions", used,
                           movement->rank);
    const uint32_t rest = movement->rank - used;
    for (int k = 0; k < s.begin.count; k++) {
        if (dots >> k & 1) {
            take_whole(movement, &s, d, rest);
            d += rest;
        } else if (fresh >> k & 1) {
            s.result[s.result_rank++] = 1;
        } else if (!read_entry(reader, movement, &s, k, d++)) {
            return false;
        }
    }
    take_whole(movement, &s, d, movement->rank - d);
    return node_result(reader, movement, 0, s.result_rank, s.result);
}

static bool same_quantisation(const struct model_quant *a, const struct model_quant *b)
{
    return a->count == b->count &&
           (a->count == 0 ||
            (a->axis == b->axis && memcmp(a->scale, b->scale, a->count * sizeof(*a->scale)) == 0 &&
             memcmp(a->zero_point, b->zero_point, a->count * sizeof(*a->zero_point)) == 0));
}

/* Refuses inputs with another quantisation than the output: the operator rescales their values. */
static bool check_quantisation(struct node_reader *reader)
{
    const struct model_tensor *tensors = reader->model->tensors;

    if (reader->node->output_count == 0 || reader->node->outputs[0] == MODEL_ABSENT)
        return true;
    for (size_t i = 0; i < reader->node->input_count; i++) {
        if (node_has(reader, i) && !same_quantisation(&tensors[reader->node->inputs[i]].quant,
                                                      &tensors[reader->node->outputs[0]].quant))
            return node_refuse(reader,
                               "input %zu has another quantisation than the output: its "
                               "values are rescaled",
                               i);
    }
    return true;
}

static bool read_concatenation(struct node_reader *reader)
{
    if (node_int(reader, "fused_activation_function", 0) != 0)
        return node_refuse(reader, "it has an activation function");
    return check_quantisation(reader) && node_concat(reader, node_int(reader, "axis", 0), false);
}

static bool read_pack(struct node_reader *reader)
{
    return check_quantisation(reader) && node_concat(reader, node_int(reader, "axis", 0), true);
}

static bool read_unpack(struct node_reader *reader)
{
    struct node_ints sizes = {.count = -1};

    return node_split(reader, 0, node_int(reader, "axis", 0), &sizes, true);
}

/* Reads the axis of a split from input `i`. */
static bool read_axis(struct node_reader *reader, size_t i, int64_t *axis)
{
    struct node_ints value;

    if (!node_input_ints(reader, i, "axis", &value))
        return false;
    *axis = value.values[0];
    return value.count == 1 || node_refuse(reader, "axis has %d values", value.count);
}

static bool read_split(struct node_reader *reader)
{
    struct node_ints sizes = {.count = -1};
    int64_t axis;

    return read_axis(reader, 0, &axis) && node_split(reader, 1, axis, &sizes, false);
}

static bool read_split_v(struct node_reader *reader)
{
    struct node_ints sizes;
    int64_t axis;

    return read_axis(reader, 2, &axis) && node_input_ints(reader, 1, "size_splits", &sizes) &&
           node_split(reader, 0, axis, &sizes, false);
}

/* Fills the border of a quantised tensor with its zero point, the element that stands for 0. */
static bool fill_zero(struct node_reader *reader, struct movement *movement)
{
    const struct model_quant *quant = &reader->model->tensors[reader->node->inputs[0]].quant;

    if (quant->count == 0)
        return true;
    for (uint32_t i = 1; i < quant->count; i++) {
        if (quant->zero_point[i] != quant->zero_point[0])
            return node_refuse(reader, "its zero points differ: the border has several values");
    }
    for (uint32_t i = 0; i < movement->dtype->size && i < MOVEMENT_ELEMENT_MAX; i++)
        movement->fill[i] = (uint8_t)((uint64_t)quant->zero_point[0] >> 8 * i);
    return true;
}

/* Sets the border of a pad. `pads` has the widths before and after each dimension. */
static bool set_pads(struct node_reader *reader, struct movement *movement,
                     const struct node_ints *pads)
{
    if (pads->count != 2 * (int)movement->rank)
        return node_refuse(reader, "%d paddings for %" PRIu32 " dimensions", pads->count,
                           movement->rank);
    for (uint32_t d = 0; d < movement->rank; d++) {
        const int64_t before = pads->values[2 * d], after = pads->values[2 * d + 1];

        if (before < 0 || before > INT32_MAX || after < 0 || after > INT32_MAX)
            return node_refuse(reader, "a border of dimension %" PRIu32 " is not in 0 to 2^31 - 1",
                               d);
        movement->begin[d] = before;
        movement->shape[d] += (uint64_t)(before + after);
    }
    return true;
}

static bool read_pad(struct node_reader *reader)
{
    struct movement *movement = node_movement(reader, MOVEMENT_PAD, 0);
    struct node_ints pads;

    if (!movement || !node_input_ints(reader, 1, "paddings", &pads))
        return false;
    if (node_has(reader, 2) ? !node_fill(reader, movement, 2) : !fill_zero(reader, movement))
        return false;
    return set_pads(reader, movement, &pads) && node_result_same(reader, movement, 0);
}

static bool read_mirror_pad(struct node_reader *reader)
{
    struct movement *movement = node_movement(reader, MOVEMENT_PAD, 0);
    struct node_ints pads;

    if (!movement || !node_input_ints(reader, 1, "paddings", &pads))
        return false;
    movement->border = node_int(reader, "mode", 0) ? MOVEMENT_SYMMETRIC : MOVEMENT_REFLECT;
    return set_pads(reader, movement, &pads) && node_check_mirror(reader, movement) &&
           node_result_same(reader, movement, 0);
}

static bool read_reverse(struct node_reader *reader)
{
    struct movement *movement = node_movement(reader, MOVEMENT_SLICE, 0);
    struct node_ints axes;

    if (!movement || !node_input_ints(reader, 1, "axis", &axes))
        return false;
    for (uint32_t d = 0; d < movement->rank; d++)
        movement->step[d] = 1;
    for (int k = 0; k < axes.count; k++) {
        uint32_t d;

        if (!node_axis(reader, axes.values[k], movement->rank, &d))
            return false;
        movement->begin[d] = (int64_t)movement->shape[d] - 1;
        movement->step[d] = -1;
    }
    return node_result_same(reader, movement, 0);
}

static bool read_depth_to_space(struct node_reader *reader)
{
    return node_blocks(reader, MOVEMENT_DEPTH_TO_SPACE, MOVEMENT_NHWC,
                       node_int(reader, "block_size", 0));
}

static bool read_space_to_depth(struct node_reader *reader)
{
    return node_blocks(reader, MOVEMENT_SPACE_TO_DEPTH, MOVEMENT_NHWC,
                       node_int(reader, "block_size", 0));
}

static bool read_tile(struct node_reader *reader)
{
    struct node_ints repeats;

    return node_input_ints(reader, 1, "multiples", &repeats) && node_tile(reader, &repeats);
}

static bool read_broadcast(struct node_reader *reader)
{
    struct node_ints shape;

    if (!node_declared(reader, &shape) && !node_input_ints(reader, 1, "shape", &shape))
        return false;
    return node_expand(reader, &shape);
}

const struct node_operator tflite_operators[] = {
    {"RESHAPE", node_copy_as_declared},
    {"SQUEEZE", node_copy_as_declared},
    {"EXPAND_DIMS", node_copy_as_declared},
    {"TRANSPOSE", read_transpose},
    {"SLICE", read_slice},
    {"STRIDED_SLICE", read_strided_slice},
    {"CONCATENATION", read_concatenation},
    {"PACK", read_pack},
    {"UNPACK", read_unpack},
    {"SPLIT", read_split},
    {"SPLIT_V", read_split_v},
    {"PAD", read_pad},
    {"PADV2", read_pad},
    {"MIRROR_PAD", read_mirror_pad},
    {"REVERSE_V2", read_reverse},
    {"DEPTH_TO_SPACE", read_depth_to_space},
    {"SPACE_TO_DEPTH", read_space_to_depth},
    {"TILE", read_tile},
    {"BROADCAST_TO", read_broadcast},
    {0},
};
