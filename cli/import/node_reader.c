/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/node_reader.h"
#include "cli/model/model.h"

enum { NAME_SHOWN = 64 };

bool node_refuse(struct node_reader *reader, const char *format, ...)
{
    char *reason = reader->list->reason;
    int length = snprintf(reason, MOVEMENT_REASON_MAX, "%.*s: ", MODEL_WORD_MAX, reader->node->op);
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(reason + length, (size_t)(MOVEMENT_REASON_MAX - length), format, arguments);
    va_end(arguments);
    return false;
}

bool node_has(const struct node_reader *reader, size_t i)
{
    return i < reader->node->input_count && reader->node->inputs[i] != MODEL_ABSENT;
}

/* Refuses a node: explains why the shape of a tensor is not known. */
static bool refuse_shape(struct node_reader *reader, const struct model_tensor *tensor)
{
    reader->list->unknown = true;
    for (uint32_t d = 0; tensor->has_shape && d < tensor->rank; d++) {
        const struct model_dim *dim = &tensor->dims[d];

        if (dim->extent < 0 && dim->name)
            return node_refuse(reader, "dimension %" PRIu32 " of %.*s is open: give --dim %.*s=N",
                               d, NAME_SHOWN, tensor->name, NAME_SHOWN, dim->name);
        if (dim->extent < 0)
            return node_refuse(reader, "dimension %" PRIu32 " of %.*s is open: give --dim '*=N'", d,
                               NAME_SHOWN, tensor->name);
    }
    return node_refuse(reader, "the model does not have the shape of %.*s", NAME_SHOWN,
                       tensor->name);
}

/* Reads the shape of input `i`. Refuses an input whose elements cannot be moved. */
static bool node_shape(struct node_reader *reader, size_t i, uint32_t *rank, uint64_t *shape)
{
    const struct model_tensor *tensor;
    uint64_t bytes;

    if (!node_has(reader, i))
        return node_refuse(reader, "input %zu is missing", i);
    tensor = &reader->model->tensors[reader->node->inputs[i]];
    if (tensor->refusal)
        return node_refuse(reader, "%.*s: %.*s", NAME_SHOWN, tensor->name, 2 * NAME_SHOWN,
                           tensor->refusal);
    if (tensor->kind != MODEL_TENSOR)
        return node_refuse(reader, "%.*s is a sequence: only --data has the number of its tensors",
                           NAME_SHOWN, tensor->name);
    if (!tensor->dtype) {
        reader->list->unknown = true;
        return node_refuse(reader, "the model does not have the type of %.*s", NAME_SHOWN,
                           tensor->name);
    }
    if (tensor->dtype->size == 0 || tensor->dtype->size > MOVEMENT_ELEMENT_MAX)
        return node_refuse(reader, "elements of type %s cannot be moved", tensor->dtype->name);
    if (tensor->has_shape && tensor->rank > MOVEMENT_RANK_MAX)
        return node_refuse(reader, "%.*s has %" PRIu32 " dimensions; at most %d can be moved",
                           NAME_SHOWN, tensor->name, tensor->rank, MOVEMENT_RANK_MAX);
    if (!model_tensor_bytes(tensor, &bytes))
        return refuse_shape(reader, tensor);
    if (bytes == 0)
        return node_refuse(reader, "%.*s has no elements", NAME_SHOWN, tensor->name);
    if (bytes > MOVEMENT_BYTES_MAX)
        return node_refuse(reader,
                           "%.*s has %" PRIu64 " bytes; at most %" PRIu64 " can be compared",
                           NAME_SHOWN, tensor->name, bytes, MOVEMENT_BYTES_MAX);
    *rank = tensor->rank;
    for (uint32_t d = 0; d < tensor->rank; d++)
        shape[d] = (uint64_t)tensor->dims[d].extent;
    return true;
}

struct movement *node_movement(struct node_reader *reader, enum movement_kind kind, size_t i)
{
    struct movement_list *list = reader->list;
    struct movement *more, *movement;
    uint64_t shape[MOVEMENT_RANK_MAX] = {0};
    uint32_t rank;

    if (!node_shape(reader, i, &rank, shape))
        return NULL;
    more = reallocarray(list->movements, list->count + 1, sizeof(*more));
    if (!more) {
        reader->no_memory = true;
        return NULL;
    }
    list->movements = more;
    movement = &more[list->count];
    *movement = (struct movement){.kind = kind, .rank = rank};
    movement->sources = calloc(1, sizeof(*movement->sources));
    if (!movement->sources) {
        reader->no_memory = true;
        return NULL;
    }
    list->count++;
    movement->source_count = 1;
    movement->sources[0].tensor = reader->node->inputs[i];
    memcpy(movement->sources[0].shape, shape, sizeof(shape));
    memcpy(movement->shape, shape, sizeof(shape));
    movement->dtype = reader->model->tensors[reader->node->inputs[i]].dtype;
    return movement;
}

