/* SPDX-License-Identifier: BSD-3-Clause */
/* The slots of one axis of a picture. */
#ifndef CLI_PICTURE_AXIS_H
#define CLI_PICTURE_AXIS_H

#include "cli/explain/picture.h"

/* Where an axis of the destination goes. */
struct picture_place {
    uint32_t extent;    /* of the tensor */
    uint64_t gap;       /* memory between each element and the next, in elements */
    uint64_t tail;      /* behind the last one, in steps of the axis */
    size_t room, edges; /* as of a struct picture_room */
};

/** An axis that the tensor does not have. */
void picture_axis_none(struct picture_axis *axis);

/** The axis of source dimension `dim`. */
void picture_axis_src(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
                      size_t room, size_t edges);

/**
 * The axis of the destination that source dimension `dim` becomes. Where not all of it is shown,
 * it is the samples on the scale that are.
 */
void picture_axis_dst(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
                      const struct picture_place *place, const struct picture_scale *scale);

#endif /* CLI_PICTURE_AXIS_H */
