/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of one axis of a picture; for picture.c only. */
#ifndef CLI_PICTURE_AXIS_H
#define CLI_PICTURE_AXIS_H

#include "cli/explain/picture.h"

/* An axis of the destination in memory and in the picture. */
struct picture_place {
    uint32_t extent;    /* extent of the destination's tensor */
    uint64_t gap;       /* memory between two elements of the axis, in elements */
    uint64_t tail;      /* memory after the last element, in strides of the axis */
    size_t room, edges; /* limits on the slots of the axis, as in struct picture_room */
};

/** Sets the axis of a dimension that the tensor does not have: one slot. */
void picture_axis_none(struct picture_axis *axis);

/** Sets the axis of source dimension `dim`. */
void picture_axis_src(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
                      size_t room, size_t edges);

/**
 * Sets the destination axis that source dimension `dim` becomes. If it has no room for all
 * elements, it shows the samples on the scale, so that each of them has a cell on both sides.
 */
void picture_axis_dst(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
                      const struct picture_place *place, const struct picture_scale *scale);

#endif /* CLI_PICTURE_AXIS_H */