/* Adds input `i` as a further source. */
static bool node_add_source(struct node_reader *reader, struct movement *movement, size_t i)
{
    struct movement_source *more;
    uint64_t shape[MOVEMENT_RANK_MAX] = {0};
    uint32_t rank = 0;

    if (!node_shape(reader, i, &rank, shape))
        return false;
    if (rank != movement->rank ||
        reader->model->tensors[reader->node->inputs[i]].dtype != movement->dtype)
        return node_refuse(reader, "its inputs have different ranks or types");
    more = reallocarray(movement->sources, movement->source_count + 1, sizeof(*more));
    if (!more) {
        reader->no_memory = true;
        return false;
    }
    movement->sources = more;
    more += movement->source_count++;
    more->tensor = reader->node->inputs[i];
    memcpy(more->shape, shape, sizeof(shape));
    return true;
}

bool node_input_ints(struct node_reader *reader, size_t i, const char *what, struct node_ints *ints)
{
    ints->count = -1;
    if (!node_has(reader, i))
        return node_refuse(reader, "%s is missing", what);
    ints->count =
        model_integers(reader->model, reader->node->inputs[i], ints->values, 2 * MOVEMENT_RANK_MAX);
    return ints->count >= 0 || node_refuse(reader, "%s is not a constant", what);
}

bool node_ints(struct node_reader *reader, size_t i, const char *name, struct node_ints *ints)
{
    const struct model_attribute *attribute = model_attribute(reader->node, name);

    ints->count = -1;
    if (i > 0 && node_has(reader, i))
        return node_input_ints(reader, i, name, ints);
    if (!attribute)
        return true;
    if (attribute->kind != MODEL_INTS || attribute->count > 2 * MOVEMENT_RANK_MAX)
        return node_refuse(reader, "%s is not a list of at most %d integers", name,
                           2 * MOVEMENT_RANK_MAX);
    ints->count = (int)attribute->count;
    for (int k = 0; k < ints->count; k++)
        ints->values[k] = attribute->ints[k];
    return true;
}

int64_t node_int(const struct node_reader *reader, const char *name, int64_t absent)
{
    const struct model_attribute *attribute = model_attribute(reader->node, name);

    return attribute && attribute->kind == MODEL_INT ? attribute->i : absent;
}

bool node_axis(struct node_reader *reader, int64_t axis, uint32_t rank, uint32_t *out)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return node_refuse(reader, "axis %" PRId64 " is not in %" PRIu32 " dimensions", axis, rank);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return true;
}

bool node_fill(struct node_reader *reader, struct movement *movement, size_t i)
{
    const struct model_tensor *tensor = &reader->model->tensors[reader->node->inputs[i]];
    const uint8_t *elements = model_elements(reader->model, tensor);

    if (!elements || tensor->dtype != movement->dtype || model_element_count(tensor) != 1)
        return node_refuse(reader, "the value of the border is not a constant of its type");
    memcpy(movement->fill, elements, tensor->dtype->size);
    return true;
}

bool node_declared(const struct node_reader *reader, struct node_ints *shape)
{
    const struct model_tensor *tensor;

    if (reader->node->output_count == 0 || reader->node->outputs[0] == MODEL_ABSENT)
        return false;
    tensor = &reader->model->tensors[reader->node->outputs[0]];
    if (!tensor->has_shape || tensor->rank > MOVEMENT_RANK_MAX)
        return false;
    shape->count = (int)tensor->rank;
    for (uint32_t d = 0; d < tensor->rank; d++) {
        shape->values[d] = tensor->dims[d].extent;
        if (shape->values[d] < 0)
            return false;
    }
    return true;
}

/* Compares type and shape of the result with the model, or sets them if the model lacks them. */
static bool settle(struct node_reader *reader, struct model_tensor *tensor,
                   const struct movement *movement)
{
    struct model_dim dims[MOVEMENT_RANK_MAX] = {{0}};
    struct fault fault;
    bool same = tensor->has_shape && tensor->rank == movement->result_rank;

    for (uint32_t d = 0; d < movement->result_rank; d++) {
        dims[d].extent = (int64_t)movement->result[d];
        same = same && (tensor->dims[d].extent < 0 || tensor->dims[d].extent == dims[d].extent);
    }
    if (tensor->has_shape && !same)
        return node_refuse(reader, "the model gives %.*s another shape than its inputs do",
                           NAME_SHOWN, tensor->name);
    if (tensor->dtype && tensor->dtype != movement->dtype)
        return node_refuse(reader, "the model gives %.*s another type than its inputs have",
                           NAME_SHOWN, tensor->name);
    tensor->dtype = movement->dtype;
    if (model_set_shape(tensor, dims, movement->result_rank, &fault))
        reader->no_memory = true;
    return !reader->no_memory;
}

