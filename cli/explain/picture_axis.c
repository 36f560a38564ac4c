/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture_axis.h"

#include <string.h>

/*
 * Selects the coordinates of an axis that are shown if there is no room for all of them: first
 * those beside edges, then their neighbours, up to the limit. A break, which replaces the
 * coordinates between two selected ones, takes a slot like a coordinate.
 */
enum { SELECTION_MAX = 64 };

struct selection {
    uint64_t extent;
    size_t room;         /* current limit on coordinates and breaks */
    size_t room_for_all; /* least limit after selection_settle() */
    size_t count;
    uint64_t at[SELECTION_MAX]; /* ascending */
};

/*
 * Starts a selection on an axis of `extent` coordinates; selects all of them if there is room.
 * Until selection_settle(), the limit is the larger one of `room` and `edges`.
 */
static void selection_init(struct selection *selection, uint64_t extent, size_t room, size_t edges)
{
    size_t most = room < SELECTION_MAX ? room : SELECTION_MAX;
    *selection = (struct selection){
        .extent = extent, .room = most > edges ? most : edges, .room_for_all = most};
    for (uint64_t at = 0; extent <= most && at < extent; at++)
        selection->at[selection->count++] = at;
}

/* Returns the number of slots that the selected coordinates and their breaks take. */
static size_t room_taken(const struct selection *selection)
{
    size_t taken = selection->count;
    if (selection->count == 0)
        return 0;
    taken += selection->at[0] > 0;
    taken += selection->at[selection->count - 1] + 1 < selection->extent;
    for (size_t i = 1; i < selection->count; i++)
        taken += selection->at[i] - selection->at[i - 1] > 1;
    return taken;
}

/* Lowers the limit to `room`, or to the slots that are taken already. */
static void selection_settle(struct selection *selection)
{
    size_t taken = room_taken(selection);
    selection->room = selection->room_for_all > taken ? selection->room_for_all : taken;
}

static void insert(struct selection *selection, size_t i, uint64_t at)
{
    memmove(selection->at + i + 1, selection->at + i,
            (selection->count - i) * sizeof(selection->at[0]));
    selection->at[i] = at;
    selection->count++;
}

static void erase(struct selection *selection, size_t i)
{
    selection->count--;
    memmove(selection->at + i, selection->at + i + 1,
            (selection->count - i) * sizeof(selection->at[0]));
}

/* Selects a coordinate if the axis has it and there is room. */
static void selection_add(struct selection *selection, uint64_t at)
{
    size_t i = 0;
    while (i < selection->count && selection->at[i] < at)
        i++;
    if (at >= selection->extent || selection->count == SELECTION_MAX ||
        (i < selection->count && selection->at[i] == at))
        return;
    insert(selection, i, at);
    if (room_taken(selection) > selection->room)
        erase(selection, i);
}

/*
 * Selects the coordinates at a distance below `reach` from the edges: near coordinates before far
 * coordinates, then in the order of the edges. Edge e is between coordinates e - 1 and e.
 */
static void selection_add_around(struct selection *selection, const uint64_t *edges, size_t count,
                                 uint64_t reach)
{
    for (uint64_t r = 0; r < reach; r++) {
        for (size_t i = 0; i < count; i++) {
            selection_add(selection, edges[i] + r);
            if (edges[i] > r)
                selection_add(selection, edges[i] - 1 - r);
        }
    }
}

/* Ends a selection: replaces a break of one coordinate by the coordinate, in the same room. */
static void selection_close(struct selection *selection)
{
    for (size_t i = 0; i <= selection->count; i++) {
        uint64_t from = i > 0 ? selection->at[i - 1] + 1 : 0;
        uint64_t to = i < selection->count ? selection->at[i] : selection->extent;
        if (to - from == 1 && selection->count < SELECTION_MAX)
            insert(selection, i, from);
    }
}

enum {
    CONTEXT = 2,     /* coordinates on each side of an edge to select before the whole window */
    SAMPLES_MIN = 4, /* samples at each end to select before the coordinates between samples */
    ROOM_MIN = 5,
    GAP_MAX = 2, /* slots of a gap between two elements */
    TAIL_MAX = 3 /* slots of the gap after the last element */
};

