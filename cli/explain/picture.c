/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/picture.h"

/* An axis of the destination in memory and in the picture. */
struct picture_place {
    uint32_t extent;    /* extent of the destination's tensor */
    uint64_t gap;       /* memory between two elements of the axis, in elements */
    uint64_t tail;      /* memory after the last element, in strides of the axis */
    size_t room, edges; /* limits on the slots of the axis, as in struct picture_room */
};

/*
 * Selects the coordinates of an axis that are shown if there is no space for all of them. First
 * come the coordinates beside edges, then their neighbours, until all slots are taken. A slot is
 * the room for one cell. It shows a coordinate, or a break in place of coordinates that are left
 * out.
 */
enum { SELECTION_MAX = 64 };

struct selection {
    uint64_t extent;
    size_t room;         /* maximum number of slots now */
    size_t room_for_all; /* maximum after selection_settle(); more slots if more are taken then */
    size_t count;
    uint64_t at[SELECTION_MAX]; /* ascending */
};

/*
 * Starts a selection on an axis of `extent` coordinates, and selects all of them if there is room.
 * The maximum number of slots is `room`, but before selection_settle() at least `edges`.
 */
static void selection_init(struct selection *selection, uint64_t extent, size_t room, size_t edges)
{
    size_t most = room < SELECTION_MAX ? room : SELECTION_MAX;
    *selection = (struct selection){
        .extent = extent, .room = most > edges ? most : edges, .room_for_all = most};
    for (uint64_t at = 0; extent <= most && at < extent; at++)
        selection->at[selection->count++] = at;
}

/* Returns the number of slots for the selected coordinates and the breaks between them. */
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

/* Lowers the limit to `room` or to the number of slots in use, whichever is larger. */
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

/* Selects a coordinate if the axis has it and a slot is free. */
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
 * Selects the coordinates that are less than `reach` from an edge. Coordinates nearer to their edge
 * come first. If two are equally near, the order of the edges decides. Edge e is between the
 * coordinates e - 1 and e.
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

/* Ends a selection: replaces a break that hides one coordinate by this coordinate. */
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
    CONTEXT = 2,     /* on each side of an edge, this many coordinates are selected first */
    SAMPLES_MIN = 4, /* at each end, this many samples are selected first */
    ROOM_MIN = 5,
    GAP_MAX = 2, /* maximum number of cells that are drawn for a gap between two elements */
    TAIL_MAX = 3 /* maximum number of cells that are drawn for the gap after the last element */
};

static void put(struct picture_axis *axis, struct picture_slot slot)
{
    if (axis->count < PICTURE_SLOTS_MAX)
        axis->slot[axis->count++] = slot;
}

/* Sets an axis for which the tensor has no dimension: it has one slot. */
static void picture_axis_none(struct picture_axis *axis)
{
    *axis = (struct picture_axis){.dim = -1, .source_dim = -1, .extent = 1};
    put(axis, (struct picture_slot){.real = true, .window = PICTURE_SAMPLED});
}

static struct picture_slot break_slot(uint64_t from, uint64_t to)
{
    return (struct picture_slot){.kind = SLOT_BREAK, .at = from, .left_out = to - from};
}

/* Returns the slot of coordinate `at` of the source, padding included. */
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

/* Selects the first, the last and the second sample of the tensor, and after each the same sample
 * of the padding. If the step is large, samples are far apart and far from the window's edges. */
static void select_samples(struct selection *selection, const mli_explained_axis *a)
{
    const uint64_t samples[] = {a->lo, a->hi - 1, 0, a->count - 1, a->lo + 1, 1};
    for (size_t i = a->lo < a->hi ? 0 : 2; i < sizeof(samples) / sizeof(samples[0]); i++) {
        if (samples[i] < a->count)
            selection_add(selection, a->offset + samples[i] * a->step);
    }
}

/* Selects first samples, then the edges of window, tensor and padding, then the rest of the window.
 */
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