/* Returns whether a shape has `elements` elements. The product of the extents may overflow. */
static bool has_elements(uint32_t rank, const uint64_t *shape, uint64_t elements)
{
    uint64_t product = 1;

    for (uint32_t d = 0; d < rank; d++) {
        if (__builtin_mul_overflow(product, shape[d], &product))
            return false;
    }
    return product == elements;
}

bool node_result(struct node_reader *reader, struct movement *movement, size_t i, uint32_t rank,
                 const uint64_t *result)
{
    uint64_t bytes = movement->dtype->size;

    for (uint32_t d = 0; d < movement->rank; d++) {
        if (movement->shape[d] == 0)
            return node_refuse(reader, "its result has no elements");
        if (__builtin_mul_overflow(bytes, movement->shape[d], &bytes) || bytes > MOVEMENT_BYTES_MAX)
            return node_refuse(reader, "its result has more than %" PRIu64 " bytes",
                               MOVEMENT_BYTES_MAX);
    }
    if (i >= reader->node->output_count || reader->node->outputs[i] == MODEL_ABSENT)
        return node_refuse(reader, "output %zu is missing", i);
    if (rank > MOVEMENT_RANK_MAX)
        return node_refuse(reader, "its result has %" PRIu32 " dimensions; at most %d can be moved",
                           rank, MOVEMENT_RANK_MAX);
    if (!has_elements(rank, result, movement_elements(movement->rank, movement->shape)))
        return node_refuse(reader, "its result does not have the elements of its source");
    movement->output = reader->node->outputs[i];
    movement->result_rank = rank;
    memmove(movement->result, result, rank * sizeof(*result));
    return settle(reader, &reader->model->tensors[movement->output], movement);
}

bool node_result_same(struct node_reader *reader, struct movement *movement, size_t i)
{
    return node_result(reader, movement, i, movement->rank, movement->shape);
}

/* Movements that both formats have. */

enum { REPEATS_MAX = 1 << 16 };

bool node_copy_as_declared(struct node_reader *reader)
{
    struct movement *movement;
    struct node_ints declared;
    uint64_t shape[MOVEMENT_RANK_MAX];

    if (!node_declared(reader, &declared))
        return node_refuse(reader, "the model does not have the shape of its output");
    for (int d = 0; d < declared.count; d++)
        shape[d] = (uint64_t)declared.values[d];
    movement = node_movement(reader, MOVEMENT_COPY, 0);
    return movement && node_result(reader, movement, 0, (uint32_t)declared.count, shape);
}

bool node_transpose(struct node_reader *reader, const struct node_ints *perm)
{
    struct movement *movement = node_movement(reader, MOVEMENT_TRANSPOSE, 0);
    uint32_t seen = 0;

    if (!movement)
        return false;
    if (perm->count >= 0 && perm->count != (int)movement->rank)
        return node_refuse(reader, "perm has %d entries for %" PRIu32 " dimensions", perm->count,
                           movement->rank);
    for (uint32_t d = 0; d < movement->rank; d++) {
        const int64_t from = perm->count < 0 ? movement->rank - 1 - d : perm->values[d];

        if (from < 0 || from >= (int64_t)movement->rank || (seen & 1u << from))
            return node_refuse(reader, "perm is not a permutation");
        seen |= 1u << from;
        movement->perm[d] = (uint32_t)from;
        movement->shape[d] = movement->sources[0].shape[from];
    }
    return node_result_same(reader, movement, 0);
}

/* Replaces a size of -1 by the rest of the extent. Refuses sizes whose sum is not the extent. */
static bool complete_sizes(struct node_reader *reader, struct node_ints *sizes, uint64_t extent)
{
    int64_t sum = 0;
    int open = -1;

    for (int k = 0; k < sizes->count; k++) {
        if (sizes->values[k] == -1 && open < 0)
            open = k;
        else if (sizes->values[k] < 0 || __builtin_add_overflow(sum, sizes->values[k], &sum) ||
                 sum > (int64_t)extent)
            return node_refuse(reader, "its parts exceed the extent %" PRIu64, extent);
    }
    if (open >= 0)
        sizes->values[open] = (int64_t)extent - sum;
    else if (sum != (int64_t)extent)
        return node_refuse(reader, "its parts have %" PRId64 " of %" PRIu64 " elements", sum,
                           extent);
    return true;
}

