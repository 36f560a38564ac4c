/* SPDX-License-Identifier: BSD-3-Clause */
#include "python/core/nest.h"

enum {
    ZEROS_MAX = UINT8_MAX, /* of mli_mov_cfg_t.padding_pre and padding_post */
};

static const int64_t SPAN_MAX = UINT32_MAX; /* of mli_data_container.capacity */
static const int64_t STEP_MAX = INT32_MAX;  /* of mli_tensor.mem_stride, in elements */

static int64_t extent_of(const struct axis *axis)
{
    return axis->before + axis->samples + axis->after;
}

static bool has_zeros(const struct axis *axis)
{
    return axis->before > 0 || axis->after > 0;
}

/* Folding */

/* Sorts by destination steps, the largest first. Stable, for axes of extent 1. */
static void sort(struct axis *axis, uint32_t rank)
{
    for (uint32_t i = 1; i < rank; i++) {
        const struct axis moved = axis[i];
        uint32_t at = i;

        for (; at > 0 && axis[at - 1].dst_step < moved.dst_step; at--)
            axis[at] = axis[at - 1];
        axis[at] = moved;
    }
}

/* Returns whether an outer and an inner axis step through memory like one axis. */
static bool is_one_axis(const struct axis *outer, const struct axis *inner)
{
    if (has_zeros(inner) || outer->dst_step != inner->dst_step * inner->samples)
        return false;
    if (outer->samples > 1 && outer->src_step != inner->src_step * inner->samples)
        return false;
    return outer->before * inner->samples <= ZEROS_MAX &&
           outer->after * inner->samples <= ZEROS_MAX;
}

/* Removes axes of one sample and merges neighbours. Returns the new rank, at least 1. */
static uint32_t merge(struct axis *axis, uint32_t rank)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < rank; i++) {
        if (extent_of(&axis[i]) == 1 && axis[i].samples == 1)
            continue;
        if (kept > 0 && is_one_axis(&axis[kept - 1], &axis[i])) {
            const int64_t inner = axis[i].samples;
            const struct axis *outer = &axis[kept - 1];

            axis[kept - 1] =
                (struct axis){outer->before * inner, outer->samples * inner, outer->after * inner,
                              axis[i].src_step, axis[i].dst_step};
            continue;
        }
        axis[kept++] = axis[i];
    }
    if (kept == 0)
        axis[kept++] = (struct axis){0, 1, 0, 0, 0};
    return kept;
}

/* Returns the largest element size that divides the element and all steps. */
static uint32_t find_unit(size_t size, const struct axis *axis, uint32_t rank)
{
    uint64_t all = size;

    for (uint32_t i = 0; i < rank; i++) {
        if (extent_of(&axis[i]) > 1)
            all |= (uint64_t)axis[i].src_step | (uint64_t)axis[i].dst_step;
    }
    return all % 4 == 0 ? 4 : all % 2 == 0 ? 2 : 1;
}

/* Takes the axes with the fewest elements out of the moves, until a tensor has the others. */
static void loop_excess(struct nest *nest)
{
    uint32_t inside = 0;

    for (uint32_t i = 0; i < nest->rank; i++)
        inside += !nest->looped[i];
    for (; inside > MLI_MAX_RANK; inside--) {
        uint32_t best = nest->rank;

        for (uint32_t i = 0; i < nest->rank; i++) {
            if (!nest->looped[i] &&
                (best == nest->rank || extent_of(&nest->axis[i]) < extent_of(&nest->axis[best])))
                best = i;
        }
        nest->looped[best] = true;
        nest->longest[best] = 1;
    }
}