/* Sets the axis of source dimension `dim`. */
static void picture_axis_src(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
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

/* Selects a coordinate of the destination, unless its element is left out on the source side. */
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
    /* Select one coordinate of each kind first: the first element, a zero, the last element. */
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

/*
 * Sets the axis of the destination that source dimension `dim` becomes. If there is no space for
 * all elements, the axis shows those samples that the source's axis shows too.
 */
static void picture_axis_dst(struct picture_axis *axis, const mli_explanation *move, uint32_t dim,
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

enum { CHANNELS_MAX = 4, SIDE_TEXT_MAX = 32 };

/* A dimension of one side of a move. */
struct looked_at {
    uint32_t extent; /* in the source, without padding and window */
    uint32_t other;  /* the dimension of the other side that it becomes, or comes from */
    bool padded;
};

/*
 * Returns whether the last of the last three dimensions of a side seems to be the channels of an
 * image (HWC). A permutation from HWC to CHW, or back, decides; then a last dimension of up to 4
 * elements after longer ones, and the padding, which no channels have; then a square image.
 */
static bool channels_are_last(const struct looked_at *a, const struct looked_at *b,
                              const struct looked_at *c)
{
    if (a->extent < 2 || b->extent < 2)
        return false;
    if (c->other + 1 == a->other && a->other + 1 == b->other)
        return true;
    if (b->other + 1 == c->other && c->other + 1 == a->other)
        return false;
    if (c->extent <= CHANNELS_MAX && a->extent > c->extent && b->extent > c->extent)
        return true;
    if (b->padded && a->padded != c->padded)
        return a->padded;
    return a->extent == b->extent && b->extent != c->extent;
}

/* Returns the default rows and columns of a side: its last two dimensions, or the two before
 * channels. */
static struct picture_view default_view(const struct looked_at *dims, uint32_t rank)
{
    const struct looked_at *last = dims + rank - 1;

    if (rank < 2)
        return (struct picture_view){0};
    const uint32_t channels = rank > 2 && channels_are_last(last - 2, last - 1, last);
    return (struct picture_view){rank - 2 - channels, rank - 1 - channels};
}

static struct picture_views picture_views_default(const mli_explanation *move)
{
    struct looked_at src[MLI_MAX_RANK] = {0}, dst[MLI_MAX_RANK] = {0};
    for (uint32_t d = 0; d < move->rank; d++) {
        const mli_explained_axis *a = &move->axis[d];
        src[d] = (struct looked_at){a->extent, a->dst_dim, a->pad_pre + a->pad_post > 0};
        dst[a->dst_dim] = src[d];
        dst[a->dst_dim].other = d;
    }
    return (struct picture_views){default_view(src, move->rank), default_view(dst, move->rank)};
}

static int complain(const char *text, const char *why, struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL, "--view %.64s: %s", text, why);
}

/* Parses a dimension. Returns the rest of the text, or null if the tensor lacks the dimension. */
static const char *take_dimension(const char *text, uint32_t rank, uint32_t *dimension)
{
    char *end;
    size_t sign = *text == '-';
    if (text[sign] < '0' || text[sign] > '9')
        return NULL;
    long number = strtol(text, &end, 10);
    number += number < 0 || sign ? (long)rank : 0;
    if (number < 0 || number >= (long)rank)
        return NULL;
    *dimension = (uint32_t)number;
    return end;
}

static int parse_numbers(const char *all, const char *text, uint32_t rank,
                         struct picture_view *view, struct fault *fault)
{
    char why[96];
    const char *rest = take_dimension(text, rank, &view->rows);
    if (rest && *rest == ',')
        rest = take_dimension(rest + 1, rank, &view->columns);
    else
        rest = NULL;
    if (rest && *rest == '\0' && view->rows != view->columns)
        return 0;
    snprintf(why, sizeof(why),
             "two different dimensions from 0 to %" PRIu32
             " are required, for rows and columns, as in 0,1",
             rank - 1);
    return complain(all, why, fault);
}

/* Returns the index of a letter in a layout, in upper or lower case, or -1. */
static int find_letter(const char *layout, char upper)
{
    for (int i = 0; layout[i]; i++) {
        if ((layout[i] & ~0x20) == upper)
            return i;
    }
    return -1;
}

static int parse_layout(const char *all, const char *text, uint32_t rank, struct picture_view *view,
                        struct fault *fault)
{
    char why[96];
    int rows = find_letter(text, 'H'), columns = find_letter(text, 'W');
    if (strlen(text) != rank) {
        snprintf(why, sizeof(why),
                 "%.8s has %zu letters, but the tensor has %" PRIu32 " dimensions", text,
                 strlen(text), rank);
        return complain(all, why, fault);
    }
    if (rows < 0 || columns < 0)
        return complain(all, "a layout requires the letters H (rows) and W (columns), as in HWC",
                        fault);
    for (const char *letter = text; *letter; letter++) {
        if (find_letter(letter + 1, (char)(*letter & ~0x20)) < 0)
            continue;
        snprintf(why, sizeof(why), "%.8s has the letter %c twice", text, *letter & ~0x20);
        return complain(all, why, fault);
    }
    *view = (struct picture_view){(uint32_t)rows, (uint32_t)columns};
    return 0;
}

static bool is_letter(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static int parse_side(const char *all, const char *text, uint32_t rank, struct picture_view *view,
                      struct fault *fault)
{
    return is_letter(*text) ? parse_layout(all, text, rank, view, fault)
                            : parse_numbers(all, text, rank, view, fault);
}

/* Returns the destination dimensions that the source's rows and columns become. */
static struct picture_view follow(const mli_explanation *move, const struct picture_view *src)
{
    uint32_t a = move->axis[src->rows].dst_dim, b = move->axis[src->columns].dst_dim;
    return (struct picture_view){a < b ? a : b, a < b ? b : a};
}

int picture_views_parse(const char *text, const mli_explanation *move, struct picture_views *views,
                        struct fault *fault)
{
    char src[SIDE_TEXT_MAX];
    size_t length = strcspn(text, ":");
    if (move->rank < 2)
        return complain(text, "a tensor of one dimension has no rows; omit --view", fault);
    if (length >= sizeof(src))
        return complain(text, "dimensions (such as 0,1) or a layout (such as HWC) are required",
                        fault);
    memcpy(src, text, length);
    src[length] = '\0';
    if (parse_side(text, src, move->rank, &views->src, fault))
        return -1;
    if (text[length] == ':')
        return parse_side(text, text + length + 1, move->rank, &views->dst, fault);
    views->dst = follow(move, &views->src);
    return 0;
}

/* Sets the level of each dimension: those that `view` names are rows and columns; of the others,
 * the innermost one is planes. */
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

/* Fills the scale of a source dimension with the samples that the dimension's axis shows. */
static void make_scale(struct picture_scale *scale, const struct picture_axis *axis)
{
    scale->count = 0;
    for (size_t i = 0; i < axis->count; i++) {
        const struct picture_slot *slot = &axis->slot[i];
        if (slot->kind == SLOT_COORDINATE && slot->real && slot->window == PICTURE_SAMPLED)
            scale->sample[scale->count++] = slot->sample;
    }
}

/* Returns whether dimension a comes before b in picture->followed. Permuted dimensions come before
 * all others. Of the others, columns of the source come first, then rows, planes and lines. */
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
 * Finds the gaps that the destination's strides leave. After the last element of an axis there may
 * be unused bytes before the next row begins: the tail of the axis. The innermost axis may also
 * have gaps between its elements. The stride of an axis of extent 1 is ignored.
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
    UNIT = 1000,    /* distance between two hues; positions on a scale are 0 to UNIT */
    TINT_MAX = 620, /* maximum share of white, in 1/UNIT */
    SHADE_MAX = 400 /* maximum share of the dark colour, in 1/UNIT */
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

/* Returns the colour of an element. It depends on the element's coordinates in the dimensions that
 * the first `followed` entries of picture->followed name. */
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

/* Returns the linear value of an sRGB channel, by a polynomial with an error below 0.003. */
static double linear(uint8_t channel)
{
    const double c = channel / 255.0;

    return c * (c * (c * 0.305306011 + 0.682171111) + 0.012522878);
}

/* White text is legible up to this luminance, where its contrast is 3 (WCAG 2). */
static const double luminance_of_dark = 0.3;

bool picture_colour_is_dark(struct picture_colour colour)
{
    return 0.2126 * linear(colour.red) + 0.7152 * linear(colour.green) +
               0.0722 * linear(colour.blue) <
           luminance_of_dark;
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
