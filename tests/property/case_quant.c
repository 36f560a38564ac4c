/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generates the quantisation of legal cases: per-tensor parameters, and per-axis parameters. The
 * destination's array pointers are null, equal to those of the source, or its own.
 */
#include <string.h>

#include "tests/property/random_case.h"

enum { AXIS_MAX = 16384 }; /* largest axis for which the test has memory */

static bool is_sa(const struct test_case *c)
{
    return c->src.el_type == MLI_EL_SA_8 || c->src.el_type == MLI_EL_SA_32;
}

bool case_is_per_axis(const struct test_case *c)
{
    return is_sa(c) && c->src.el_params.sa.dim >= 0;
}

static void per_tensor(struct test_case *c)
{
    static const int32_t none[] = {-1, -2, INT32_MIN};
    struct draw *draw = &c->draw;
    mli_element_params *p = &c->src.el_params;

    p->sa.type = MLI_EL_PARAM_SC16_ZP16;
    p->sa.dim = none[draw_below(draw, 3)];
    p->sa.zero_point.capacity = p->sa.scale.capacity = p->sa.scale_frac_bits.capacity = 0;
    p->sa.zero_point.mem.i16 = (int16_t)draw_next(draw);
    p->sa.scale.mem.i16 = (int16_t)draw_next(draw);
    p->sa.scale_frac_bits.mem.i8 = (int8_t)draw_below(draw, 31);
}

/* Places the parameter arrays of the tensor, with `entries` entries each, in watched memory. */
static void place_arrays(struct test_case *c, struct watched *at, mli_tensor *t, uint32_t entries)
{
    struct draw *draw = &c->draw;
    /* The factor 2 keeps arrays of int16_t aligned. */
    uint32_t more = draw_percent(draw, 60) ? 0 : 2 * draw_between(draw, 1, 4);
    mli_data_container *zp = &t->el_params.sa.zero_point;
    mli_data_container *scale = &t->el_params.sa.scale;
    mli_data_container *frac = &t->el_params.sa.scale_frac_bits;

    zp->capacity = scale->capacity = entries * (uint32_t)sizeof(int16_t) + more;
    frac->capacity = entries + more;
    watched_place(&at[0], draw, zp->capacity, 0);
    watched_place(&at[1], draw, scale->capacity, 0);
    watched_place(&at[2], draw, frac->capacity, 0);
    zp->mem.pi16 = (int16_t *)(void *)at[0].data;
    scale->mem.pi16 = (int16_t *)(void *)at[1].data;
    frac->mem.pi8 = (int8_t *)at[2].data;
}

static void share_by_null(struct test_case *c)
{
    mli_element_params *p = &c->dst.el_params;

    p->sa.zero_point.mem.pi16 = NULL;
    p->sa.scale.mem.pi16 = NULL;
    p->sa.scale_frac_bits.mem.pi8 = NULL;
    if (draw_percent(&c->draw, 80)) /* for a null pointer, the library ignores the capacity */
        p->sa.zero_point.capacity = p->sa.scale.capacity = p->sa.scale_frac_bits.capacity = 0;
}

static void share_by_pointer(struct test_case *c)
{
    c->dst.el_params.sa.zero_point = c->src.el_params.sa.zero_point;
    c->dst.el_params.sa.scale = c->src.el_params.sa.scale;
    c->dst.el_params.sa.scale_frac_bits = c->src.el_params.sa.scale_frac_bits;
}

/* The destination may share the source's arrays only if the cfg does not change the axis. */
static enum case_quant pick_option(struct test_case *c, uint32_t d, uint32_t i)
{
    const mli_mov_cfg_t *cfg = &c->cfg;
    bool cropped = cfg->size[d] && cfg->size[d] != c->src.shape[d];

    if (cfg->padding_pre[d] || cfg->padding_post[d] || cfg->offset[d] || cropped ||
        cfg->sub_sample_step[d] != 1 || cfg->dst_offset[i])
        return QUANT_OWN;
    return (enum case_quant)draw_below(&c->draw, 3);
}

static uint32_t axis_entries(const struct test_case *c, uint32_t d, uint32_t i)
{
    const mli_mov_cfg_t *cfg = &c->cfg;
    uint32_t padded = c->src.shape[d] + cfg->padding_pre[d] + cfg->padding_post[d];
    uint64_t size = cfg->size[d] ? cfg->size[d] : padded - cfg->offset[d];
    uint64_t step = cfg->sub_sample_step[d];

    return cfg->dst_offset[i] + (uint32_t)((size + step - 1) / step);
}

static void per_axis(struct test_case *c, uint32_t d)
{
    uint32_t i = 0;

    while (c->cfg.perm_dim[i] != d)
        i++;
    c->src.el_params.sa.type = MLI_EL_PARAM_SC16_ZP16;
    c->src.el_params.sa.dim = (int32_t)d;
    place_arrays(c, c->lab->src_q, &c->src, c->src.shape[d]);
    c->quant = pick_option(c, d, i);
    if (c->quant == QUANT_NULL)
        share_by_null(c);
    else if (c->quant == QUANT_SAME)
        share_by_pointer(c);
    else
        place_arrays(c, c->lab->dst_q, &c->dst, axis_entries(c, d, i));
}

void case_gen_quant(struct test_case *c)
{
    const uint32_t d = draw_below(&c->draw, c->src.rank);
    const bool axis = draw_percent(&c->draw, 45);

    c->quant = QUANT_NULL;
    /* fx types use only frac_bits and fp types use no parameters: all other members have random
     * bytes */
    if (!is_sa(c))
        return;
    if (axis && c->src.shape[d] <= AXIS_MAX)
        per_axis(c, d);
    else
        per_tensor(c);
}
