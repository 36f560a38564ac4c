/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/text_side.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain/picture_colour.h"
#include "cli/explain/picture_words.h"

/* A cell is two characters: what stands for it, and the space, or window's edge, before it. */
enum { CELL = 2, LETTERS = 52, LEGEND_SPACE = 3, LEGEND_MAX = 96 };

/* Where drawing goes. */
struct pen {
    struct canvas *canvas;
    const struct picture_block *block;
    int x, y;
    bool utf8;
};

/* The heading, and a line for each axis. */
static int heading_lines(const struct picture_side *side)
{
    int lines = 1;
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++)
        lines += side->axis[level].dim >= 0;
    return lines;
}

static void heading_words(char out[PICTURE_LINE_MAX], const struct picture_block *block)
{
    const struct explained *e = block->picture->explained;
    char shape[PICTURE_WORDS_MAX];
    bool is_dst = block->side->is_dst;
    picture_side_shape(shape, is_dst ? &e->dst : &e->src);
    snprintf(out, PICTURE_LINE_MAX, "%s %s", is_dst ? "destination" : "source", shape);
}

/* "rows     d1 1+4+1" */
static void axis_words(char out[PICTURE_LINE_MAX], const struct picture_block *block,
                       enum picture_level level)
{
    static const char *const names[PICTURE_LEVELS] = {"lines", "planes", "rows", "columns"};
    const struct picture_axis *axis = &block->side->axis[level];
    char words[PICTURE_WORDS_MAX];
    picture_axis_words(words, block->picture, block->side, axis);
    snprintf(out, PICTURE_LINE_MAX, "%-7s d%d  %s%s", names[level], axis->source_dim, words,
             picture_is_quantised(block->picture, axis) ? ", own scale each" : "");
}

void text_side_lay_out(struct picture_block *block, const struct picture *picture,
                       const struct picture_side *side, int width)
{
    struct picture_metrics metrics = {
        .cell_width = CELL,
        .cell_height = 1,
        .break_width = CELL,
        .break_height = 1,
        .planes_left_out = 4,
        .lines_left_out = 2,
        .edge = 1,
        .across = 1,
        .label = 1,
        .top = heading_lines(side) + 1,
        .bottom = 1,
        .text_width = canvas_text_width,
    };
    picture_block_init(block, picture, side, &metrics, width);
    char words[PICTURE_LINE_MAX];
    heading_words(words, block);
    int widest = canvas_text_width(words);
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        if (side->axis[level].dim < 0)
            continue;
        axis_words(words, block, level);
        int wide = canvas_text_width(words);
        widest = wide > widest ? wide : widest;
    }
    block->width = widest > block->width ? widest : block->width;
}

static void put_headings(const struct pen *pen)
{
    char words[PICTURE_LINE_MAX];
    int y = pen->y;
    heading_words(words, pen->block);
    canvas_put(pen->canvas, pen->x, y++, COLOUR_STRONG, words);
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        if (pen->block->side->axis[level].dim < 0)
            continue;
        axis_words(words, pen->block, level);
        canvas_put(pen->canvas, pen->x, y++, CANVAS_PLAIN, words);
    }
}

/* Whether each element that is moved has a letter of its own: they are few, and all are shown. */
static bool has_letters(const struct picture *picture)
{
    const mli_explanation *move = &picture->explained->move;
    uint64_t shown = 1;
    if (move->samples_read > LETTERS)
        return false;
    for (uint32_t d = 0; d < move->rank; d++)
        shown *= picture->scale[d].count;
    return shown == move->samples_read;
}

static const char letters[LETTERS + 1] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

static char letter_of(const struct picture *picture, const uint64_t *sample)
{
    const mli_explanation *move = &picture->explained->move;
    uint64_t number = 0;
    if (has_letters(picture)) {
        for (uint32_t d = 0; d < move->rank; d++)
            number = number * (move->axis[d].hi - move->axis[d].lo) + sample[d] - move->axis[d].lo;
    } else if (picture->followed_count > 0) {
        uint32_t d = picture->followed[0];
        number = picture_position(picture, d, sample[d], (uint32_t)picture->scale[d].count - 1);
    }
    return letters[number % LETTERS];
}

static const char *const glyphs[PICTURE_STATES][2] = {
#define PICTURE_GLYPHS(name, utf8, ascii, words) {ascii, utf8},
    PICTURE_STATE_TABLE(PICTURE_GLYPHS)
#undef PICTURE_GLYPHS
};

