/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/tile/tile_division.h"

#include <stdlib.h>

enum {
    COMBINATIONS_MAX = 150 * 1000, /* beyond, sizes are left out evenly */
    UNEVEN_MAX = 64                /* indices of an axis that is cut unevenly, too */
};

/* Returns whether an axis may have more than one tile. */
static bool is_divisible(const struct tile_layer *layer, uint32_t axis)
{
    return !(layer->reduces && axis == TILE_REDUCED) ||
           layer->operand[layer->operands - 1].partial > 0;
}

/* Returns whether tiles of this size fit into the budget, if those of other axes have one index. */
static bool may_fit(const struct tile_layer *layer, uint64_t budget, uint32_t axis, uint64_t size)
{
    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_operand *operand = &layer->operand[i];
        uint64_t bytes = tile_times(operand->unit, operand->repeats);

        for (uint32_t a = 0; a < layer->axes; a++)
            bytes = tile_times(bytes,
                               tile_span_extent(&operand->span[a], a == axis ? size : UINT64_C(1)));
        if (bytes > budget)
            return false;
    }
    return true;
}

static int add(struct tile_divisions *list, const struct tile_division *division)
{
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity ? 2 * list->capacity : 64;
        struct tile_division *grown = realloc(list->division, capacity * sizeof *grown);

        if (!grown)
            return -1;
        list->division = grown;
        list->capacity = capacity;
    }
    list->division[list->count++] = *division;
    return 0;
}

static struct tile_division divide(const struct tile_layer *layer, uint32_t axis,
                                   const struct tile_cut *cut)
{
    struct tile_division division = {.cut = *cut};

    for (uint32_t i = 0; i < layer->operands; i++)
        division.elements[i] = tile_span_sum(&layer->operand[i].span[axis], cut);
    return division;
}

/* Lists the sizes of an axis, the largest first, each with the smallest count that has this size.
 */
static int list_even(struct tile_divisions *list, const struct tile_layer *layer, uint64_t budget,
                     uint32_t axis)
{
    const uint64_t extent = layer->extent[axis];

    for (uint64_t size = extent; size > 0; size--) {
        const uint64_t count = (extent + size - 1) / size;
        struct tile_division division;

        if (count > TILE_STEPS_MAX || (count > 1 && !is_divisible(layer, axis)))
            break;
        size = (extent + count - 1) / count;
        if (!may_fit(layer, budget, axis, size))
            continue;
        division = divide(
            layer, axis,
            &(struct tile_cut){.extent = extent, .count = count, .size = size, .even = true});
        if (add(list, &division) < 0)
            return -1;
    }
    return 0;
}

/* Returns whether a division needs fewer elements than the listed divisions with its count. */
static bool saves_elements(const struct tile_layer *layer, const struct tile_divisions *list,
                           const struct tile_division *division)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->division[i].cut.count != division->cut.count)
            continue;
        for (uint32_t o = 0; o < layer->operands; o++) {
            if (division->elements[o] < list->division[i].elements[o])
                return true;
        }
        return false;
    }
    return true;
}

/*
 * Adds cuts of a short axis with a smaller last tile, if they save elements: a halo that reaches
 * into the padding is not loaded, so the places of the cuts matter.
 */
static int list_uneven(struct tile_divisions *list, const struct tile_layer *layer, uint64_t budget,
                       uint32_t axis)
{
    const uint64_t extent = layer->extent[axis];
    bool padded = false;

    for (uint32_t i = 0; i < layer->operands; i++) {
        const struct tile_span *span = &layer->operand[i].span[axis];

        padded |= span->used && span->reach != span->step;
    }
    for (uint64_t size = 1; padded && extent <= UNEVEN_MAX && size < extent; size++) {
        const uint64_t count = (extent + size - 1) / size;
        const struct tile_division division =
            divide(layer, axis, &(struct tile_cut){.extent = extent, .count = count, .size = size});

        if (may_fit(layer, budget, axis, size) && saves_elements(layer, list, &division) &&
            add(list, &division) < 0)
            return -1;
    }
    return 0;
}

/* Keeps `wanted` divisions at even distances, the first and the last among them. */
static void thin(struct tile_divisions *list, size_t wanted)
{
    for (size_t i = 0; i < wanted; i++)
        list->division[i] = list->division[i * (list->count - 1) / (wanted - 1)];
    list->count = wanted;
}

/* Leaves out sizes until few enough combinations remain. Returns whether none was left out. */
static bool limit_combinations(struct tile_divisions axis[TILE_AXES], uint32_t axes)
{
    bool complete = true;

    for (;;) {
        uint64_t product = 1;
        uint32_t longest = 0;

        for (uint32_t a = 0; a < axes; a++) {
            product = tile_times(product, axis[a].count);
            if (axis[a].count > axis[longest].count)
                longest = a;
        }
        if (product <= COMBINATIONS_MAX)
            return complete;
        complete = false;
        thin(&axis[longest], axis[longest].count - (axis[longest].count + 3) / 4);
    }
}

int tile_divisions_list(struct tile_divisions axis[TILE_AXES], const struct tile_layer *layer,
                        uint64_t budget, bool *exhaustive)
{
    for (uint32_t a = 0; a < layer->axes; a++) {
        if (list_even(&axis[a], layer, budget, a) < 0 ||
            list_uneven(&axis[a], layer, budget, a) < 0)
            return -1;
    }
    *exhaustive = limit_combinations(axis, layer->axes);
    return 0;
}

void tile_divisions_free(struct tile_divisions axis[TILE_AXES])
{
    for (uint32_t a = 0; a < TILE_AXES; a++)
        free(axis[a].division);
}
