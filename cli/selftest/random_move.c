/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/random_move.h"

#include <string.h>

enum {
    SMALL_BYTES = 4 * 1024,
    MIDDLE_BYTES = 64 * 1024,
    ATTEMPTS = 24,     /* each attempt halves the size; the last one always fits */
    FREE_ATTEMPTS = 8, /* attempts in which shapes of some classes ignore the size */
    KERNEL_TYPES = 4
};

/* The fields that a kind of move sets. */
static const struct fields {
    const char *name;
    bool window, place, step, permute, pad;
} kinds[] = {
#define FIELDS(name, window, place, step, permute, pad) {#name, window, place, step, permute, pad},
    MOVE_KINDS(FIELDS)
#undef FIELDS
};

/* Kernels exist for the first KERNEL_TYPES of these types. */
static const mli_element_type types[] = {MLI_EL_SA_8,  MLI_EL_FX_8,  MLI_EL_FX_16,
                                         MLI_EL_SA_32, MLI_EL_FP_16, MLI_EL_FP_32};

const char *random_move_kind_name(enum move_kind kind)
{
    return kinds[kind].name;
}

/* Shapes */

/* Picks extents with which blocked loops use every kind of blocking, with every remainder. */
static void draw_large_shape(struct draw *draw, mli_tensor *t)
{
    static const struct {
        uint32_t rank;
        struct {
            uint32_t least, most;
        } extents[MLI_MAX_RANK];
    } classes[] = {
        {2, {{40, 150}, {40, 200}}},         /* extents of a matrix */
        {3, {{2, 9}, {20, 70}, {20, 70}}},   /* planes */
        {3, {{20, 70}, {20, 70}, {1, 8}}},   /* extents of pixels of few channels */
        {2, {{20, 600}, {20, 600}}},         /* extents of a matrix of several streamed blocks */
        {3, {{10, 50}, {10, 50}, {16, 70}}}, /* extents of pixels of many channels */
        {4, {{2, 12}, {2, 16}, {10, 90}, {3, 24}}}, /* extents of short rows */
        {4, {{1, 4}, {1, 4}, {1, 4}, {300, 2500}}}, /* extents of long rows */
    };
    const uint32_t class = draw_below(draw, sizeof(classes) / sizeof(classes[0]));
    t->rank = classes[class].rank;
    for (uint32_t d = 0; d < t->rank; d++)
        t->shape[d] =
            draw_between(draw, classes[class].extents[d].least, classes[class].extents[d].most);
}

static void draw_short_shape(struct draw *draw, mli_tensor *t)
{
    static const uint32_t longest[MLI_MAX_RANK] = {80, 24, 10, 7};

    t->rank = draw_between(draw, 1, MLI_MAX_RANK);
    for (uint32_t d = 0; d < t->rank; d++)
        t->shape[d] = draw_percent(draw, 15) ? 1 : draw_between(draw, 1, longest[t->rank - 1]);
    if (draw_percent(draw, 15)) /* one dimension is long enough for vectors */
        t->shape[draw_below(draw, t->rank)] = draw_between(draw, 16, t->rank < 3 ? 300 : 80);
}

/* Picks random extents of any magnitude, with at most `elements` elements together. */
static void draw_any_shape(struct draw *draw, mli_tensor *t, uint64_t elements)
{
    t->rank = draw_between(draw, 1, MLI_MAX_RANK);
    const uint32_t first = draw_below(draw, t->rank);
    uint64_t left = elements ? elements : 1;
    for (uint32_t i = 0; i < t->rank; i++) {
        const uint32_t d = (first + i) % t->rank;
        const bool last = i + 1 == t->rank;
        t->shape[d] = last && draw_once_in(draw, 2) ? (uint32_t)left : draw_magnitude(draw, left);
        left /= t->shape[d];
    }
}

/* Picks a random size: mostly small, because small moves find as many mistakes; sometimes
 * large. */
static uint64_t draw_size(struct draw *draw, uint64_t max_bytes)
{
    const uint32_t size = draw_below(draw, 64);
    uint64_t bound = size == 0 ? max_bytes : size < 10 ? MIDDLE_BYTES : SMALL_BYTES;

    return bound < max_bytes ? bound : max_bytes;
}

static void draw_shape(struct draw *draw, mli_tensor *t, const struct move_rules *rules,
                       uint32_t attempt, uint64_t elements)
{
    const uint32_t class = draw_below(draw, 100);

    if (attempt < FREE_ATTEMPTS && class < rules->large_percent)
        draw_large_shape(draw, t);
    else if (attempt < FREE_ATTEMPTS && class < rules->large_percent + rules->short_percent)
        draw_short_shape(draw, t);
    else
        draw_any_shape(draw, t, elements);
}