static void put(struct picture_axis *axis, struct picture_slot slot)
{
    if (axis->count < PICTURE_SLOTS_MAX)
        axis->slot[axis->count++] = slot;
}

void picture_axis_none(struct picture_axis *axis)
{
    *axis = (struct picture_axis){.dim = -1, .source_dim = -1, .extent = 1};
    put(axis, (struct picture_slot){.real = true, .window = PICTURE_SAMPLED});
}

static struct picture_slot break_slot(uint64_t from, uint64_t to)
{
    return (struct picture_slot){.kind = SLOT_BREAK, .at = from, .left_out = to - from};
}

/* Returns the slot of coordinate `at` of the padded source. */
static struct picture_slot src_slot(const mli_explained_axis *a, uint64_t at)
{
    struct picture_slot slot = {.at = at};
    slot.real = at >= a->pad_pre && at - a->pad_pre < a->extent;
    if (at < a->offset || at - a->offset >= a->size) {
        slot.window = PICTURE_OUT;
    } else if ((at - a->offset) % a->step == 0) {
        slot.window = PICTURE_SAMPLED;
        slot.sample = (at - a->offset) / a->step;
    } else {
        slot.window = PICTURE_STEPPED_OVER;
    }
    return slot;
}

static struct picture_slot dst_slot(const mli_explained_axis *a, uint64_t at)
{
    struct picture_slot slot = {.at = at};
    if (at < a->dst_offset || at - a->dst_offset >= a->count)
        return slot;
    slot.window = PICTURE_SAMPLED;
    slot.sample = at - a->dst_offset;
    slot.real = slot.sample >= a->lo && slot.sample < a->hi;
    return slot;
}

/* Adds a break if coordinates from `shown_to` up to `at` are left out. */
static void put_break(struct picture_axis *axis, uint64_t shown_to, uint64_t at)
{
    if (at > shown_to)
        put(axis, break_slot(shown_to, at));
}

/* Selects the first, last and second sample, samples of the tensor before samples of the padding.
 * With a large step, they are far apart and far from the window's edges. */
static void select_samples(struct selection *selection, const mli_explained_axis *a)
{
    const uint64_t samples[] = {a->lo, a->hi - 1, 0, a->count - 1, a->lo + 1, 1};
    for (size_t i = a->lo < a->hi ? 0 : 2; i < sizeof(samples) / sizeof(samples[0]); i++) {
        if (samples[i] < a->count)
            selection_add(selection, a->offset + samples[i] * a->step);
    }
}

/* Selects samples, the edges of window, tensor and padding, and then more of the window. */
static void select_src(struct selection *selection, const mli_explained_axis *a, size_t room,
                       size_t edges_room)
{
    const uint64_t begin = a->offset, end = begin + a->size;
    const uint64_t edges[] = {begin, end,      a->pad_pre, (uint64_t)a->pad_pre + a->extent,
                              0,     a->padded};
    const size_t count = sizeof(edges) / sizeof(edges[0]);
    selection_init(selection, a->padded, room, edges_room);
    select_samples(selection, a);
    selection_add_around(selection, edges, count, 1);
    selection_settle(selection);
    selection_add_around(selection, edges, count, CONTEXT);
    for (uint64_t k = 0; a->step > CONTEXT && k < SAMPLES_MIN && k < a->count; k++) {
        selection_add(selection, begin + k * a->step);
        selection_add(selection, begin + (a->count - 1 - k) * a->step);
    }
    for (uint64_t r = 0; r < room && r < a->size; r++) {
        selection_add(selection, begin + r);
        selection_add(selection, end - 1 - r);
    }
    selection_add_around(selection, edges, count, room);
    selection_close(selection);
}

