/* SPDX-License-Identifier: BSD-3-Clause */
/* Divides a nest into moves: first those of its segments, then copies for its repeated axes. */
#include "python/core/nest.h"

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
        segment.before = least(least(axis->before - at, NEST_ZEROS_MAX), longest);
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
    /* A segment without samples has only one padding, as in build_zeros(). */
    zeros = segment.samples > 0 ? NEST_ZEROS_MAX : NEST_ZEROS_MAX - segment.before;
    segment.after =
        least(least(axis_extent(axis) - at, zeros), longest - segment.before - segment.samples);
    return segment;
}

static int64_t length_of(const struct segment *segment)
{
    return segment->before + segment->samples + segment->after;
}

bool nest_is_single(const struct nest *nest)
{
    if (nest->repeats > 0)
        return false;
    for (uint32_t i = 0; i < nest->rank; i++) {
        const struct segment segment = segment_at(&nest->axis[i], nest->longest[i], 0);

        if (length_of(&segment) < axis_extent(&nest->axis[i]))
            return false;
    }
    return true;
}

/* Iteration */

/* Begins with the first combination of segments. */
static void restart(struct move_iterator *iterator)
{
    iterator->zeros_at = 0;
    iterator->ended = false;
    for (uint32_t i = 0; i < NEST_AXES_MAX; i++)
        iterator->at[i] = 0;
}

void move_iterator_init(struct move_iterator *iterator, const struct nest *nest)
{
    iterator->nest = nest;
    iterator->repeat = 0;
    iterator->written = 0;
    restart(iterator);
}

/* Returns the nest to move now: first the given nest, then copies within the result. */
static const struct nest *current(const struct move_iterator *iterator)
{
    return iterator->written == 0 ? iterator->nest : &iterator->copy;
}

/*
 * Starts the next copy within the result. It doubles the written part of a repeated axis: the
 * written indices are the source, the following indices are the destination. Returns false after
 * the last copy.
 */
static bool start_copy(struct move_iterator *iterator)
{
    const struct nest *nest = iterator->nest;
    struct axis axis[NEST_AXES_MAX];
    const struct repeat *repeat;
    uint32_t rank;

    if (iterator->repeat == nest->repeats)
        return false;
    repeat = &nest->repeat[iterator->repeat];
    iterator->written +=
        iterator->written == 0 ? 1 : least(iterator->written, repeat->count - iterator->written);
    if (iterator->written == repeat->count) {
        iterator->written = 1;
        if (++iterator->repeat == nest->repeats)
            return false;
        repeat++;
    }
    rank = nest_result_axes(nest, iterator->repeat + 1, axis);
    axis[rank - 1].samples = least(iterator->written, repeat->count - iterator->written);
    nest_fold(&iterator->copy, nest->dst, nest->dst + iterator->written * repeat->dst_step,
              nest->unit, axis, rank);
    restart(iterator);
    return true;
}

/* Steps to the next combination of segments, the last axis fastest. */
static void step(struct move_iterator *iterator)
{
    const struct nest *nest = current(iterator);

    for (uint32_t i = nest->rank; i-- > 0;) {
        const struct segment segment =
            segment_at(&nest->axis[i], nest->longest[i], iterator->at[i]);

        iterator->at[i] += length_of(&segment);
        if (iterator->at[i] < axis_extent(&nest->axis[i]))
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
 * Builds a move that writes only zeros. One dimension consists of padding, at most NEST_ZEROS_MAX
 * elements, beginning with element iterator->zeros_at. The other dimensions have samples, which
 * are never read.
 */
static void build_zeros(struct move_iterator *iterator, const struct segment *segment,
                        struct move *move)
{
    const struct nest *nest = current(iterator);
    uint32_t padded = nest->rank;
    int64_t dst_offset = 0;

    for (uint32_t i = 0; i < nest->rank; i++) { /* the shortest dimension needs the fewest moves */
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
                0, least(length_of(&segment[i]) - iterator->zeros_at, NEST_ZEROS_MAX), 0, 0};
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
    const struct nest *nest = current(iterator);
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
    if (move->src.rank == 0) /* all axes are loops, so each move has one element */
        add_dimension(move, &(struct axis){0, 1, 0, 0, 0}, &(struct segment){0, 0, 1, 0},
                      nest->unit);
    move->src.data.mem.pi8 += src_offset;
    move->dst.data.mem.pi8 += dst_offset;
}

bool move_iterator_next(struct move_iterator *iterator, struct move *move)
{
    if (iterator->ended && !start_copy(iterator))
        return false;
    build(iterator, move);
    move->dst.rank = move->src.rank;
    if (iterator->zeros_at == 0)
        step(iterator);
    return true;
}

mli_status nest_run(const struct nest *nest)
{
    struct move_iterator iterator;
    mli_status status = MLI_STATUS_OK;
    struct move move;

    move_iterator_init(&iterator, nest);
    while (status == MLI_STATUS_OK && move_iterator_next(&iterator, &move))
        status = mli_mov_tensor_sync(&move.src, &move.cfg, &move.dst);
    return status;
}
