/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/target/limit_move.h"

#include <string.h>

enum {
    RUN_HUGE = 20 << 20,     /* limit on the bytes of a run in one of HUGE_ONCE_IN moves */
    COUNT_MOST = 140 * 1000, /* limit on the number of short rows in a move */
    STEP_MOST = 40 << 20,    /* bytes */
    ELEMENTS_MOST = 1 << 18, /* number of elements of nested loops */
    EXTENT_USUAL = 300,      /* used if the controller has no limit */
    HUGE_ONCE_IN = 64
};

static const char *const names[] = {
#define LIMIT_NAME(name, text) #name,
    LIMIT_CLASSES(LIMIT_NAME)
#undef LIMIT_NAME
};

const char *limit_class_name(enum limit_class class)
{
    return names[class];
}

/*
 * Returns a random number from 1 to `most`, near a small multiple of the limit. If the limit is 0
 * or too large, the number has any magnitude.
 */
static uint32_t near(struct draw *draw, uint64_t limit, uint64_t most)
{
    const uint64_t times = draw_between(draw, 1, 3);
    uint64_t at = limit * (limit <= most / times ? times : 1) + draw_below(draw, 7);

    if (limit == 0 || limit > most)
        return draw_magnitude(draw, most);
    at = at > 3 ? at - 3 : 1;
    return (uint32_t)(at < most ? at : most);
}

static uint32_t near_elements(const struct random_move *m, struct draw *draw, uint64_t limit,
                              uint64_t most)
{
    const uint32_t elements = near(draw, limit, most) / m->element_size;

    return elements > 0 ? elements : 1;
}

/*
 * Chooses a limit on bytes at random: a run, a descriptor, one burst, or 256 bursts. If the
 * controller does not have this limit, uses its limit on runs, or else 16 bursts.
 */
static uint64_t run_limit(struct draw *draw, const struct mli_channel_caps *caps, uint32_t burst)
{
    const uint64_t limits[] = {caps->run_max, caps->bytes_max, (uint64_t)burst * 256, burst};
    const uint64_t limit = limits[draw_below(draw, 4)];

    if (limit > 0)
        return limit;
    return caps->run_max > 0 ? caps->run_max : (uint64_t)burst * 16;
}

static void set_shape(struct random_move *m, uint32_t rank, const uint32_t *shape)
{
    m->src.rank = rank;
    memcpy(m->src.shape, shape, rank * sizeof *shape);
    for (uint32_t d = 0; d < rank; d++) {
        m->cfg.perm_dim[d] = (uint8_t)d;
        m->cfg.sub_sample_step[d] = 1;
    }
}

static void draw_run(struct random_move *m, struct draw *draw, const struct mli_channel_caps *caps,
                     uint32_t burst)
{
    const bool huge = draw_once_in(draw, HUGE_ONCE_IN);
    const uint64_t limit = run_limit(draw, caps, burst);
    const uint32_t run = near_elements(m, draw, limit, huge ? RUN_HUGE : LIMIT_RUN_MOST);
    const uint32_t rows =
        run < LIMIT_RUN_MOST / 4 && draw_percent(draw, 60) ? draw_between(draw, 2, 3) : 1;

    set_shape(m, 2, (uint32_t[]){rows, run});
}

/* Makes rows whose bytes together are about the limit of a descriptor. */
static void draw_bytes(struct random_move *m, struct draw *draw,
                       const struct mli_channel_caps *caps, uint32_t burst)
{
    const uint64_t limit = caps->bytes_max ? caps->bytes_max : (uint64_t)burst * 256;
    const uint32_t all = near_elements(m, draw, limit, LIMIT_RUN_MOST),
                   run = draw_magnitude(draw, all);

    set_shape(m, 2, (uint32_t[]){(all - 1) / run + draw_between(draw, 1, 2), run});
}

static uint32_t draw_count(struct draw *draw, const struct mli_channel_caps *caps)
{
    const bool far = draw_once_in(draw, 6);

    return near(draw, caps->count_max, far ? COUNT_MOST : 20 * (uint64_t)EXTENT_USUAL);
}

static void draw_rows(struct random_move *m, struct draw *draw, const struct mli_channel_caps *caps)
{
    set_shape(m, 2, (uint32_t[]){draw_count(draw, caps), draw_between(draw, 1, 6)});
}

static uint32_t small_count(struct draw *draw, const struct mli_channel_caps *caps)
{
    const uint32_t count = near(draw, caps->count_max, 4 * (uint64_t)EXTENT_USUAL);

    return draw_once_in(draw, 2) ? draw_between(draw, 2, 9) : count;
}

static void draw_nest(struct random_move *m, struct draw *draw, const struct mli_channel_caps *caps)
{
    const uint32_t rank = draw_between(draw, 3, 4);
    uint32_t shape[MLI_MAX_RANK], elements = 1;

    for (uint32_t d = rank; d-- > 0;) {
        shape[d] = d + 1 == rank ? draw_between(draw, 1, 9) : small_count(draw, caps);
        if (shape[d] > ELEMENTS_MOST / elements)
            shape[d] = 1;
        elements *= shape[d];
    }
    set_shape(m, rank, shape);
}