/* Drawing a configuration. */

/* Percent of the dimensions in which a field is used. */
struct density {
    uint32_t plain; /* percent of dimensions for which all members of cfg are neutral */
    uint32_t pad, window, step, place;
};

static const struct density single = {0, 60, 65, 75, 70}, sparse = {30, 20, 40, 35, 20},
                            dense = {0, 60, 65, 70, 70};

static void draw_permutation(struct draw *draw, uint32_t rank, bool permuted, uint8_t *perm)
{
    for (uint32_t i = 0; i < rank && i < MLI_MAX_RANK; i++)
        perm[i] = (uint8_t)i;
    for (uint32_t i = rank; permuted && i-- > 1;) {
        const uint32_t k = draw_below(draw, i + 1);
        const uint8_t other = perm[i];
        perm[i] = perm[k];
        perm[k] = other;
    }
}

static uint8_t draw_padding(struct draw *draw, uint32_t percent)
{
    if (!draw_percent(draw, percent))
        return 0;
    return (uint8_t)(draw_percent(draw, 4) ? draw_between(draw, 4, UINT8_MAX)
                                           : draw_between(draw, 1, 4));
}

static uint32_t draw_step(struct draw *draw, uint32_t extent)
{
    static const uint32_t huge[] = {UINT32_MAX, UINT32_MAX - 1, 0x80000000u, 0x7fffffffu};
    const uint32_t class = draw_below(draw, 100);

    if (class < 4)
        return huge[draw_below(draw, 4)];
    return class < 12 ? draw_magnitude(draw, 2 * (uint64_t)extent) : draw_between(draw, 2, 9);
}

static uint32_t padded_extent(const struct random_move *m, uint32_t d)
{
    return m->src.shape[d] + m->cfg.padding_pre[d] + m->cfg.padding_post[d];
}

/* Picks a random window in the padded extent; the window may contain only padding. */
static void draw_window(struct random_move *m, struct draw *draw, uint32_t d, bool used,
                        uint32_t percent)
{
    const uint32_t padded = padded_extent(m, d);

    m->cfg.offset[d] = used && draw_percent(draw, percent) ? draw_below(draw, padded) : 0;
    const uint32_t left = padded - m->cfg.offset[d];
    m->cfg.size[d] = draw_percent(draw, used ? 50 : 90) ? 0 : left;
    if (used && m->cfg.size[d] && draw_percent(draw, 60))
        m->cfg.size[d] = draw_between(draw, 1, left);
}

/* Returns the number of samples of the window along source dimension d. */
static uint32_t samples(const struct random_move *m, uint32_t d)
{
    const uint32_t size = m->cfg.size[d] ? m->cfg.size[d] : padded_extent(m, d) - m->cfg.offset[d];

    return (size - 1) / m->cfg.sub_sample_step[d] + 1;
}

static void draw_cfg(struct random_move *m, struct draw *draw)
{
    const struct fields *fields = &kinds[m->kind];
    const uint32_t rank = m->src.rank;
    const struct density *density = m->kind != MOVE_all     ? &single
                                    : draw_once_in(draw, 4) ? &dense
                                                            : &sparse;
    mli_mov_cfg_t *cfg = &m->cfg;
    const bool permuted = fields->permute && (m->kind == MOVE_permute || draw_percent(draw, 60));

    draw_permutation(draw, rank, permuted, cfg->perm_dim);
    for (uint32_t d = 0; d < rank; d++) {
        const bool plain = draw_percent(draw, density->plain);
        const uint32_t pad = fields->pad && !plain ? density->pad : 0;
        cfg->padding_pre[d] = draw_padding(draw, pad);
        cfg->padding_post[d] = draw_padding(draw, pad);
        draw_window(m, draw, d, fields->window && !plain, density->window);
        cfg->sub_sample_step[d] = fields->step && !plain && draw_percent(draw, density->step)
                                      ? draw_step(draw, m->src.shape[d])
                                      : 1;
        cfg->dst_offset[d] = 0;
        if (fields->place && draw_percent(draw, density->place))
            cfg->dst_offset[d] =
                draw_percent(draw, 12) ? draw_magnitude(draw, 64) : draw_between(draw, 1, 5);
    }
    for (uint32_t i = 0; i < rank; i++) {
        m->count[i] = samples(m, cfg->perm_dim[i]);
        m->dst_shape[i] = m->count[i] + cfg->dst_offset[i];
    }
}

/* Strides */

/*
 * Picks random strides of nested dimensions: the order of the dimensions is their own (`natural`)
 * or random, and each stride is at least the span of the dimensions inside. Returns false if the
 * tensor exceeds max_elements.
 */
