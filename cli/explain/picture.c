/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture.h"

#include "cli/explain/picture_axis.h"

/*
 * Chooses the dimensions of rows and columns by the view, and of the remaining dimensions the inner
 * one for planes.
 */
static void find_levels(struct picture_side *side, uint32_t rank, const struct picture_view *view)
{
    enum picture_level level = PICTURE_PLANES;
    for (uint32_t d = rank; d-- > 0;) {
        if (rank == 1 || d == view->columns)
            side->level_of[d] = PICTURE_COLUMNS;
        else if (d == view->rows)
            side->level_of[d] = PICTURE_ROWS;
        else
            side->level_of[d] = level--;
    }
}

/* Puts the samples that the axis of a source dimension shows on the dimension's scale. */
static void make_scale(struct picture_scale *scale, const struct picture_axis *axis)
{
    scale->count = 0;
    for (size_t i = 0; i < axis->count; i++) {
        const struct picture_slot *slot = &axis->slot[i];
        if (slot->kind == SLOT_COORDINATE && slot->real && slot->window == PICTURE_SAMPLED)
            scale->sample[scale->count++] = slot->sample;
    }
}

/* Returns whether dimension a is followed before b: permuted dimensions come first, then the
 * source's columns, rows, planes and lines. */
static bool goes_before(const struct picture *picture, uint32_t a, uint32_t b)
{
    const mli_explanation *move = &picture->explained->move;
    bool a_turns = move->axis[a].dst_dim != a, b_turns = move->axis[b].dst_dim != b;
    return a_turns != b_turns ? a_turns : picture->src.level_of[a] > picture->src.level_of[b];
}

static void find_followed(struct picture *picture)
{
    const mli_explanation *move = &picture->explained->move;
    for (uint32_t d = 0; d < move->rank; d++) {
        if (move->axis[d].hi - move->axis[d].lo < 2)
            continue;
        uint32_t i = picture->followed_count++;
        for (; i > 0 && goes_before(picture, d, picture->followed[i - 1]); i--)
            picture->followed[i] = picture->followed[i - 1];
        picture->followed[i] = d;
    }
}

/*
 * Finds the gaps of the destination's strides. The elements of an axis have room up to the next
 * larger stride; the rest of that room is the axis's tail. The innermost axis may also have gaps
 * between its elements. The stride of an axis of extent 1 is ignored.
 */
static void find_gaps(const struct explained *e, uint32_t dim, struct picture_place *place)
{
    const mli_explanation *move = &e->move;
    const uint64_t stride = move->axis[dim].dst_stride;
    const uint32_t extent = picture_extent(e, move->axis[dim].dst_dim);
    uint64_t next = 0;
    bool innermost = true;
    if (extent < 2)
        return;
    for (uint32_t d = 0; d < move->rank; d++) {
        uint64_t other = move->axis[d].dst_stride;
        if (d == dim || picture_extent(e, move->axis[d].dst_dim) < 2)
            continue;
        if (other < stride)
            innermost = false;
        if (other > stride && (next == 0 || other < next))
            next = other;
    }
    if (innermost && stride > 1)
        place->gap = stride - 1;
    if (stride > 0 && next / stride > extent)
        place->tail = next / stride - extent;
}

static void lay_out_src(struct picture *picture, const struct picture_room *room)
{
    const mli_explanation *move = &picture->explained->move;
    for (uint32_t d = 0; d < move->rank; d++) {
        enum picture_level level = picture->src.level_of[d];
        picture_axis_src(&picture->src.axis[level], move, d, room->level[level], room->edges);
        make_scale(&picture->scale[d], &picture->src.axis[level]);
    }
}

static void lay_out_dst(struct picture *picture, const struct picture_room *room)
{
    const struct explained *e = picture->explained;
    const mli_explanation *move = &e->move;
    picture->dst.is_dst = true;
    picture->dst.update = e->update;
    for (uint32_t d = 0; d < move->rank; d++) {
        uint32_t to = move->axis[d].dst_dim;
        enum picture_level level = picture->dst.level_of[to];
        struct picture_place place = {
            .extent = picture_extent(e, to), .room = room->level[level], .edges = room->edges};
        find_gaps(e, d, &place);
        picture_axis_dst(&picture->dst.axis[level], move, d, &place, &picture->scale[d]);
    }
}