static const unsigned roles[PICTURE_STATES] = {
    [PICTURE_TAKEN] = COLOUR_GOOD,    [PICTURE_OUTSIDE] = COLOUR_FAINT,
    [PICTURE_SKIPPED] = COLOUR_FAINT, [PICTURE_PADDING] = COLOUR_WARN,
    [PICTURE_WRITTEN] = COLOUR_GOOD,  [PICTURE_PADDING_SKIPPED] = COLOUR_FAINT,
    [PICTURE_ZERO] = COLOUR_WARN,     [PICTURE_THERE] = CANVAS_PLAIN,
    [PICTURE_EMPTY] = COLOUR_FAINT,   [PICTURE_GAP] = COLOUR_FAINT,
    [PICTURE_BREAK] = COLOUR_FAINT,
};

static void put_cell(const struct pen *pen, const size_t *at, int x, int y)
{
    enum picture_state state = picture_state(pen->block->side, at);
    char letter[2] = "";
    const char *glyph = glyphs[state][pen->utf8];
    unsigned role = roles[state];
    if (state == PICTURE_TAKEN || state == PICTURE_WRITTEN) {
        uint64_t sample[MLI_MAX_RANK] = {0};
        picture_samples(pen->block->side, at, sample);
        letter[0] = letter_of(pen->block->picture, sample);
        glyph = letter;
        if (pen->canvas->palette)
            role = picture_colour_palette(pen->block->picture, sample);
    }
    canvas_put(pen->canvas, x + 1, y, role, glyph);
}

static bool is_within(const struct picture_side *side, const size_t *at)
{
    for (enum picture_level level = PICTURE_LINES; level <= PICTURE_PLANES; level++) {
        const struct picture_slot *slot = &side->axis[level].slot[at[level]];
        if (slot->kind != SLOT_COORDINATE || slot->window == PICTURE_OUT)
            return false;
    }
    return true;
}

/* Bars left and right of the window, or of what is written. */
static void put_window(const struct pen *pen, const size_t *at, int x, int y)
{
    const struct picture_axis *axis = pen->block->side->axis;
    size_t top, bottom, left, right;
    if (!is_within(pen->block->side, at) || !picture_window(&axis[PICTURE_ROWS], &top, &bottom) ||
        !picture_window(&axis[PICTURE_COLUMNS], &left, &right))
        return;
    for (size_t r = top; r < bottom; r++) {
        const char *bar = pen->utf8 ? "│" : "|";
        canvas_put(pen->canvas, x + pen->block->column[left], y + pen->block->row[r], COLOUR_STRONG,
                   bar);
        canvas_put(pen->canvas, x + pen->block->column[right], y + pen->block->row[r],
                   COLOUR_STRONG, bar);
    }
}

static void put_row_ticks(const struct pen *pen, int x, int y)
{
    const struct picture_axis *axis = &pen->block->side->axis[PICTURE_ROWS];
    for (size_t i = 0; i < axis->count; i++) {
        char text[PICTURE_TICK_MAX];
        picture_tick_words(text, pen->block->picture, pen->block->side, axis, i);
        canvas_put(pen->canvas, x - canvas_text_width(text), y + pen->block->row[i], COLOUR_FAINT,
                   text);
    }
}

static void put_column_ticks(const struct pen *pen, int x, int y)
{
    const struct picture_axis *axis = &pen->block->side->axis[PICTURE_COLUMNS];
    struct picture_span spans[PICTURE_SLOTS_MAX];
    char texts[PICTURE_SLOTS_MAX][PICTURE_TICK_MAX];
    bool chosen[PICTURE_SLOTS_MAX];
    for (size_t i = 0; i < axis->count; i++) {
        picture_tick_words(texts[i], pen->block->picture, pen->block->side, axis, i);
        int width = canvas_text_width(texts[i]), from = pen->block->column[i] + 1;
        /* With a space behind it. */
        spans[i] = (struct picture_span){from, from + (width ? width + 1 : 0)};
    }
    picture_block_choose(axis, spans, chosen);
    for (size_t i = 0; i < axis->count; i++) {
        if (chosen[i])
            canvas_put(pen->canvas, x + spans[i].from, y, COLOUR_FAINT, texts[i]);
    }
}

static void put_plane(const struct pen *pen, size_t *at)
{
    const struct picture_axis *axis = pen->block->side->axis;
    size_t line = at[PICTURE_LINES], plane = at[PICTURE_PLANES];
    struct picture_area area = picture_block_plane(pen->block, line, plane);
    int x = pen->x + area.x, y = pen->y + area.y;
    char words[PICTURE_WORDS_MAX];
    picture_plane_words(words, pen->block->picture, pen->block->side, line, plane);
    canvas_put(pen->canvas, x, y - 1, COLOUR_FAINT, words);
    for (at[PICTURE_ROWS] = 0; at[PICTURE_ROWS] < axis[PICTURE_ROWS].count; at[PICTURE_ROWS]++)
        for (at[PICTURE_COLUMNS] = 0; at[PICTURE_COLUMNS] < axis[PICTURE_COLUMNS].count;
             at[PICTURE_COLUMNS]++)
            put_cell(pen, at, x + pen->block->column[at[PICTURE_COLUMNS]],
                     y + pen->block->row[at[PICTURE_ROWS]]);
    put_window(pen, at, x, y);
    if (picture_block_row_ticks(pen->block, plane))
        put_row_ticks(pen, x, y);
    if (picture_block_column_ticks(pen->block, line, plane))
        put_column_ticks(pen, x, y + area.height);
}