static bool nest(struct draw *draw, uint32_t rank, const uint32_t *extent, bool natural,
                 uint64_t max_elements, int32_t *stride)
{
    uint8_t order[MLI_MAX_RANK];
    const bool gaps = draw_percent(draw, 60);
    uint64_t next = draw_percent(draw, 20) ? draw_between(draw, 2, 5) : 1;

    for (uint32_t i = 0; i < rank; i++)
        order[i] = (uint8_t)(rank - 1 - i);
    for (uint32_t i = rank; !natural && i > 1; i--) {
        const uint32_t k = draw_below(draw, i);
        const uint8_t other = order[i - 1];
        order[i - 1] = order[k];
        order[k] = other;
    }
    for (uint32_t i = 0; i < rank; i++) {
        if (next > max_elements)
            return false;
        stride[order[i]] = (int32_t)next;
        next *= extent[order[i]];
        if (gaps)
            next += draw_once_in(draw, 6) ? draw_magnitude(draw, 64) : draw_below(draw, 6);
    }
    return true;
}

/* Sets strides with dimension 0 innermost, without gaps. */
static bool nest_fortran(uint32_t rank, const uint32_t *extent, uint64_t max_elements,
                         int32_t *stride)
{
    uint64_t next = 1;

    for (uint32_t d = 0; d < rank; next *= extent[d++]) {
        if (next > max_elements)
            return false;
        stride[d] = (int32_t)next;
    }
    return true;
}

/* Picks random strides at which elements may share memory. */
static bool draw_free_strides(struct draw *draw, uint32_t rank, uint32_t most, int32_t *stride)
{
    for (uint32_t d = 0; d < rank; d++)
        stride[d] = (int32_t)draw_between(draw, 1, draw_percent(draw, 50) ? 4 : most);
    return true;
}

/* Sets at least one stride to 0, for the library to compute, and keeps at least one stride. */
static void leave_out(struct draw *draw, uint32_t rank, int32_t *stride)
{
    const uint32_t kept = rank > 1 ? draw_between(draw, 1, (1u << rank) - 2) : 1;

    for (uint32_t d = 0; d < rank; d++)
        stride[d] = kept >> d & 1 ? stride[d] : 0;
}

/* Returns the number of elements from the first to the last, both included. */
static uint64_t span(uint32_t rank, const uint32_t *extent, const int32_t *stride)
{
    uint64_t last = 0;

    for (uint32_t d = 0; d < rank; d++)
        last += (uint64_t)(extent[d] - 1) * (uint64_t)stride[d];
    return last + 1;
}

/*
 * Computes the strides that are not given: the next inner stride times the next inner extent.
 * Returns false if the tensor or a stride exceeds its limit.
 */
static bool resolve(uint32_t rank, const uint32_t *extent, const int32_t *given,
                    uint64_t max_elements, int32_t *stride)
{
    for (uint32_t d = rank; d-- > 0;) {
        const uint64_t packed = d + 1 < rank ? (uint64_t)stride[d + 1] * extent[d + 1] : 1;
        if (given[d] == 0 && packed > INT32_MAX)
            return false;
        stride[d] = given[d] ? given[d] : (int32_t)packed;
    }
    return span(rank, extent, stride) <= max_elements;
}

static bool draw_src_strides(struct random_move *m, struct draw *draw, uint64_t max_elements)
{
    const uint32_t rank = m->src.rank, class = draw_below(draw, 100);
    const uint32_t *extent = m->src.shape;
    int32_t *given = m->src.mem_stride;
    bool fits = true;

    if (class < 28) /* packed */
        memset(given, 0, rank * sizeof(*given));
    else if (class < 55)
        fits = nest(draw, rank, extent, true, max_elements, given);
    else if (class < 68)
        fits = nest_fortran(rank, extent, max_elements, given);
    else if (class < 82)
        fits = nest(draw, rank, extent, false, max_elements, given);
    else /* elements of a source may share memory */
        fits = draw_free_strides(draw, rank, 60, given);
    if (class >= 28 && draw_percent(draw, 60))
        leave_out(draw, rank, given);
    for (uint32_t d = 0; d < rank; d++) { /* the stride of an extent of 1 is not used */
        if (extent[d] == 1 && draw_percent(draw, 25))
            given[d] = (int32_t)draw_between(draw, 1, 1000000);
    }
    return fits && resolve(rank, extent, given, max_elements, m->src_stride);
}

/* Picks random extents of a tensor that contains the destination; half of the time a larger
 * one. */
static void draw_whole(struct draw *draw, uint32_t rank, const uint32_t *shape, uint32_t *whole)
{
    const bool larger = draw_once_in(draw, 2);

    for (uint32_t d = 0; d < rank; d++)
        whole[d] = shape[d] + (larger && draw_once_in(draw, 2) ? draw_below(draw, 5) : 0);
}