void picture_init(struct picture *picture, const struct explained *explained,
                  const struct picture_room *room)
{
    *picture = (struct picture){.explained = explained};
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        picture_axis_none(&picture->src.axis[level]);
        picture_axis_none(&picture->dst.axis[level]);
    }
    struct picture_views views = explained->views;
    if (views.src.rows == views.src.columns) /* no view is given */
        views = picture_views_default(&explained->move);
    find_levels(&picture->src, explained->move.rank, &views.src);
    find_levels(&picture->dst, explained->move.rank, &views.dst);
    lay_out_src(picture, room);
    lay_out_dst(picture, room);
    find_followed(picture);
}

static enum picture_state src_state(bool real, enum picture_window window)
{
    if (!real)
        return window == PICTURE_SAMPLED ? PICTURE_PADDING : PICTURE_PADDING_SKIPPED;
    return window == PICTURE_SAMPLED        ? PICTURE_TAKEN
           : window == PICTURE_STEPPED_OVER ? PICTURE_SKIPPED
                                            : PICTURE_OUTSIDE;
}

static enum picture_state dst_state(const struct picture_side *side, bool real,
                                    enum picture_window window)
{
    if (window != PICTURE_SAMPLED)
        return side->update ? PICTURE_THERE : PICTURE_EMPTY;
    return real ? PICTURE_WRITTEN : PICTURE_ZERO;
}

enum picture_state picture_state(const struct picture_side *side, const size_t *at)
{
    bool real = true, gap = false, left_out = false;
    enum picture_window window = PICTURE_SAMPLED;
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        const struct picture_slot *slot = &side->axis[level].slot[at[level]];
        left_out = left_out || slot->kind == SLOT_BREAK;
        gap = gap || slot->kind == SLOT_GAP;
        real = real && slot->real;
        if (slot->window < window)
            window = slot->window;
    }
    if (left_out)
        return PICTURE_BREAK;
    if (gap)
        return PICTURE_GAP;
    return side->is_dst ? dst_state(side, real, window) : src_state(real, window);
}

void picture_samples(const struct picture_side *side, const size_t *at, uint64_t *sample)
{
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        const struct picture_axis *axis = &side->axis[level];
        if (axis->dim >= 0)
            sample[axis->source_dim] = axis->slot[at[level]].sample;
    }
}

size_t picture_count(const struct picture_side *side, enum picture_state state)
{
    const struct picture_axis *axis = side->axis;
    size_t at[PICTURE_LEVELS], count = 0;
    for (at[0] = 0; at[0] < axis[0].count; at[0]++)
        for (at[1] = 0; at[1] < axis[1].count; at[1]++)
            for (at[2] = 0; at[2] < axis[2].count; at[2]++)
                for (at[3] = 0; at[3] < axis[3].count; at[3]++)
                    count += picture_state(side, at) == state;
    return count;
}

uint32_t picture_position(const struct picture *picture, uint32_t source_dim, uint64_t sample,
                          uint32_t most)
{
    const struct picture_scale *scale = &picture->scale[source_dim];
    size_t above = 0;
    if (scale->count < 2)
        return 0;
    while (above < scale->count && scale->sample[above] < sample)
        above++;
    if (above == scale->count)
        return most;
    uint64_t steps = scale->count - 1, position = above * (uint64_t)most / steps;
    if (above == 0 || scale->sample[above] == sample)
        return (uint32_t)position;
    uint64_t from = scale->sample[above - 1], to = scale->sample[above];
    position = (above - 1) * (uint64_t)most / steps;
    return (uint32_t)(position + (sample - from) * most / (to - from) / steps);
}

uint64_t picture_coordinate(const struct picture *picture, uint32_t source_dim, uint64_t sample)
{
    const mli_explained_axis *a = &picture->explained->move.axis[source_dim];
    return a->first + (sample - a->lo) * a->step;
}

bool picture_window(const struct picture_axis *axis, size_t *begin, size_t *end)
{
    *begin = *end = 0;
    for (size_t i = 0; i < axis->count; i++) {
        const struct picture_slot *slot = &axis->slot[i];
        if (slot->kind != SLOT_COORDINATE || slot->window == PICTURE_OUT)
            continue;
        if (*end == 0)
            *begin = i;
        *end = i + 1;
    }
    return *end > 0;
}

enum {
    HUES = 8,
    UNIT = 1000,    /* distance between two hues, and the length of a scale */
    TINT_MAX = 620, /* share of white, in 1/UNIT */
    SHADE_MAX = 400 /* share of `dark`, in 1/UNIT */
};