/* Sets the sizes of equal parts; the last part may be smaller. */
static void equal_sizes(struct node_ints *sizes, size_t parts, uint64_t extent)
{
    const uint64_t size = (extent + parts - 1) / parts;

    sizes->count = (int)parts;
    for (size_t k = 0; k < parts; k++) {
        const uint64_t left = extent > k * size ? extent - k * size : 0;
        sizes->values[k] = (int64_t)(left < size ? left : size);
    }
}

bool node_split(struct node_reader *reader, size_t i, int64_t given, struct node_ints *sizes,
                bool drop)
{
    const size_t parts = reader->node->output_count;
    uint64_t shape[MOVEMENT_RANK_MAX] = {0}, result[MOVEMENT_RANK_MAX];
    uint32_t rank = 0, axis = 0;
    int64_t at = 0;

    if (!node_shape(reader, i, &rank, shape) || !node_axis(reader, given, rank, &axis))
        return false;
    if (parts == 0 || parts > 2 * MOVEMENT_RANK_MAX)
        return node_refuse(reader, "%zu outputs; 1 to %d are supported", parts,
                           2 * MOVEMENT_RANK_MAX);
    if (sizes->count < 0)
        equal_sizes(sizes, parts, shape[axis]);
    if ((size_t)sizes->count != parts)
        return node_refuse(reader, "%d sizes for %zu outputs", sizes->count, parts);
    if (!complete_sizes(reader, sizes, shape[axis]))
        return false;
    for (size_t k = 0; k < parts; k++) {
        struct movement *movement;
        uint32_t kept = 0;

        if (reader->node->outputs[k] != MODEL_ABSENT) {
            movement = node_movement(reader, MOVEMENT_SLICE, i);
            if (!movement)
                return false;
            for (uint32_t d = 0; d < rank; d++)
                movement->step[d] = 1;
            movement->begin[axis] = at;
            movement->shape[axis] = (uint64_t)sizes->values[k];
            for (uint32_t d = 0; d < rank; d++) {
                if (!drop || d != axis)
                    result[kept++] = movement->shape[d];
            }
            if (!node_result(reader, movement, k, kept, result))
                return false;
        }
        at += sizes->values[k];
    }
    return true;
}

static void insert_one(uint64_t shape[MOVEMENT_RANK_MAX], uint32_t rank, uint32_t axis)
{
    memmove(shape + axis + 1, shape + axis, (rank - axis) * sizeof(*shape));
    shape[axis] = 1;
}

bool node_concat(struct node_reader *reader, int64_t given, bool stack)
{
    struct movement *movement = node_movement(reader, MOVEMENT_CONCAT, 0);

    if (!movement)
        return false;
    if (stack && movement->rank == MOVEMENT_RANK_MAX)
        return node_refuse(reader, "its result has more than %d dimensions", MOVEMENT_RANK_MAX);
    if (!node_axis(reader, given, movement->rank + stack, &movement->axis))
        return false;
    for (size_t k = 1; k < reader->node->input_count; k++) {
        if (!node_add_source(reader, movement, k))
            return false;
    }
    if (stack) {
        for (size_t k = 0; k < movement->source_count; k++)
            insert_one(movement->sources[k].shape, movement->rank, movement->axis);
        movement->rank++;
    }
    memcpy(movement->shape, movement->sources[0].shape, sizeof(movement->shape));
    movement->shape[movement->axis] = 0;
    for (size_t k = 0; k < movement->source_count; k++) {
        for (uint32_t d = 0; d < movement->rank; d++) {
            if (d == movement->axis)
                movement->shape[d] += movement->sources[k].shape[d]; /* extents are below 2^31 */
            else if (movement->shape[d] != movement->sources[k].shape[d])
                return node_refuse(reader, "its inputs differ in dimension %" PRIu32, d);
        }
    }
    return node_result_same(reader, movement, 0);
}

bool node_tile(struct node_reader *reader, const struct node_ints *repeats)
{
    struct movement *movement = node_movement(reader, MOVEMENT_TILE, 0);

    if (!movement)
        return false;
    if (repeats->count != (int)movement->rank)
        return node_refuse(reader, "%d repeats for %" PRIu32 " dimensions", repeats->count,
                           movement->rank);
    for (uint32_t d = 0; d < movement->rank; d++) {
        if (repeats->values[d] < 0 || repeats->values[d] > REPEATS_MAX)
            return node_refuse(reader, "%" PRId64 " repeats; at most %d are supported",
                               repeats->values[d], REPEATS_MAX);
        movement->shape[d] *= (uint64_t)repeats->values[d]; /* the product is below 2^31 * 2^16 */
    }
    return node_result_same(reader, movement, 0);
}