/* Picks random strides at which no two elements share memory, unless `any` is set. */
static bool draw_given_dst(const struct random_move *m, struct draw *draw, bool any,
                           uint64_t max_elements, int32_t *given)
{
    const uint32_t rank = m->src.rank, class = draw_below(draw, 100);
    uint32_t whole[MLI_MAX_RANK] = {0};
    bool fits = true;

    draw_whole(draw, rank, m->dst_shape, whole);
    if (class < 22) /* packed */
        memset(given, 0, rank * sizeof(*given));
    else if (class < 55)
        fits = nest(draw, rank, whole, true, max_elements, given);
    else if (class < 63)
        fits = nest_fortran(rank, whole, max_elements, given);
    else if (class < 84)
        fits = nest(draw, rank, whole, false, max_elements, given);
    else if (class < 97 || !any) /* rows may be closer than a row is wide */
        fits = nest(draw, rank, m->count, draw_once_in(draw, 2), max_elements, given);
    else
        fits = draw_free_strides(draw, rank, 30, given);
    /* Strides may only be left out if the outer dimensions have the larger strides. */
    if (class >= 22 && (class < 55 || any) && draw_percent(draw, 60))
        leave_out(draw, rank, given);
    return fits;
}

static bool draw_dst_strides(struct random_move *m, struct draw *draw, bool any,
                             uint64_t max_elements)
{
    const uint32_t rank = m->src.rank;
    int32_t given[MLI_MAX_RANK] = {0};

    if (!draw_given_dst(m, draw, any, max_elements, given) ||
        !resolve(rank, m->dst_shape, given, max_elements, m->dst_stride))
        return false;
    for (uint32_t d = 0; d < rank; d++) {
        const bool in_cfg = given[d] && draw_percent(draw, 55);
        /* cfg overrides the stride of the tensor, which may then be any legal number */
        m->cfg.dst_mem_stride[d] = in_cfg ? given[d] : 0;
        m->dst.mem_stride[d] = in_cfg ? (int32_t)draw_below(draw, 50) : given[d];
    }
    return true;
}

uint64_t random_move_src_bytes(const struct random_move *m)
{
    return span(m->src.rank, m->src.shape, m->src_stride) * m->element_size;
}

uint64_t random_move_dst_bytes(const struct random_move *m)
{
    return span(m->src.rank, m->dst_shape, m->dst_stride) * m->element_size;
}

void random_move_for_kernel(struct random_move *m)
{
    m->dst.rank = m->src.rank;
    m->dst.el_type = m->src.el_type;
    for (uint32_t i = 0; i < m->src.rank; i++) {
        m->dst.shape[i] = m->dst_shape[i];
        if (m->cfg.dst_mem_stride[i])
            m->dst.mem_stride[i] = m->cfg.dst_mem_stride[i];
        m->cfg.dst_mem_stride[i] = 0;
    }
}

static bool draw_move(struct random_move *m, struct draw *draw, const struct move_rules *rules)
{
    const uint64_t max_elements = rules->max_bytes / m->element_size;

    draw_cfg(m, draw);
    return draw_src_strides(m, draw, max_elements) &&
           draw_dst_strides(m, draw, rules->any_destination, max_elements);
}

static enum move_kind draw_kind(struct draw *draw, const struct move_rules *rules)
{
    const bool combined = draw_percent(draw, rules->combined_percent);
    const enum move_kind kind = (enum move_kind)draw_below(draw, MOVE_all);

    return rules->kernel ? MOVE_permute : combined ? MOVE_all : kind;
}

void random_move_draw(struct random_move *m, struct draw *draw, const struct move_rules *rules)
{
    static const struct move_rules one_element = {.max_bytes = SMALL_BYTES};
    const uint32_t type =
        draw_below(draw, rules->kernel ? KERNEL_TYPES : sizeof(types) / sizeof(types[0]));
    const uint64_t size = draw_size(draw, rules->max_bytes);
    bool fits = false;

    m->src.el_type = types[type];
    m->element_size = ((uint32_t)types[type] & 0xff) / 8;
    m->kind = draw_kind(draw, rules);
    for (uint32_t attempt = 0; attempt < ATTEMPTS && !fits; attempt++) {
        draw_shape(draw, &m->src, rules, attempt, (size >> attempt) / m->element_size);
        fits = draw_move(m, draw, rules);
    }
    if (!fits)
        m->kind = MOVE_copy;
    while (!fits) {
        m->src.rank = m->src.shape[0] = 1;
        fits = draw_move(m, draw, &one_element);
    }
    if (rules->kernel)
        random_move_for_kernel(m);
}
