/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/calibrate/sweep_move.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli/selftest/draw.h"

enum { MIN_BITS = 10, LINE = 64, PAD_MAX = 8, STEP_MAX = 4 };

const char *sweep_kind_name(enum sweep_kind kind)
{
#define SWEEP_KIND_NAME(name) [SWEEP_##name] = #name,
    static const char *const names[] = {SWEEP_KINDS(SWEEP_KIND_NAME)};
#undef SWEEP_KIND_NAME
    return names[kind];
}

/* Returns a random number from 0 to below 1. */
static double fraction(struct draw *draw)
{
    return (double)(draw_next(draw) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Picks extents with about `elements` elements together, which are divided at random. */
static void draw_shape(struct draw *draw, mli_tensor *t, double elements)
{
    static const uint32_t usual[] = {1, 2, 3, 4, 8, 10, 16, 24, 32, 48, 64, 96, 128, 256, 512};
    const bool channels = draw_once_in(draw, 2);
    double share[MLI_MAX_RANK], sum = 0, rest = elements;
    uint32_t from = 0;

    t->rank = draw_between(draw, 1, MLI_MAX_RANK);
    if (channels && t->rank > 1) { /* innermost or outermost, as in HWC and CHW */
        const uint32_t at = draw_once_in(draw, 4) ? 0 : t->rank - 1;

        t->shape[at] = usual[draw_below(draw, sizeof usual / sizeof *usual)];
        rest /= t->shape[at];
        from = at + 1; /* marks the dimension */
    }
    for (uint32_t d = 0; d < t->rank; d++)
        sum += share[d] = d + 1 == from ? 0 : 0.1 + fraction(draw);
    for (uint32_t d = 0; d < t->rank; d++)
        if (d + 1 != from)
            t->shape[d] = (uint32_t)fmax(1, exp2(log2(fmax(rest, 1)) * share[d] / sum) + 0.5);
}

/* Gives a tensor that is not packed a gap after each row of one dimension. */
static void draw_strides(struct draw *draw, uint32_t rank, const uint32_t *shape, int32_t *stride)
{
    const bool gaps = draw_once_in(draw, 4);
    const uint32_t at = draw_below(draw, rank);
    uint64_t next = 1;

    for (uint32_t d = rank; gaps && d-- > 0;) {
        stride[d] = (int32_t)next;
        next *= shape[d];
        if (d == at)
            next += draw_once_in(draw, 2) ? draw_between(draw, 1, 8) : draw_below(draw, shape[d]);
    }
}

static void draw_window(struct draw *draw, const mli_tensor *src, mli_mov_cfg_t *cfg)
{
    for (uint32_t d = 0; d < src->rank; d++) {
        if (draw_once_in(draw, 2))
            continue;
        cfg->size[d] = draw_between(draw, (src->shape[d] + 3) / 4, src->shape[d]);
        cfg->offset[d] = draw_below(draw, src->shape[d] - cfg->size[d] + 1);
    }
}

static void draw_steps(struct draw *draw, uint32_t rank, mli_mov_cfg_t *cfg)
{
    cfg->sub_sample_step[draw_below(draw, rank)] = draw_between(draw, 2, STEP_MAX);
    if (draw_once_in(draw, 2))
        cfg->sub_sample_step[draw_below(draw, rank)] = draw_between(draw, 2, STEP_MAX);
}

static void draw_permutation(struct draw *draw, uint32_t rank, mli_mov_cfg_t *cfg)
{
    for (uint32_t i = rank; i-- > 1;) {
        const uint32_t k = draw_below(draw, i + 1);
        const uint8_t other = cfg->perm_dim[i];

        cfg->perm_dim[i] = cfg->perm_dim[k];
        cfg->perm_dim[k] = other;
    }
}

static void draw_padding(struct draw *draw, uint32_t rank, mli_mov_cfg_t *cfg)
{
    for (int n = 0; n < 2; n++) {
        const uint32_t d = draw_below(draw, rank), width = draw_between(draw, 1, PAD_MAX);

        cfg->padding_pre[d] = (uint8_t)width;
        cfg->padding_post[d] = (uint8_t)(draw_once_in(draw, 4) ? 0 : width);
    }
}

/* Returns the extent of the move along a dimension of the destination. */
static uint32_t extent(const struct sweep_move *m, uint32_t dim)
{
    const uint32_t d = m->cfg.perm_dim[dim];
    const uint32_t padded = m->src.shape[d] + m->cfg.padding_pre[d] + m->cfg.padding_post[d];
    const uint32_t size = m->cfg.size[d] ? m->cfg.size[d] : padded - m->cfg.offset[d];

    return (size - 1) / m->cfg.sub_sample_step[d] + 1;
}

/* Places the result in a destination that is up to twice as large along one dimension. */
static void draw_place(struct draw *draw, struct sweep_move *m, uint32_t *whole)
{
    const uint32_t d = draw_below(draw, m->src.rank);
    const uint32_t more = draw_below(draw, whole[d] + 1);

    m->cfg.dst_offset[d] = draw_below(draw, more + 1);
    whole[d] += more;
}

static void draw_cfg(struct draw *draw, struct sweep_move *m)
{
    enum sweep_kind kind[2] = {m->kind, SWEEP_copy};

    mli_mov_cfg_for_copy(&m->cfg);
    if (m->kind == SWEEP_combined)
        for (int i = 0; i < 2; i++)
            kind[i] = (enum sweep_kind)draw_below(draw, SWEEP_combined);
    for (int i = 0; i < 2; i++) {
        if (kind[i] == SWEEP_slice)
            draw_window(draw, &m->src, &m->cfg);
        else if (kind[i] == SWEEP_subsample)
            draw_steps(draw, m->src.rank, &m->cfg);
        else if (kind[i] == SWEEP_permute)
            draw_permutation(draw, m->src.rank, &m->cfg);
        else if (kind[i] == SWEEP_pad)
            draw_padding(draw, m->src.rank, &m->cfg);
    }
    uint32_t whole[MLI_MAX_RANK] = {0};
    for (uint32_t d = 0; d < m->src.rank; d++)
        whole[d] = extent(m, d);
    if (kind[0] == SWEEP_concat || kind[1] == SWEEP_concat)
        draw_place(draw, m, whole);
    draw_strides(draw, m->src.rank, whole, m->dst.mem_stride);
    if (m->dst.mem_stride[0] == 0 && (kind[0] == SWEEP_concat || kind[1] == SWEEP_concat)) {
        int64_t next = 1;

        for (uint32_t d = m->src.rank; d-- > 0; next *= whole[d])
            m->dst.mem_stride[d] = (int32_t)next;
    }
}

static uint32_t draw_offset(struct draw *draw, uint32_t element)
{
    if (draw_once_in(draw, 4))
        return element * draw_below(draw, SWEEP_SLACK / element);
    return LINE * draw_below(draw, SWEEP_SLACK / LINE);
}

/* Returns the bytes from the first to the last element of a tensor; stride 0 means packed. */
static uint64_t span(const uint32_t *shape, const int32_t *stride, uint32_t rank, uint32_t element)
{
    uint64_t last = 0, packed = 1;

    for (uint32_t d = rank; d-- > 0;) {
        const uint64_t step = stride[d] ? (uint64_t)stride[d] : packed;

        last += step * (shape[d] - 1);
        packed = step * shape[d];
    }
    return (last + 1) * element;
}

static bool fits(const struct sweep_move *m, uint32_t element, uint64_t bytes)
{
    uint32_t shape[MLI_MAX_RANK] = {0};

    for (uint32_t d = 0; d < m->src.rank; d++)
        shape[d] = extent(m, d) + m->cfg.dst_offset[d];
    return span(m->src.shape, m->src.mem_stride, m->src.rank, element) <= bytes &&
           span(shape, m->dst.mem_stride, m->src.rank, element) <= bytes;
}

void sweep_move_draw(struct sweep_move *move, uint64_t seed, uint64_t index, uint64_t max_bytes)
{
    static const mli_element_type types[] = {MLI_EL_FX_8, MLI_EL_FX_16, MLI_EL_FP_32};
    struct draw draw = draw_init(seed, index);
    const double bits = log2((double)max_bytes) - MIN_BITS;
    uint32_t type, element;

    do {
        memset(move, 0, sizeof *move);
        type = draw_below(&draw, sizeof types / sizeof *types);
        element = 1u << type;
        move->kind = (enum sweep_kind)draw_below(&draw, SWEEP_KIND_COUNT);
        move->src.el_type = types[type];
        draw_shape(&draw, &move->src, exp2(MIN_BITS + bits * fraction(&draw)) / element);
        draw_strides(&draw, move->src.rank, move->src.shape, move->src.mem_stride);
        draw_cfg(&draw, move);
    } while (!fits(move, element, 2 * max_bytes));
    move->src_offset = draw_offset(&draw, element);
    move->dst_offset = draw_offset(&draw, element);
}