static const struct picture_colour hues[HUES] = {
    {0x1f, 0x5f, 0xc4}, {0x12, 0x93, 0xb8}, {0x1f, 0x9e, 0x6e}, {0x8a, 0xae, 0x1f},
    {0xe8, 0xa5, 0x1a}, {0xe0, 0x5f, 0x2b}, {0xc8, 0x35, 0x78}, {0x7b, 0x45, 0xc6},
};
static const struct picture_colour white = {255, 255, 255}, dark = {0x14, 0x1c, 0x2e};

static uint8_t mix_part(uint8_t a, uint8_t b, uint32_t of_b)
{
    return (uint8_t)((a * (UNIT - of_b) + b * of_b + UNIT / 2) / UNIT);
}

static struct picture_colour mix(struct picture_colour a, struct picture_colour b, uint32_t of_b)
{
    return (struct picture_colour){mix_part(a.red, b.red, of_b), mix_part(a.green, b.green, of_b),
                                   mix_part(a.blue, b.blue, of_b)};
}

/* Returns the range of hues for a number of samples. The first and last hue look alike, so two or
 * three samples use a part of the range. */
static uint32_t hue_range(size_t samples)
{
    return (uint32_t)(samples < HUES - 4 ? samples + 3 : HUES - 1) * UNIT;
}

/* Returns the colour by the first `followed` of the picture's followed dimensions. */
static struct picture_colour colour_of(const struct picture *picture, const uint64_t *sample,
                                       uint32_t followed)
{
    uint32_t part[MLI_MAX_RANK] = {0};
    uint32_t hue = 0;
    for (uint32_t i = 0; i < followed; i++) {
        uint32_t d = picture->followed[i];
        part[i] = picture_position(picture, d, sample[d], UNIT);
    }
    if (picture->followed_count > 0) {
        size_t count = picture->scale[picture->followed[0]].count;
        uint32_t range = hue_range(count);
        hue = part[0] * (range / UNIT);
        if (count > 1)
            hue += part[3] * (range / (uint32_t)(count - 1)) / (2 * UNIT);
    }
    if (hue > (HUES - 1) * UNIT)
        hue = (HUES - 1) * UNIT;
    uint32_t from = hue / UNIT, to = from + 1 < HUES ? from + 1 : from;
    struct picture_colour colour = mix(hues[from], hues[to], hue % UNIT);
    colour = mix(colour, white, part[1] * TINT_MAX / UNIT);
    return mix(colour, dark, part[2] * SHADE_MAX / UNIT);
}

struct picture_colour picture_colour(const struct picture *picture, const uint64_t *sample)
{
    return colour_of(picture, sample, picture->followed_count);
}

/* Returns the nearest of the six levels of red, green or blue in the palette. */
static unsigned level_of_part(uint8_t part)
{
    return part < 48 ? 0 : part < 115 ? 1 : (part - 35U) / 40;
}

unsigned picture_colour_palette(const struct picture *picture, const uint64_t *sample)
{
    struct picture_colour colour = colour_of(picture, sample, picture->followed_count > 0);
    return 16 + 36 * level_of_part(colour.red) + 6 * level_of_part(colour.green) +
           level_of_part(colour.blue);
}

bool picture_colour_is_dark(struct picture_colour colour)
{
    return colour.red * 299 + colour.green * 587 + colour.blue * 114 < 140 * 1000;
}

static bool try_planes(picture_fit_fn *fits, void *state, size_t edges, size_t most, size_t least)
{
    static const size_t planes[] = {8, 6, 5, 4, 3};
    for (size_t i = 0; i < sizeof(planes) / sizeof(planes[0]); i++) {
        for (size_t inner = most; inner >= least; inner--) {
            const struct picture_room room = {.level = {[PICTURE_LINES] = planes[i],
                                                        [PICTURE_PLANES] = planes[i],
                                                        [PICTURE_ROWS] = inner,
                                                        [PICTURE_COLUMNS] = inner},
                                              .edges = edges};
            if (fits(state, &room))
                return true;
        }
    }
    return false;
}

bool picture_fit(picture_fit_fn *fits, void *state, const struct picture_fit_range *range)
{
    static const size_t edges[] = {12, 8, 6, 5};
    for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]) && edges[i] >= range->edges; i++) {
        if (try_planes(fits, state, edges[i], range->most, range->least))
            return true;
    }
    return false;
}
