/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/import/element.h"

#include <string.h>

/* Where an element of the result comes from. */
struct origin {
    bool border; /* true: the element is the fill of the border */
    size_t source;
    uint64_t at[MOVEMENT_RANK_MAX];
};

static void find_in_concat(const struct movement *movement, const uint64_t *at,
                           struct origin *origin)
{
    const uint32_t axis = movement->axis;

    memcpy(origin->at, at, sizeof(origin->at));
    while (origin->at[axis] >= movement->sources[origin->source].shape[axis])
        origin->at[axis] -= movement->sources[origin->source++].shape[axis];
}

/* Returns the coordinate of the source that position `at` of the border repeats. */
static int64_t mirrored(const struct movement *movement, int64_t at, int64_t extent)
{
    const int64_t skip = movement->border == MOVEMENT_REFLECT; /* 1: skip the outermost element */

    if (movement->border == MOVEMENT_EDGE)
        return at < 0 ? 0 : extent - 1;
    return at < 0 ? -at - 1 + skip : 2 * extent - at - 1 - skip;
}

static void find_in_pad(const struct movement *movement, const uint64_t *at, struct origin *origin)
{
    for (uint32_t d = 0; d < movement->rank; d++) {
        const int64_t extent = (int64_t)movement->sources[0].shape[d];
        int64_t position = (int64_t)at[d] - movement->begin[d];

        if (position < 0 || position >= extent) {
            if (movement->border == MOVEMENT_FILL)
                origin->border = true;
            else
                position = mirrored(movement, position, extent);
        }
        origin->at[d] = (uint64_t)position;
    }
}

/* The coordinates `at` of the result are (n, row, column, c) in NHWC, else (n, c, row, column). */
static void find_in_depth(const struct movement *movement, const uint64_t *at,
                          struct origin *origin)
{
    const bool nhwc = movement->layout == MOVEMENT_NHWC;
    const uint32_t row = nhwc ? 1 : 2, channel = nhwc ? 3 : 1;
    const uint64_t b = movement->block, i = at[row] % b, j = at[row + 1] % b, c = at[channel];
    const uint64_t channels = movement->shape[channel];

    origin->at[0] = at[0];
    origin->at[row] = at[row] / b;
    origin->at[row + 1] = at[row + 1] / b;
    origin->at[channel] =
        movement->layout == MOVEMENT_CRD ? (c * b + i) * b + j : (i * b + j) * channels + c;
}

static void find_in_space(const struct movement *movement, const uint64_t *at,
                          struct origin *origin)
{
    const bool nhwc = movement->layout == MOVEMENT_NHWC;
    const uint32_t row = nhwc ? 1 : 2, channel = nhwc ? 3 : 1;
    const uint64_t b = movement->block, channels = movement->sources[0].shape[channel];
    const uint64_t block = at[channel] / channels;

    origin->at[0] = at[0];
    origin->at[row] = at[row] * b + block / b;
    origin->at[row + 1] = at[row + 1] * b + block % b;
    origin->at[channel] = at[channel] % channels;
}

/* Finds the source and the coordinate of the element at coordinate `at` of the result. */
static void find(const struct movement *movement, const uint64_t *at, struct origin *origin)
{
    *origin = (struct origin){.border = false};
    switch (movement->kind) {
    case MOVEMENT_COPY: /* see element_compute() */
        break;
    case MOVEMENT_TRANSPOSE:
        for (uint32_t d = 0; d < movement->rank; d++)
            origin->at[movement->perm[d]] = at[d];
        break;
    case MOVEMENT_SLICE:
        for (uint32_t d = 0; d < movement->rank; d++)
            origin->at[d] = (uint64_t)(movement->begin[d] + (int64_t)at[d] * movement->step[d]);
        break;
    case MOVEMENT_CONCAT:
        find_in_concat(movement, at, origin);
        break;
    case MOVEMENT_PAD:
        find_in_pad(movement, at, origin);
        break;
    case MOVEMENT_TILE:
        for (uint32_t d = 0; d < movement->rank; d++)
            origin->at[d] = at[d] % movement->sources[0].shape[d];
        break;
    case MOVEMENT_DEPTH_TO_SPACE:
        find_in_depth(movement, at, origin);
        break;
    case MOVEMENT_SPACE_TO_DEPTH:
        find_in_space(movement, at, origin);
        break;
    }
}

void element_compute(const struct movement *movement, const uint8_t *const *sources, uint8_t *out)
{
    const uint64_t count = movement_elements(movement->rank, movement->shape);
    const uint32_t size = movement->dtype->size;
    uint64_t at[MOVEMENT_RANK_MAX] = {0};

    if (movement->kind == MOVEMENT_COPY) {
        memcpy(out, sources[0], (size_t)(count * size));
        return;
    }
    for (uint64_t k = 0; k < count; k++) {
        struct origin origin;
        uint64_t position = 0;

        find(movement, at, &origin);
        for (uint32_t d = 0; d < movement->rank; d++)
            position = position * movement->sources[origin.source].shape[d] + origin.at[d];
        memcpy(out + k * size,
               origin.border ? movement->fill : sources[origin.source] + position * size, size);
        for (uint32_t d = movement->rank; d-- > 0 && ++at[d] == movement->shape[d];)
            at[d] = 0;
    }
}