static void draw_pad(struct random_move *m, struct draw *draw, const struct mli_channel_caps *caps,
                     uint32_t burst)
{
    const bool wide = draw_once_in(draw, 2);
    const uint64_t limit = run_limit(draw, caps, burst) / draw_between(draw, 1, 4);
    const uint32_t run = near_elements(m, draw, limit, LIMIT_RUN_MOST / 4);

    if (wide) {
        set_shape(m, 2, (uint32_t[]){draw_between(draw, 1, 3), run});
        m->cfg.padding_pre[0] = (uint8_t)draw_below(draw, 5);
        m->cfg.padding_post[0] = (uint8_t)draw_below(draw, 3);
    } else {
        draw_rows(m, draw, caps);
        m->cfg.padding_pre[0] = (uint8_t)draw_below(draw, 200);
    }
    m->cfg.padding_pre[1] = (uint8_t)draw_below(draw, 40);
    m->cfg.padding_post[1] = (uint8_t)draw_below(draw, 5);
}

static void draw_subsample(struct random_move *m, struct draw *draw,
                           const struct mli_channel_caps *caps)
{
    const uint32_t step = draw_between(draw, 2, 5), count = draw_count(draw, caps);

    set_shape(m, 2, (uint32_t[]){draw_between(draw, 1, 3), count * step - draw_below(draw, step)});
    m->cfg.sub_sample_step[1] = step;
    m->cfg.offset[1] = count > 3 ? draw_below(draw, 4) : 0;
}

static void draw_permute(struct random_move *m, struct draw *draw,
                         const struct mli_channel_caps *caps)
{
    static const uint8_t orders[][3] = {{1, 0, 2}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}};
    const uint32_t tall = draw_count(draw, caps) / 4 + 1;

    set_shape(m, 3, (uint32_t[]){tall, draw_between(draw, 1, 8), draw_between(draw, 1, 5)});
    memcpy(m->cfg.perm_dim, orders[draw_below(draw, 5)], 3);
}

/*
 * Chooses strides: packed, with gaps of a few elements, or up to the largest step of the
 * controller.
 */
static void draw_strides(struct draw *draw, uint32_t rank, const uint32_t *shape, uint64_t pitch,
                         int32_t *stride)
{
    const bool gaps = draw_percent(draw, 60);
    uint64_t next = draw_percent(draw, 4) ? 2 : 1;

    for (uint32_t d = rank; d-- > 0;) {
        if (d == 0 && rank > 1 && pitch > next)
            next = pitch;
        stride[d] = (int32_t)next;
        next = next * shape[d] + (gaps && d > 0 ? draw_below(draw, 5) : 0);
    }
}

/* Computes the shape of the destination, then the strides of both sides. */
static void finish(struct random_move *m, struct draw *draw, uint64_t src_pitch, uint64_t dst_pitch)
{
    for (uint32_t i = 0; i < m->src.rank; i++) {
        const uint32_t d = m->cfg.perm_dim[i];
        const uint32_t window =
            m->cfg.padding_pre[d] + m->src.shape[d] + m->cfg.padding_post[d] - m->cfg.offset[d];

        m->count[i] = (window - 1) / m->cfg.sub_sample_step[d] + 1;
        m->dst_shape[i] = m->count[i];
    }
    draw_strides(draw, m->src.rank, m->src.shape, src_pitch, m->src.mem_stride);
    draw_strides(draw, m->src.rank, m->dst_shape, dst_pitch, m->dst.mem_stride);
    memcpy(m->src_stride, m->src.mem_stride, sizeof m->src_stride);
    memcpy(m->dst_stride, m->dst.mem_stride, sizeof m->dst_stride);
}

void limit_move_draw(struct random_move *m, struct draw *draw, enum limit_class class,
                     const struct mli_channel_caps *caps, uint32_t burst)
{
    static const mli_element_type types[] = {MLI_EL_FX_8, MLI_EL_FX_16, MLI_EL_FP_32, MLI_EL_FP_32};
    uint64_t src_pitch = 0, dst_pitch = 0;

    *m = (struct random_move){.kind = MOVE_all, .src.el_type = types[draw_below(draw, 4)]};
    m->element_size = ((uint32_t)m->src.el_type & 0xff) / 8;
    switch (class) {
    case LIMIT_run:
        draw_run(m, draw, caps, burst);
        break;
    case LIMIT_bytes:
        draw_bytes(m, draw, caps, burst);
        break;
    case LIMIT_step:
        set_shape(m, 2, (uint32_t[]){draw_between(draw, 2, 4), draw_magnitude(draw, 2000)});
        src_pitch = draw_percent(draw, 70) ? near_elements(m, draw, caps->step_max, STEP_MOST) : 0;
        dst_pitch = draw_percent(draw, 70) ? near_elements(m, draw, caps->step_max, STEP_MOST) : 0;
        break;
    case LIMIT_nest:
        draw_nest(m, draw, caps);
        break;
    case LIMIT_pad:
        draw_pad(m, draw, caps, burst);
        break;
    case LIMIT_subsample:
        draw_subsample(m, draw, caps);
        break;
    case LIMIT_permute:
        draw_permute(m, draw, caps);
        break;
    default:
        draw_rows(m, draw, caps);
        break;
    }
    finish(m, draw, src_pitch, dst_pitch);
}
