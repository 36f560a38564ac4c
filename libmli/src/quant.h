/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Quantisation parameters through a move. Per-tensor parameters are copied; per-axis arrays are
 * shared, left, or go through the same pad/crop/subsample/place as the axis they belong to. First
 * everything is checked, then it is applied.
 */
#ifndef MLI_QUANT_H
#define MLI_QUANT_H

#include <stdbool.h>

#include "libmli/src/geometry.h"
#include "libmli/src/tensor.h"
#include "mli_types.h"

/* What is to be done with the parameters; copies of all it needs, so that src may be dst. */
struct quant_move {
    mli_element_params params; /* of dst, once the arrays below are filled */
    bool fill;                 /* the arrays of params.sa are the caller's own memory */
    const int16_t *scale, *zero_point;
    const int8_t *scale_frac_bits; /* of the source */
    struct axis axis;              /* that carries the parameters */
};

/** Checks that a per-axis tensor's axis is one of its dimensions. */
mli_status quant_check_dim(const mli_tensor *tensor, const char *who);

/** Checks the source's arrays: there, and long enough for `entries`. */
mli_status quant_check_arrays(const mli_element_params *params, uint64_t entries, const char *who);

/** Checks that arrays of `entries` entries and `size` bytes at `bytes` are apart. */
mli_status quant_check_apart(const mli_element_params *params, uint64_t entries,
                             const uint8_t *bytes, uint64_t size, const char *who);

/** What the two functions below do for per-axis parameters. */
mli_status quant_plan_per_axis(struct quant_move *move, const struct geometry *g,
                               const mli_tensor *src, const mli_mov_cfg_t *cfg,
                               const mli_tensor *dst);
void quant_fill(const struct quant_move *move);

/** Decides; touches nothing. MLI_STATUS_OK or MLI_STATUS_SPEC_PARAM_MISMATCH. */
static inline mli_status quant_plan(struct quant_move *move, const struct geometry *g,
                                    const mli_tensor *src, const mli_mov_cfg_t *cfg,
                                    const mli_tensor *dst)
{
    move->params = src->el_params;
    move->fill = false;
    return tensor_is_per_axis(src) ? quant_plan_per_axis(move, g, src, cfg, dst) : MLI_STATUS_OK;
}

/** Fills the arrays and sets dst->el_params. */
static inline void quant_apply(const struct quant_move *move, mli_tensor *dst)
{
    dst->el_params = move->params;
    if (move->fill)
        quant_fill(move);
}

#endif /* MLI_QUANT_H */
