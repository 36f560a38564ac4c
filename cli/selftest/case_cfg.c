/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a move's configuration, by the kind of the case. */
#include "cli/selftest/selftest_case.h"

/* Which fields a kind of move sets. */
static const struct fields {
    bool window, place, step, permute, pad;
} kinds[] = {
#define FIELDS(name, window, place, step, permute, pad) {window, place, step, permute, pad},
    CASE_KINDS(FIELDS)
#undef FIELDS
};

static void draw_permutation(struct draw *draw, uint32_t rank, uint8_t *out)
{
    for (uint32_t i = 0; i < rank; i++) {
        const uint32_t j = draw_below(draw, i + 1);
        out[i] = out[j];
        out[j] = (uint8_t)i;
    }
}

/* A part of the padded extent; it may lie in the padding altogether. */
static void draw_window(struct move_case *c, struct draw *draw, uint32_t d)
{
    const uint32_t padded = c->src.shape[d] + c->cfg.padding_pre[d] + c->cfg.padding_post[d];
    c->cfg.offset[d] = draw_once_in(draw, 3) ? 0 : draw_below(draw, padded);
    c->cfg.size[d] =
        draw_once_in(draw, 4) ? 0 : 1 + draw_below(draw, (uint64_t)padded - c->cfg.offset[d]);
}

/* Samples of the window along source dimension d. */
static uint32_t samples(const struct move_case *c, uint32_t d)
{
    const uint32_t padded = c->src.shape[d] + c->cfg.padding_pre[d] + c->cfg.padding_post[d];
    const uint32_t size = c->cfg.size[d] ? c->cfg.size[d] : padded - c->cfg.offset[d];
    return (size - 1) / c->cfg.sub_sample_step[d] + 1;
}

void case_draw_cfg(struct move_case *c, struct draw *draw, uint32_t pad_max)
{
    const struct fields *fields = &kinds[c->kind];
    mli_mov_cfg_t *cfg = &c->cfg;
    mli_mov_cfg_for_copy(cfg);
    if (fields->permute)
        draw_permutation(draw, c->src.rank, cfg->perm_dim);
    for (uint32_t d = 0; d < c->src.rank; d++) {
        if (fields->pad) {
            cfg->padding_pre[d] = (uint8_t)draw_below(draw, pad_max + 1);
            cfg->padding_post[d] = (uint8_t)draw_below(draw, pad_max + 1);
        }
        if (fields->window)
            draw_window(c, draw, d);
        if (fields->step)
            cfg->sub_sample_step[d] =
                draw_magnitude(draw, draw_once_in(draw, 8) ? 2 * (uint64_t)c->src.shape[d] : 4);
        if (fields->place)
            cfg->dst_offset[d] =
                draw_once_in(draw, 8) ? draw_magnitude(draw, 64) : draw_below(draw, 5);
    }
    for (uint32_t i = 0; i < c->src.rank; i++) {
        c->count[i] = samples(c, cfg->perm_dim[i]);
        c->dst_shape[i] = c->count[i] + cfg->dst_offset[i];
    }
}
