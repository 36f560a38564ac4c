/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantisation parameters of a move. Per-tensor parameters are copied. Per-axis arrays are shared,
 * stay as they are, or are padded, cropped, subsampled and placed like their axis. quant_plan()
 * makes all checks, then quant_apply() changes dst.
 */
#pragma once

#include <stdbool.h>

#include "libmli/src/geometry.h"
#include "libmli/src/tensor.h"
#include "mli_types.h"

/* The new parameters of dst. It has copies of all inputs, so src may be dst. */
struct quant_move {
    mli_element_params params; /* parameters of dst, after the arrays below are filled */
    bool fill; /* true: the arrays of params.sa are memory of the caller, to be filled */
    const int16_t *scale, *zero_point;
    const int8_t *scale_frac_bits; /* arrays of the source */
    struct axis axis;              /* the quantised axis */
};

/** Checks that the axis of a per-axis tensor is below its rank. */
mli_status quant_check_dim(const mli_tensor *tensor, const char *who);

/** Checks that the three arrays are not null and have `entries` entries. */
mli_status quant_check_arrays(const mli_element_params *params, uint64_t entries, const char *who);

/** Checks that three arrays of `entries` entries do not overlap `size` bytes at `bytes`. */
mli_status quant_check_apart(const mli_element_params *params, uint64_t entries,
                             const uint8_t *bytes, uint64_t size, const char *who);

/**
 * Checks that the move does not write into the source's parameter arrays, because it reads them or
 * dst shares them. Also checks that dst's own arrays overlap no other memory of the call.
 */
mli_status quant_check_overlap(const struct quant_move *move, const struct geometry *g,
                               const mli_tensor *src, const mli_tensor *dst);

/** The per-axis branches of quant_plan() and quant_apply(). */
mli_status quant_plan_per_axis(struct quant_move *move, const struct geometry *g,
                               const mli_tensor *src, const mli_mov_cfg_t *cfg,
                               const mli_tensor *dst);
void quant_fill(const struct quant_move *move);

/**
 * Checks the parameters and fills *move; changes no tensor. Returns MLI_STATUS_OK or
 * MLI_STATUS_SPEC_PARAM_MISMATCH.
 */
static inline mli_status quant_plan(struct quant_move *move, const struct geometry *g,
                                    const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                    const mli_tensor *dst)
{
    mli_status status;

    move->params = src->el_params;
    move->fill = false;
    if (!tensor_is_per_axis(src))
        return MLI_STATUS_OK;
    status = quant_plan_per_axis(move, g, src, cfg, dst);
    return status == MLI_STATUS_OK ? quant_check_overlap(move, g, src, dst) : status;
}

/** Sets dst->el_params and fills its arrays. */
static inline void quant_apply(const struct quant_move *move, mli_tensor *dst)
{
    dst->el_params = move->params;
    if (move->fill)
        quant_fill(move);
}
