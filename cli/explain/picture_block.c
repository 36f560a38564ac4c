/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture.h"

#include <inttypes.h>
#include <stdio.h>

enum { WEIGHT_MAX = 2 };

static void place_slots(const struct picture_axis *axis, int cell, int gap, int *at)
{
    at[0] = 0;
    for (size_t i = 0; i < axis->count; i++)
        at[i + 1] = at[i] + (axis->slot[i].kind == SLOT_BREAK ? gap : cell);
}

/* Returns the width of the longest number beside the rows. */
static int ticks_width(const struct picture_block *block)
{
    const struct picture_axis *axis = &block->side->axis[PICTURE_ROWS];
    int widest = 0;
    for (size_t i = 0; axis->dim >= 0 && i < axis->count; i++) {
        char text[PICTURE_TICK_MAX];
        picture_tick_words(text, block->picture, block->side, axis, i);
        widest = picture_larger(widest, block->metrics.text_width(text));
    }
    return widest;
}

/* Returns the width of a plane with its label, or of a break between planes. */
static int plane_width(const struct picture_block *block, size_t plane)
{
    const struct picture_slot *slot = &block->side->axis[PICTURE_PLANES].slot[plane];
    const struct picture_metrics *m = &block->metrics;
    char text[PICTURE_WORDS_MAX];
    if (slot->kind == SLOT_BREAK) {
        snprintf(text, sizeof(text), "%" PRIu64, slot->left_out);
        return picture_larger(m->text_width(text), m->planes_left_out);
    }
    int width = block->column[block->side->axis[PICTURE_COLUMNS].count] + m->edge;
    const struct picture_axis *lines = &block->side->axis[PICTURE_LINES];
    for (size_t line = 0; line < lines->count; line++) {
        if (lines->slot[line].kind == SLOT_BREAK)
            continue;
        picture_plane_words(text, block->picture, block->side, line, plane);
        width = picture_larger(width, m->text_width(text));
    }
    return width;
}

static void place_planes(struct picture_block *block, int most)
{
    const struct picture_axis *axis = &block->side->axis[PICTURE_PLANES];
    int x = block->left;
    size_t fold = 0;
    for (size_t i = 0; i < axis->count; i++) {
        int width = plane_width(block, i);
        if (block->folds && x > block->left && x + width > most) {
            x = block->left;
            fold++;
        }
        /* A break has the label "N more". The tick labels of the next plane are beside it. */
        const bool leads = x == block->left && axis->slot[i].kind == SLOT_BREAK;
        block->plane[i] = x;
        block->plane_width[i] = width;
        block->fold[i] = fold;
        block->width = picture_larger(block->width, x + width);
        x += width + block->metrics.across + (leads ? block->ticks : 0);
    }
    block->lines = block->folds ? fold + 1 : block->side->axis[PICTURE_LINES].count;
}

static void place_lines(struct picture_block *block)
{
    const struct picture_axis *lines = &block->side->axis[PICTURE_LINES];
    const struct picture_metrics *m = &block->metrics;
    int label = block->side->axis[PICTURE_PLANES].dim >= 0 ? m->label : 0, y = m->top;
    for (size_t i = 0; i < block->lines; i++) {
        if (!block->folds && lines->slot[i].kind == SLOT_BREAK) {
            block->line[i] = y;
            y += m->lines_left_out;
            continue;
        }
        block->line[i] = y + label;
        y += label + block->row[block->side->axis[PICTURE_ROWS].count];
        y += i + 1 < block->lines ? m->down : 0;
    }
    block->height = y + m->bottom;
}

void picture_block_init(struct picture_block *block, const struct picture *picture,
                        const struct picture_side *side, const struct picture_metrics *metrics,
                        int width)
{
    *block = (struct picture_block){.picture = picture, .side = side, .metrics = *metrics};
    place_slots(&side->axis[PICTURE_COLUMNS], metrics->cell_width, metrics->break_width,
                block->column);
    place_slots(&side->axis[PICTURE_ROWS], metrics->cell_height, metrics->break_height, block->row);
    block->ticks = ticks_width(block);
    if (side->axis[PICTURE_ROWS].dim >= 0)
        block->left = metrics->left + block->ticks;
    block->folds = side->axis[PICTURE_LINES].count == 1;
    place_planes(block, width);
    place_lines(block);
}

bool picture_block_sprawls(const struct picture_block *block)
{
    const struct picture_axis *axis = &block->side->axis[PICTURE_PLANES];
    bool left_out = false;
    for (size_t i = 0; i < axis->count; i++)
        left_out = left_out || axis->slot[i].kind == SLOT_BREAK;
    return block->folds && block->lines > 1 && left_out;
}

/* Returns the line on which a plane is drawn. */
static size_t line_of(const struct picture_block *block, size_t line, size_t plane)
{
    return block->folds ? block->fold[plane] : line;
}

struct picture_area picture_block_plane(const struct picture_block *block, size_t line,
                                        size_t plane)
{
    const struct picture_axis *axis = block->side->axis;
    return (struct picture_area){block->plane[plane], block->line[line_of(block, line, plane)],
                                 block->column[axis[PICTURE_COLUMNS].count],
                                 block->row[axis[PICTURE_ROWS].count]};
}

/* Returns whether a plane is the first one on its line. */
static bool is_first(const struct picture_block *block, size_t plane)
{
    const struct picture_slot *slot = block->side->axis[PICTURE_PLANES].slot;
    size_t first = plane;
    while (first > 0 && block->fold[first - 1] == block->fold[plane])
        first--;
    while (first < plane && slot[first].kind == SLOT_BREAK)
        first++;
    return first == plane;
}

bool picture_block_row_ticks(const struct picture_block *block, size_t plane)
{
    return is_first(block, plane) && block->side->axis[PICTURE_ROWS].dim >= 0;
}

bool picture_block_column_ticks(const struct picture_block *block, size_t line, size_t plane)
{
    const struct picture_axis *lines = &block->side->axis[PICTURE_LINES];
    size_t last = block->lines - 1;
    if (!block->folds && lines->slot[last].kind == SLOT_BREAK)
        last--;
    return is_first(block, plane) && line_of(block, line, plane) == last;
}

/* Returns the importance of a tick: 2 at the ends of axis and window, 1 beside breaks, else 0. */
static int weight_of(const struct picture_axis *axis, size_t i)
{
    size_t begin, end;
    if (i == 0 || i + 1 == axis->count ||
        (picture_window(axis, &begin, &end) && (i == begin || i + 1 == end)))
        return WEIGHT_MAX;
    return axis->slot[i - 1].kind == SLOT_BREAK || axis->slot[i + 1].kind == SLOT_BREAK;
}

static bool is_free(const struct picture_span *spans, const bool *chosen, size_t count, size_t i)
{
    for (size_t other = 0; other < count; other++) {
        if (chosen[other] && spans[i].from < spans[other].to && spans[other].from < spans[i].to)
            return false;
    }
    return true;
}

void picture_block_choose(const struct picture_axis *axis, const struct picture_span *spans,
                          bool *chosen)
{
    for (size_t i = 0; i < axis->count; i++)
        chosen[i] = false;
    for (int weight = WEIGHT_MAX; weight >= 0; weight--) {
        for (size_t i = 0; i < axis->count; i++) {
            if (spans[i].from < spans[i].to && weight_of(axis, i) == weight)
                chosen[i] = is_free(spans, chosen, axis->count, i);
        }
    }
}
