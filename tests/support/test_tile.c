/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/support/test_tile.h"

#include <string.h>

static void per_tensor(mli_element_params *p)
{
    p->sa.dim = -1;
    p->sa.zero_point.mem.i16 = -3;
    p->sa.scale.mem.i16 = 77;
    p->sa.scale_frac_bits.mem.i8 = 10;
}

void tile_init(struct tile *t, mli_element_type type)
{
    memset(t, 0, sizeof(*t));
    for (size_t i = 0; i < sizeof(t->in); i++)
        t->in[i] = (uint8_t)(i + 1);
    memset(t->out, 0xA5, sizeof(t->out));
    t->src.data.mem.pi8 = (int8_t *)t->in;
    t->src.rank = 3;
    t->src.shape[0] = TILE_H;
    t->src.shape[1] = TILE_W;
    t->src.shape[2] = TILE_C;
    t->src.el_type = type;
    if (type == MLI_EL_SA_8 || type == MLI_EL_SA_32)
        per_tensor(&t->src.el_params);
    else
        t->src.el_params.fx.frac_bits = 5;
    t->src.data.capacity = tile_bytes(t);
    t->dst.data.mem.pi8 = (int8_t *)t->out;
    t->dst.data.capacity = sizeof(t->out);
    mli_mov_cfg_for_copy(&t->cfg);
    t->psrc = &t->src;
    t->pcfg = &t->cfg;
    t->ppermute = &t->permute_cfg;
    t->pdst = &t->dst;
}

uint32_t tile_bytes(const struct tile *t)
{
    /* The low byte of a type has the size of the element in bits. */
    return TILE_ELEMENTS * ((uint32_t)t->src.el_type & 0xFF) / 8;
}

static void set_arrays(mli_element_params *p, int16_t *zero_point, int16_t *scale, int8_t *frac,
                       uint32_t entries)
{
    p->sa.zero_point.mem.pi16 = zero_point;
    p->sa.scale.mem.pi16 = scale;
    p->sa.scale_frac_bits.mem.pi8 = frac;
    p->sa.zero_point.capacity = p->sa.scale.capacity = entries * (uint32_t)sizeof(int16_t);
    p->sa.scale_frac_bits.capacity = entries;
}

void tile_per_axis(struct tile *t, int32_t dim, enum tile_arrays arrays)
{
    for (int i = 0; i < 16; i++) {
        t->zero_point[i] = (int16_t)(100 + i);
        t->scale[i] = (int16_t)(200 + i);
        t->frac[i] = (int8_t)(i + 1);
        t->own_zero_point[i] = t->own_scale[i] = -7;
        t->own_frac[i] = -7;
    }
    t->src.el_params.sa.dim = dim;
    set_arrays(&t->src.el_params, t->zero_point, t->scale, t->frac, t->src.shape[dim]);
    tile_give_arrays(t, arrays);
}

void tile_give_arrays(struct tile *t, enum tile_arrays arrays)
{
    mli_element_params *to = &t->dst.el_params;

    if (arrays == TILE_NULL)
        set_arrays(to, NULL, NULL, NULL, 0);
    else if (arrays == TILE_SAME)
        set_arrays(to, t->zero_point, t->scale, t->frac, t->src.shape[t->src.el_params.sa.dim]);
    else
        set_arrays(to, t->own_zero_point, t->own_scale, t->own_frac, 16);
}

void tile_for_permute(struct tile *t, uint8_t p0, uint8_t p1, uint8_t p2)
{
    const uint8_t perm[3] = {p0, p1, p2};

    t->dst.rank = t->src.rank;
    t->dst.el_type = t->src.el_type;
    for (uint32_t i = 0; i < 3; i++) {
        t->permute_cfg.perm_dim[i] = t->cfg.perm_dim[i] = perm[i];
        t->dst.shape[i] = t->src.shape[perm[i]];
    }
}

mli_status tile_sync(struct tile *t)
{
    return mli_mov_tensor_sync(t->psrc, t->pcfg, t->pdst);
}

mli_status tile_prepare(struct tile *t, mli_mov_handle_t *h)
{
    return mli_mov_prepare(h, t->psrc, t->pcfg, t->pdst);
}
