/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts a map of indices to the cfg of a move. index_map_of() does the opposite. The result does
 * not say where the destination is placed (dst_offset, dst_mem_stride).
 */
#pragma once

#include <stdint.h>

#include "cli/optimise/index_map.h"
#include "proto/wire/job.h"

/* The source tensor of a move. */
struct move_source {
    uint64_t address; /* address of the first element */
    uint32_t rank;
    uint32_t shape[MLI_MAX_RANK];
    uint64_t stride[MLI_MAX_RANK]; /* in bytes */
};

enum move_form {
    MOVE_FORM_FOUND,
    MOVE_FORM_RANK,    /* the source has another rank than the destination */
    MOVE_FORM_BORDER,  /* an element beyond the window would be read instead of a zero */
    MOVE_FORM_PADDING, /* more padding than a move can have */
    MOVE_FORM_STEPS,   /* a step of the map is no step along a dimension of the source */
    MOVE_FORM_RANGE    /* a number exceeds its limit in a job */
};

/** Finds a move of `source` whose result has `map`. Sets the cfg and the lengths of its arrays,
 * except the placement. */
enum move_form move_form_of(const struct index_map *map, const struct move_source *source,
                            struct job_common *common);

/** Finds a source tensor and a move for a map that reads a raw file or a buffer. There the job
 * describes the tensor: *source gets the shape and strides of the elements that the map reads. */
enum move_form move_form_free(const struct index_map *map, struct move_source *source,
                              struct job_common *common);