/* "..." and how many, in the place of planes or lines. */
static void put_left_out(const struct pen *pen, int x, int y, const struct picture_slot *slot,
                         bool below)
{
    char text[PICTURE_TICK_MAX];
    snprintf(text, sizeof(text), "%" PRIu64, slot->left_out);
    canvas_put(pen->canvas, x, y, COLOUR_FAINT, below ? "..." : "... ");
    canvas_put(pen->canvas, below ? x : x + 4, below ? y + 1 : y, COLOUR_FAINT, text);
    if (!below)
        canvas_put(pen->canvas, x + 5 + canvas_text_width(text), y, COLOUR_FAINT, "more");
}

void text_side_draw(struct canvas *canvas, const struct picture_block *block, int x, int y,
                    bool utf8)
{
    const struct picture_axis *lines = &block->side->axis[PICTURE_LINES];
    const struct picture_axis *planes = &block->side->axis[PICTURE_PLANES];
    struct pen pen = {canvas, block, x, y, utf8};
    put_headings(&pen);
    for (size_t line = 0; line < lines->count; line++) {
        if (lines->slot[line].kind == SLOT_BREAK) {
            put_left_out(&pen, x + block->left, y + block->line[line] + 1, &lines->slot[line],
                         false);
            continue;
        }
        for (size_t plane = 0; plane < planes->count; plane++) {
            size_t at[PICTURE_LEVELS] = {line, plane};
            struct picture_area area = picture_block_plane(block, line, plane);
            if (planes->slot[plane].kind == SLOT_BREAK)
                put_left_out(&pen, x + area.x, y + area.y, &planes->slot[plane], true);
            else
                put_plane(&pen, at);
        }
    }
}

/* "moved (a letter for each element)", or "moved (a to f: coordinate 0 to 5 of d1)" */
static void moved_words(char out[LEGEND_MAX], const struct picture *picture, const char *moved)
{
    if (has_letters(picture) || picture->followed_count == 0) {
        snprintf(out, LEGEND_MAX, "%s (a letter for each element)", moved);
        return;
    }
    uint32_t d = picture->followed[0];
    const struct picture_scale *scale = &picture->scale[d];
    size_t last = scale->count - 1; /* below LETTERS: an axis has no room for more */
    snprintf(out, LEGEND_MAX, "%s (a to %c: coordinate %" PRIu64 " to %" PRIu64 " of d%" PRIu32 ")",
             moved, letters[last % LETTERS], picture_coordinate(picture, d, scale->sample[0]),
             picture_coordinate(picture, d, scale->sample[last]), d);
}

/* Puts the items of the legend one behind the other, on as many lines as it takes; null canvas:
 * only to count them. Returns the lines. */
static int put_legend(struct canvas *canvas, const struct picture *picture, int width, bool utf8)
{
    static const char *const words[PICTURE_STATES] = {
#define PICTURE_WORDS(name, in_utf8, ascii, text) text,
        PICTURE_STATE_TABLE(PICTURE_WORDS)
#undef PICTURE_WORDS
    };
    int x = 0, y = 0;
    for (enum picture_state state = 0; state < PICTURE_STATES; state++) {
        if (!*words[state] ||
            picture_count(&picture->src, state) + picture_count(&picture->dst, state) == 0)
            continue;
        char moved[LEGEND_MAX];
        const char *text = words[state];
        if (state == PICTURE_WRITTEN) {
            moved_words(moved, picture, text);
            if (2 + canvas_text_width(moved) <= width)
                text = moved;
        }
        int wide = 2 + canvas_text_width(text);
        if (x > 0 && x + wide > width) {
            x = 0;
            y++;
        }
        if (canvas) {
            canvas_put(canvas, x, y, roles[state], glyphs[state][utf8]);
            canvas_put(canvas, x + 2, y, CANVAS_PLAIN, text);
        }
        x += wide + LEGEND_SPACE;
    }
    return y + 1;
}

void text_side_legend(struct textw *w, const struct picture *picture, int width, bool utf8)
{
    struct canvas canvas;
    canvas_init(&canvas, width, put_legend(NULL, picture, width, utf8));
    put_legend(&canvas, picture, width, utf8);
    canvas_write(w, &canvas);
    canvas_finish(&canvas);
}