/* Loops over axes that repeat a sample, or whose steps libmli cannot express. */
static void loop_steps(struct nest *nest)
{
    for (uint32_t i = 0; i < nest->rank; i++) {
        const struct axis *axis = &nest->axis[i];

        if (extent_of(axis) > 1 &&
            ((axis->samples > 1 &&
              (axis->src_step == 0 || axis->src_step / nest->unit > STEP_MAX)) ||
             axis->dst_step == 0 || axis->dst_step / nest->unit > STEP_MAX)) {
            nest->looped[i] = true;
            nest->longest[i] = 1;
        }
    }
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Shortens segments until libmli can express the bytes that a move spans. */
static void limit_spans(struct nest *nest)
{
    for (;;) {
        int64_t src_span = nest->unit, dst_span = nest->unit, widest = 0;
        uint32_t at = 0;

        for (uint32_t i = 0; i < nest->rank; i++) {
            const struct axis *axis = &nest->axis[i];
            const int64_t n = least(nest->longest[i], extent_of(axis));
            const int64_t src = (least(n, axis->samples) - (axis->samples > 0)) * axis->src_step;
            const int64_t dst = (n - 1) * axis->dst_step;

            src_span += src;
            dst_span += dst;
            if (src > widest || dst > widest) {
                widest = src > dst ? src : dst;
                at = i;
            }
        }
        if (src_span <= SPAN_MAX && dst_span <= SPAN_MAX)
            return;
        nest->longest[at] = (least(nest->longest[at], extent_of(&nest->axis[at])) + 1) / 2;
    }
}

void nest_fold(struct nest *nest, const uint8_t *src, uint8_t *dst, size_t size,
               const struct axis *axis, uint32_t rank)
{
    nest->src = src;
    nest->dst = dst;
    nest->unit = find_unit(size, axis, rank);
    for (uint32_t i = 0; i < rank; i++)
        nest->axis[i] = axis[i];
    if (size > nest->unit)
        nest->axis[rank++] =
            (struct axis){0, (int64_t)(size / nest->unit), 0, nest->unit, nest->unit};
    sort(nest->axis, rank);
    nest->rank = merge(nest->axis, rank);
    for (uint32_t i = 0; i < nest->rank; i++) {
        nest->longest[i] = INT64_MAX;
        nest->looped[i] = false;
    }
    loop_steps(nest);
    loop_excess(nest);
    limit_spans(nest);
}

/* Interference */

/* Returns the number of bytes from the first to the last byte. */
static int64_t span_of(const struct nest *nest, bool dst)
{
    int64_t span = nest->unit;

    for (uint32_t i = 0; i < nest->rank; i++) {
        const struct axis *axis = &nest->axis[i];

        if (dst)
            span += (extent_of(axis) - 1) * axis->dst_step;
        else if (axis->samples > 0)
            span += (axis->samples - 1) * axis->src_step;
    }
    return span;
}

static bool reads(const struct nest *nest)
{
    for (uint32_t i = 0; i < nest->rank; i++) {
        if (nest->axis[i].samples == 0)
            return false;
    }
    return true;
}

bool nest_is_disjoint(const struct nest *nest)
{
    int64_t inner = nest->unit; /* bytes that the inner axes span */

    for (uint32_t i = nest->rank; i-- > 0;) { /* axes are sorted by destination steps */
        const struct axis *axis = &nest->axis[i];

        if (extent_of(axis) > 1 && axis->dst_step < inner)
            return false;
        inner += (extent_of(axis) - 1) * axis->dst_step;
    }
    return !reads(nest) || nest->src + span_of(nest, false) <= nest->dst ||
           nest->dst + inner <= nest->src;
}

/* Segments */

struct segment {
    int64_t first, before, samples, after;
};

/* Returns the segment of an axis that begins at an index. */
static struct segment segment_at(const struct axis *axis, int64_t longest, int64_t first)
{
    const int64_t end = axis->before + axis->samples;
    struct segment segment = {first, 0, 0, 0};
    int64_t at = first, zeros;

    if (at < axis->before) {
        segment.before = least(least(axis->before - at, ZEROS_MAX), longest);
        at += segment.before;
        if (at < axis->before)
            return segment;
    }
    if (at < end) {
        segment.samples = least(end - at, longest - segment.before);
        at += segment.samples;
        if (at < end)
            return segment;
    }
    /* Zeros without samples are one padding of a move: see build_zeros(). */
    zeros = segment.samples > 0 ? ZEROS_MAX : ZEROS_MAX - segment.before;
    segment.after =
        least(least(extent_of(axis) - at, zeros), longest - segment.before - segment.samples);
    return segment;
}

static int64_t length_of(const struct segment *segment)
{
    return segment->before + segment->samples + segment->after;
}

bool nest_is_single(const struct nest *nest)
{
    for (uint32_t i = 0; i < nest->rank; i++) {
        const struct segment segment = segment_at(&nest->axis[i], nest->longest[i], 0);

        if (length_of(&segment) < extent_of(&nest->axis[i]))
            return false;
    }
    return true;
}

void move_iterator_init(struct move_iterator *iterator, const struct nest *nest)
{
    iterator->nest = nest;
    iterator->zeros_at = 0;
    iterator->ended = false;
    for (uint32_t i = 0; i < nest->rank; i++)
        iterator->at[i] = 0;
}

/* Steps to the next combination of segments, the last axis fastest. */
static void step(struct move_iterator *iterator)
{
    const struct nest *nest = iterator->nest;

    for (uint32_t i = nest->rank; i-- > 0;) {
        const struct segment segment =
            segment_at(&nest->axis[i], nest->longest[i], iterator->at[i]);

        iterator->at[i] += length_of(&segment);
        if (iterator->at[i] < extent_of(&nest->axis[i]))
            return;
        iterator->at[i] = 0;
    }
    iterator->ended = true;
}

static mli_element_type type_of(uint32_t unit)
{
    return unit == 4 ? MLI_EL_FP_32 : unit == 2 ? MLI_EL_FP_16 : MLI_EL_FX_8;
}

static void start_tensor(mli_tensor *tensor, const void *data, uint32_t unit)
{
    *tensor = (mli_tensor){.el_type = type_of(unit)};
    tensor->data.mem.pi8 = (int8_t *)(uintptr_t)data;
}

/* Adds a dimension to a move. */
static void add_dimension(struct move *move, const struct axis *axis, const struct segment *segment,
                          uint32_t unit)
{
    const uint32_t d = move->src.rank++;
    const int64_t n = length_of(segment);

    move->src.shape[d] = segment->samples > 0 ? (uint32_t)segment->samples : 1;
    move->src.mem_stride[d] = segment->samples > 1 ? (int32_t)(axis->src_step / unit) : 1;
    move->dst.mem_stride[d] = n > 1 ? (int32_t)(axis->dst_step / unit) : 1;
    move->cfg.sub_sample_step[d] = 1;
    move->cfg.perm_dim[d] = (uint8_t)d;
    move->cfg.padding_pre[d] = (uint8_t)segment->before;
    move->cfg.padding_post[d] = (uint8_t)segment->after;
    move->cfg.size[d] = (uint32_t)n;
    if (segment->samples > 1)
        move->src.data.capacity += (uint32_t)((segment->samples - 1) * axis->src_step);
    move->dst.data.capacity += (uint32_t)((n - 1) * axis->dst_step);
}

/*
 * Builds a move that writes zeros only: one dimension is all padding, at most ZEROS_MAX elements of
 * it at a time, from iterator->zeros_at on. The other dimensions are samples that are never read.
 */
static void build_zeros(struct move_iterator *iterator, const struct segment *segment,
                        struct move *move)
{
    const struct nest *nest = iterator->nest;
    uint32_t padded = nest->rank;
    int64_t dst_offset = 0;

    for (uint32_t i = 0; i < nest->rank; i++) { /* the shortest takes the fewest moves */
        if (!nest->looped[i] &&
            (padded == nest->rank || length_of(&segment[i]) < length_of(&segment[padded])))
            padded = i;
    }
    if (padded == nest->rank)
        padded = nest->rank - 1;
    for (uint32_t i = 0; i < nest->rank; i++) {
        const struct axis *axis = &nest->axis[i];
        const struct axis flat = {0, 0, 0, nest->unit, axis->dst_step};
        struct segment part = {0, 0, length_of(&segment[i]), 0};

        dst_offset += segment[i].first * axis->dst_step;
        if (i == padded) {
            part = (struct segment){
                0, least(length_of(&segment[i]) - iterator->zeros_at, ZEROS_MAX), 0, 0};
            dst_offset += iterator->zeros_at * axis->dst_step;
        }
        if (i == padded || !nest->looped[i])
            add_dimension(move, &flat, &part, nest->unit);
        if (i == padded) {
            iterator->zeros_at += part.before;
            if (iterator->zeros_at == length_of(&segment[i]))
                iterator->zeros_at = 0;
        }
    }
    move->dst.data.mem.pi8 += dst_offset;
    move->src.data.mem.pi8 = (int8_t *)(uintptr_t)nest->src;
    move->src.data.capacity = nest->unit;
}

static void build(struct move_iterator *iterator, struct move *move)
{
    const struct nest *nest = iterator->nest;
    struct segment segment[NEST_AXES_MAX];
    int64_t src_offset = 0, dst_offset = 0;
    bool zeros = false;

    start_tensor(&move->src, nest->src, nest->unit);
    start_tensor(&move->dst, nest->dst, nest->unit);
    move->src.data.capacity = move->dst.data.capacity = nest->unit;
    move->cfg = (mli_mov_cfg_t){0};
    for (uint32_t i = 0; i < nest->rank; i++) {
        const struct axis *axis = &nest->axis[i];

        segment[i] = segment_at(axis, nest->longest[i], iterator->at[i]);
        zeros = zeros || segment[i].samples == 0;
        src_offset += (segment[i].first + segment[i].before - axis->before) * axis->src_step;
        dst_offset += segment[i].first * axis->dst_step;
    }
    if (zeros) {
        build_zeros(iterator, segment, move);
        return;
    }
    for (uint32_t i = 0; i < nest->rank; i++) {
        if (!nest->looped[i])
            add_dimension(move, &nest->axis[i], &segment[i], nest->unit);
    }
    if (move->src.rank == 0) /* every axis is looped: one element */
        add_dimension(move, &(struct axis){0, 1, 0, 0, 0}, &(struct segment){0, 0, 1, 0},
                      nest->unit);
    move->src.data.mem.pi8 += src_offset;
    move->dst.data.mem.pi8 += dst_offset;
}

bool move_iterator_next(struct move_iterator *iterator, struct move *move)
{
    if (iterator->ended)
        return false;
    build(iterator, move);
    move->dst.rank = move->src.rank;
    if (iterator->zeros_at == 0)
        step(iterator);
    return true;
}