bool node_expand(struct node_reader *reader, const struct node_ints *shape)
{
    struct movement *movement = node_movement(reader, MOVEMENT_TILE, 0);
    uint64_t *source;

    if (!movement)
        return false;
    if (shape->count > MOVEMENT_RANK_MAX)
        return node_refuse(reader, "its result has %d dimensions; at most %d can be moved",
                           shape->count, MOVEMENT_RANK_MAX);
    source = movement->sources[0].shape;
    for (; (int)movement->rank < shape->count; movement->rank++)
        insert_one(source, movement->rank, 0);
    for (uint32_t d = 0; d < movement->rank; d++) {
        const int64_t k = (int64_t)d - ((int64_t)movement->rank - shape->count);
        const int64_t wanted = k < 0 ? 1 : shape->values[k];

        movement->shape[d] = source[d];
        if (wanted == 1 || wanted == (int64_t)source[d])
            continue;
        if (source[d] != 1 || wanted < 0)
            return node_refuse(reader, "an extent of %" PRIu64 " cannot become %" PRId64, source[d],
                               wanted);
        movement->shape[d] = (uint64_t)wanted;
    }
    return node_result_same(reader, movement, 0);
}

bool node_blocks(struct node_reader *reader, enum movement_kind kind, enum movement_layout layout,
                 int64_t block)
{
    struct movement *movement = node_movement(reader, kind, 0);
    const bool nhwc = layout == MOVEMENT_NHWC;
    const uint32_t row = nhwc ? 1 : 2, channel = nhwc ? 3 : 1;

    if (!movement)
        return false;
    if (movement->rank != 4 || block < 1 || block > REPEATS_MAX)
        return node_refuse(reader,
                           "rank %" PRIu32 " and blocks of %" PRId64
                           "; rank 4 and blocks of 1 to %d are needed",
                           movement->rank, block, REPEATS_MAX);
    movement->layout = layout;
    movement->block = (uint64_t)block;
    const uint64_t b = movement->block;
    uint64_t *shape = movement->shape;
    if (kind == MOVEMENT_DEPTH_TO_SPACE ? shape[channel] % (b * b) != 0
                                        : shape[row] % b != 0 || shape[row + 1] % b != 0)
        return node_refuse(reader, "its extents are not multiples of the block");
    for (uint32_t d = row; d < row + 2; d++)
        shape[d] = kind == MOVEMENT_DEPTH_TO_SPACE ? shape[d] * b : shape[d] / b;
    shape[channel] =
        kind == MOVEMENT_DEPTH_TO_SPACE ? shape[channel] / (b * b) : shape[channel] * b * b;
    return node_result_same(reader, movement, 0);
}

bool node_range(struct node_reader *reader, struct movement *movement, uint32_t d, int64_t begin,
                int64_t end, int64_t step)
{
    const int64_t extent = (int64_t)movement->sources[0].shape[d];
    const int64_t low = step < 0 ? -1 : 0, high = step < 0 ? extent - 1 : extent;

    if (step == 0 || step == INT64_MIN)
        return node_refuse(reader, "the step of dimension %" PRIu32 " is %" PRId64, d, step);
    /* Limit begin and end to the extent, like Python; after that no sum can overflow. */
    begin = begin < -extent ? low : begin < 0 ? begin + extent : begin;
    end = end < -extent ? low : end < 0 ? end + extent : end;
    begin = begin > high ? high : begin;
    end = end > high ? high : end;
    const int64_t span = step < 0 ? begin - end : end - begin;
    movement->begin[d] = begin;
    movement->step[d] = step;
    movement->shape[d] =
        span > 0 ? (uint64_t)(span - 1) / (uint64_t)(step < 0 ? -step : step) + 1 : 0;
    return true;
}

bool node_check_mirror(struct node_reader *reader, const struct movement *movement)
{
    for (uint32_t d = 0; d < movement->rank; d++) {
        const int64_t extent = (int64_t)movement->sources[0].shape[d], before = movement->begin[d];
        const int64_t after = (int64_t)movement->shape[d] - before - extent;
        const int64_t most = extent - (movement->border == MOVEMENT_REFLECT);

        if (movement->border != MOVEMENT_EDGE && (before > most || after > most))
            return node_refuse(reader, "the border of dimension %" PRIu32 " exceeds its source", d);
        if (before < -extent || after < -extent)
            return node_refuse(reader, "dimension %" PRIu32 " loses more than it has", d);
    }
    return true;
}