void picture_axis_src(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
                      size_t room, size_t edges)
{
    const mli_explained_axis *a = &move->axis[dim];
    struct selection selection;
    select_src(&selection, a, room, edges);
    *axis = (struct picture_axis){.dim = (int)dim, .source_dim = (int)dim, .extent = a->padded};
    uint64_t shown_to = 0;
    for (size_t i = 0; i < selection.count; i++) {
        put_break(axis, shown_to, selection.at[i]);
        put(axis, src_slot(a, selection.at[i]));
        shown_to = selection.at[i] + 1;
    }
    put_break(axis, shown_to, a->padded);
}

/* Adds a gap of `size` elements in at most `most` slots; a break replaces the middle of a large
 * gap. */
static void put_gap(struct picture_axis *axis, uint64_t size, size_t most)
{
    struct picture_slot gap = {.kind = SLOT_GAP};
    for (uint64_t i = 0; i < (size <= most ? size : most - 2); i++)
        put(axis, gap);
    if (size <= most)
        return;
    put(axis, (struct picture_slot){.kind = SLOT_BREAK, .left_out = size - (most - 1)});
    put(axis, gap);
}

static bool is_on(const struct picture_scale *scale, uint64_t sample)
{
    for (size_t i = 0; i < scale->count; i++) {
        if (scale->sample[i] == sample)
            return true;
    }
    return false;
}

/* Selects a coordinate, unless it is an element that the source side does not show. */
static void add_dst(struct selection *selection, const mli_explained_axis *a,
                    const struct picture_scale *scale, uint64_t at)
{
    struct picture_slot slot = dst_slot(a, at);
    if (!slot.real || is_on(scale, slot.sample))
        selection_add(selection, at);
}

static void select_dst(struct selection *selection, const mli_explained_axis *a,
                       const struct picture_scale *scale, uint64_t reach)
{
    const uint64_t begin = a->dst_offset, end = begin + a->count;
    const uint64_t edges[] = {begin, end, begin + a->lo, begin + a->hi, 0, selection->extent};
    const size_t count = sizeof(edges) / sizeof(edges[0]);
    /* One slot of each kind first: the first element, a zero, the last element. */
    if (scale->count > 0)
        selection_add(selection, begin + scale->sample[0]);
    if (a->lo > 0 && a->lo < a->hi)
        selection_add(selection, begin + a->lo - 1);
    else if (a->hi < a->count)
        selection_add(selection, begin + a->hi);
    if (scale->count > 0)
        selection_add(selection, begin + scale->sample[scale->count - 1]);
    selection_add_around(selection, edges, count, 1);
    selection_settle(selection);
    for (size_t i = 0; i < scale->count; i++)
        selection_add(selection, begin + scale->sample[i]);
    for (uint64_t r = 1; r < reach; r++) {
        for (size_t i = 0; i < count; i++) {
            add_dst(selection, a, scale, edges[i] + r);
            if (edges[i] > r)
                add_dst(selection, a, scale, edges[i] - 1 - r);
        }
    }
    selection_close(selection);
}

void picture_axis_dst(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
                      const struct picture_place *place, const struct picture_scale *scale)
{
    const mli_explained_axis *a = &move->axis[dim];
    size_t gap = place->gap < GAP_MAX ? (size_t)place->gap : GAP_MAX;
    size_t tail = place->tail < TAIL_MAX ? (size_t)place->tail : TAIL_MAX;
    size_t room = place->room > tail + ROOM_MIN ? place->room - tail : ROOM_MIN;
    struct selection selection;
    selection_init(&selection, place->extent,
                   room / (1 + gap) > ROOM_MIN ? room / (1 + gap) : ROOM_MIN,
                   place->edges / (1 + gap));
    select_dst(&selection, a, scale, room);

    *axis = (struct picture_axis){
        .dim = (int)a->dst_dim, .source_dim = (int)dim, .extent = place->extent};
    uint64_t shown_to = 0;
    for (size_t i = 0; i < selection.count; i++) {
        put_break(axis, shown_to, selection.at[i]);
        put(axis, dst_slot(a, selection.at[i]));
        shown_to = selection.at[i] + 1;
        if (shown_to < place->extent)
            put_gap(axis, place->gap, GAP_MAX);
    }
    put_break(axis, shown_to, place->extent);
    put_gap(axis, place->tail, TAIL_MAX);
}
