/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain/picture.h"
#include "cli/explain/svgw.h"
#include "cli/file/output.h"
#include "cli/term/print.h"
#include "proto/json/jsonw.h"

enum { SVG_AXIS_CAPTION = 20 /* height of a caption */ };

enum { SVG_AXIS_FONT = 9, SVG_AXIS_AWAY = 4 };

enum { SVG_STEPS_WIDTH = 262, SVG_STEPS_HEAD = 30 /* width of the arrow's head */ };

enum {
    CAPTION_FONT = 12,
    CHIP = 20,
    CAPTION_SPACE = 5,
    STRIP_MAX = 8,
    STRIP_CELL = 6,
    MARK = 10,
    CHIP_HEIGHT = 15,
    FILL_MAX = 32
};

static const char *fill_of(char out[FILL_MAX], struct picture_colour colour)
{
    snprintf(out, FILL_MAX, "fill=\"#%02x%02x%02x\"", colour.red, colour.green, colour.blue);
    return out;
}

static bool is_followed(const struct picture *picture, uint32_t source_dim)
{
    for (uint32_t i = 0; i < picture->followed_count; i++) {
        if (picture->followed[i] == source_dim)
            return true;
    }
    return false;
}

static size_t strip_cells(const struct picture *picture, uint32_t source_dim)
{
    size_t count = picture->scale[source_dim].count;
    if (!is_followed(picture, source_dim))
        return 0;
    return count < STRIP_MAX ? count : STRIP_MAX;
}

/* Draws the colours along a source dimension as a strip. Returns the strip's width. */
static int draw_strip(struct textw *w, const struct picture *picture, uint32_t source_dim, int x,
                      int y)
{
    const struct picture_scale *scale = &picture->scale[source_dim];
    size_t cells = strip_cells(picture, source_dim);
    uint64_t sample[MLI_MAX_RANK];
    for (uint32_t d = 0; d < MLI_MAX_RANK; d++)
        sample[d] = picture->scale[d].sample[0];
    for (size_t i = 0; i < cells; i++) {
        sample[source_dim] = scale->sample[i * (scale->count - 1) / (cells > 1 ? cells - 1 : 1)];
        char fill[FILL_MAX];
        svgw_box(w, (struct svgw_box){x + (int)i * STRIP_CELL, y, STRIP_CELL, STRIP_CELL + 2},
                 fill_of(fill, picture_colour(picture, sample)));
    }
    return (int)cells * STRIP_CELL;
}

/*
 * Draws the caption of an axis: "1+224+1", with an arrow unless the caption is already along its
 * axis.
 */
static void caption_words(char out[PICTURE_LINE_MAX], const struct picture_block *block,
                          enum picture_level level, bool beside)
{
    static const char down[] = "  \xe2\x86\x93", right[] = "  \xe2\x86\x92";
    const struct picture_axis *axis = &block->side->axis[level];
    char words[PICTURE_WORDS_MAX];
    const char *way = level == PICTURE_PLANES              ? right
                      : level == PICTURE_COLUMNS || beside ? ""
                                                           : down;
    picture_axis_words(words, block->picture, block->side, axis);
    snprintf(out, PICTURE_LINE_MAX, "%s%s%s", words,
             picture_is_quantised(block->picture, axis) ? ", own scale each" : "", way);
}

static int caption_width(const struct picture_block *block, enum picture_level level, bool beside)
{
    const struct picture_axis *axis = &block->side->axis[level];
    char words[PICTURE_LINE_MAX];
    caption_words(words, block, level, beside);
    int width = CHIP + CAPTION_SPACE + svgw_text_width(words, CAPTION_FONT);
    if (picture_is_quantised(block->picture, axis))
        width += MARK + CAPTION_SPACE;
    size_t cells = strip_cells(block->picture, (uint32_t)axis->source_dim);
    return width + (cells ? CAPTION_SPACE + (int)cells * STRIP_CELL : 0);
}

enum { LEGEND_FONT = 11, SWATCH = 14, LEGEND_LINE = 22, LEGEND_SPACE = 22, TEXT_MAX = 96 };

static const struct svgw_font legend_font = {LEGEND_FONT, SVGW_START, "#27303f"};

static void draw_caption(struct textw *w, const struct picture_block *block,
                         enum picture_level level, int x, int y, bool beside)
{
    static const struct svgw_font chip = {11, SVGW_MIDDLE, "#ffffff", .bold = true};
    static const struct svgw_font font = {CAPTION_FONT, SVGW_START, "#27303f"};
    const struct picture_axis *axis = &block->side->axis[level];
    char words[PICTURE_LINE_MAX];
    int base = y + SVG_AXIS_CAPTION / 2 + 4;
    caption_words(words, block, level, beside);
    svgw_box(w, (struct svgw_box){x, y + (SVG_AXIS_CAPTION - CHIP_HEIGHT) / 2, CHIP, CHIP_HEIGHT},
             "rx=\"4\" fill=\"#3b4658\"");
    svgw_text(w, x + CHIP / 2, base, &chip, "d%d", axis->source_dim);
    x += CHIP + CAPTION_SPACE;
    int strip = draw_strip(w, block->picture, (uint32_t)axis->source_dim, x,
                           y + (SVG_AXIS_CAPTION - STRIP_CELL) / 2 - 1);
    x += strip + (strip ? CAPTION_SPACE : 0);
    if (picture_is_quantised(block->picture, axis)) {
        textw_printf(w, "<path d=\"M%d %dl5 -5 5 5 -5 5z\" class=\"axis\" fill=\"#b3125f\"/>\n", x,
                     y + SVG_AXIS_CAPTION / 2);
        x += MARK + CAPTION_SPACE;
    }
    svgw_text(w, x, base, &font, "%s", words);
}

/* Returns whether the rows' caption is above the planes, because it is longer than their side. */
static bool svg_axis_caption_is_above(const struct picture_block *block)
{
    const struct picture_axis *axis = &block->side->axis[PICTURE_ROWS];
    return axis->dim >= 0 &&
           caption_width(block, PICTURE_ROWS, true) > block->row[axis->count] + SVG_AXIS_CAPTION;
}

/* Returns the width of the widest caption above or below the planes. */
static int svg_axis_widest_caption(const struct picture_block *block)
{
    int widest = 0;
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        bool is_there = block->side->axis[level].dim >= 0 &&
                        (level != PICTURE_ROWS || svg_axis_caption_is_above(block));
        if (is_there)
            widest = picture_larger(widest, caption_width(block, level, false));
    }
    return widest;
}

/* Draws the caption of the rows as vertical text that reads upwards, centred at (x, y). */
static void svg_axis_caption_beside(struct textw *w, const struct picture_block *block, int x,
                                    int y)
{
    textw_printf(w, "<g transform=\"translate(%d %d) rotate(-90)\">\n", x,
                 y + caption_width(block, PICTURE_ROWS, true) / 2);
    draw_caption(w, block, PICTURE_ROWS, 0, 0, true);
    svgw_group_end(w);
}

enum { ZIG = 4, DOT = 7, HALF_LINE = 5 };

static const char faint[] = "#6b7585";

/* Returns the width of a label or tick in pixels. */
static int svg_axis_text_width(const char *text)
{
    return svgw_text_width(text, SVG_AXIS_FONT);
}

static int middle_of(const int *at, size_t i)
{
    return (at[i] + at[i + 1]) / 2;
}

/* Draws the coordinates of the rows left of a plane, or of the columns below it. */
static void svg_axis_ticks(struct textw *w, const struct picture_block *block,
                           enum picture_level level, struct picture_area plane)
{
    const bool rows = level == PICTURE_ROWS;
    const struct svgw_font font = {SVG_AXIS_FONT, rows ? SVGW_END : SVGW_MIDDLE, faint};
    const struct picture_axis *axis = &block->side->axis[level];
    const int *at = rows ? block->row : block->column;
    char text[PICTURE_SLOTS_MAX][PICTURE_TICK_MAX];
    struct picture_span spans[PICTURE_SLOTS_MAX];
    bool chosen[PICTURE_SLOTS_MAX];
    for (size_t i = 0; i < axis->count; i++) {
        picture_tick_words(text[i], block->picture, block->side, axis, i);
        const int half = rows ? HALF_LINE : svg_axis_text_width(text[i]) / 2 + 2;
        const int middle = middle_of(at, i);
        spans[i] = *text[i] ? (struct picture_span){middle - half, middle + half}
                            : (struct picture_span){0, 0};
    }
    picture_block_choose(axis, spans, chosen);
    for (size_t i = 0; i < axis->count; i++) {
        const int middle = middle_of(at, i);
        if (chosen[i])
            svgw_text(w, rows ? plane.x - SVG_AXIS_AWAY : plane.x + middle,
                      plane.y + (rows ? middle + 3 : plane.height + SVG_AXIS_FONT + 2), &font, "%s",
                      text[i]);
    }
}

/* Draws a zigzag of this length, down or to the right from x, y. */
static void zigzag(struct textw *w, int x, int y, int length, bool down)
{
    textw_printf(w, "<path class=\"break\" fill=\"none\" stroke=\"#9aa3b0\" d=\"M%d %d", x, y);
    for (int done = 0; done + 2 * ZIG <= length; done += 2 * ZIG)
        textw_printf(w, "l%d %d %d %d", ZIG, ZIG, down ? -ZIG : ZIG, down ? ZIG : -ZIG);
    textw_printf(w, "\"/>\n");
}

/* Draws the breaks of a plane as zigzags. */
static void svg_axis_breaks(struct textw *w, const struct picture_block *block,
                            struct picture_area plane)
{
    const struct picture_axis *columns = &block->side->axis[PICTURE_COLUMNS];
    const struct picture_axis *rows = &block->side->axis[PICTURE_ROWS];
    for (size_t i = 0; i < columns->count; i++) {
        if (columns->slot[i].kind == SLOT_BREAK)
            zigzag(w, plane.x + middle_of(block->column, i) - ZIG / 2, plane.y, plane.height, true);
    }
    for (size_t i = 0; i < rows->count; i++) {
        if (rows->slot[i].kind == SLOT_BREAK)
            zigzag(w, plane.x, plane.y + middle_of(block->row, i) - ZIG / 2, plane.width, false);
    }
}

static void dots(struct textw *w, int x, int y, int dx, int dy)
{
    for (int i = -1; i <= 1; i++)
        svgw_circle(w, x + i * dx, y + i * dy, 2, faint);
}

/* Draws dots and the number of omitted planes or lines in place of these planes or lines. */
static void svg_axis_planes_left_out(struct textw *w, const struct picture_block *block,
                                     size_t line, size_t plane)
{
    static const struct svgw_font font = {SVG_AXIS_FONT, SVGW_MIDDLE, faint};
    const struct picture_slot *slot = &block->side->axis[PICTURE_PLANES].slot[plane];
    struct picture_area area = picture_block_plane(block, line, plane);
    int x = area.x + block->plane_width[plane] / 2, y = area.y + area.height / 2;
    dots(w, x, y - 6, DOT, 0);
    svgw_text(w, x, y + 9, &font, "%" PRIu64, slot->left_out);
    svgw_text(w, x, y + 19, &font, "more");
}

static void svg_axis_lines_left_out(struct textw *w, const struct picture_block *block, size_t line)
{
    static const struct svgw_font font = {SVG_AXIS_FONT, SVGW_START, faint};
    const struct picture_slot *slot = &block->side->axis[PICTURE_LINES].slot[line];
    int y = block->line[line] + block->metrics.lines_left_out / 2, x = block->left + 14;
    dots(w, x, y - 2, 0, DOT);
    svgw_text(w, x + 10, y + 1, &font, "%" PRIu64 " more", slot->left_out);
}

/* A cell that is large enough shows its element's coordinate in the source. */
enum { NUMBER_FONT_MIN = 8, NUMBER_FONT_MAX = 11, NUMBER_MAX = 24 };

/* The class of the cells of a state, and their attributes unless each cell has its own colour. */
static const struct look {
    const char *name, *attributes;
} looks[PICTURE_STATES] = {
    [PICTURE_TAKEN] = {"taken", ""},
    [PICTURE_OUTSIDE] = {"outside", "fill=\"#dfe3e9\""},
    [PICTURE_SKIPPED] = {"skipped", "fill=\"#f4f6f8\" stroke=\"#d3d9e1\""},
    [PICTURE_PADDING] = {"padding", "fill=\"url(#zeros)\" stroke=\"#9aa3b0\""},
    [PICTURE_PADDING_SKIPPED] = {"padding-skipped", "fill=\"url(#faint)\" stroke=\"#dde1e7\""},
    [PICTURE_WRITTEN] = {"written", ""},
    [PICTURE_ZERO] = {"zero", "fill=\"url(#zeros)\" stroke=\"#9aa3b0\""},
    [PICTURE_THERE] = {"there", "fill=\"#a5aebb\""},
    [PICTURE_EMPTY] = {"empty", "fill=\"#f7f8fa\" stroke=\"#a9b2bf\""},
    [PICTURE_GAP] = {"gap", "fill=\"none\" stroke=\"#9aa4b2\" stroke-dasharray=\"2 2\""},
    [PICTURE_BREAK] = {"break", ""},
};

/* Defines the patterns that svg_side() and the legend use. Call it once per file. */
static void svg_side_define(struct textw *w)
{
    static const struct {
        const char *name, *ground, *line;
    } hatches[] = {{"zeros", "#ffffff", "#8d97a6"}, {"faint", "#ffffff", "#dfe3e9"}};
    textw_printf(w, "<defs>\n");
    for (size_t i = 0; i < sizeof(hatches) / sizeof(hatches[0]); i++)
        textw_printf(w,
                     "<pattern id=\"%s\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" "
                     "patternTransform=\"rotate(45)\"><rect width=\"4\" height=\"4\" fill=\"%s\"/>"
                     "<rect width=\"1\" height=\"4\" fill=\"%s\"/></pattern>\n",
                     hatches[i].name, hatches[i].ground, hatches[i].line);
    textw_printf(w, "</defs>\n");
}

static bool has_colour(enum picture_state state)
{
    return state == PICTURE_TAKEN || state == PICTURE_WRITTEN;
}

/* Returns an element's coordinate in the source as digits without separators, or "" if an extent
 * needs more than one digit per coordinate. */
static const char *number_of(char out[NUMBER_MAX], const struct picture *picture,
                             const uint64_t *sample)
{
    const mli_explanation *move = &picture->explained->move;
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t d = 0; d < move->rank; d++) {
        if (move->rank > 1 && move->axis[d].extent > 10)
            return "";
        length += (size_t)snprintf(out + length, NUMBER_MAX - length, "%" PRIu64,
                                   picture_coordinate(picture, d, sample[d]));
    }
    return out;
}

static void draw_number(struct textw *w, const struct picture_block *block, int x, int y,
                        const uint64_t *sample, struct picture_colour colour)
{
    char text[NUMBER_MAX];
    const char *number = number_of(text, block->picture, sample);
    int room = block->metrics.cell_width - 4, size = NUMBER_FONT_MAX;
    while (size >= NUMBER_FONT_MIN && svgw_text_width(number, size) > room)
        size--;
    if (!*number || size < NUMBER_FONT_MIN)
        return;
    struct svgw_font font = {size, SVGW_MIDDLE,
                             picture_colour_is_dark(colour) ? "#ffffff" : "#1b2433"};
    svgw_text(w, x + block->metrics.cell_width / 2,
              y + block->metrics.cell_width / 2 + size * 36 / 100, &font, "%s", number);
}

/* Draws a cell with a tooltip: "(1, 4) to (0, 2)". */
static void draw_coloured(struct textw *w, const struct picture_block *block, struct svgw_box box,
                          const uint64_t *sample, struct picture_colour colour)
{
    const mli_explanation *move = &block->picture->explained->move;
    uint64_t from[MLI_MAX_RANK], to[MLI_MAX_RANK];
    char a[PICTURE_WORDS_MAX], b[PICTURE_WORDS_MAX], fill[FILL_MAX];
    for (uint32_t d = 0; d < move->rank; d++) {
        from[d] = picture_coordinate(block->picture, d, sample[d]);
        to[move->axis[d].dst_dim] = move->axis[d].dst_offset + sample[d];
    }
    svgw_titled_box(w, box, fill_of(fill, colour), "%s to %s", picture_shape(a, move->rank, from),
                    picture_shape(b, move->rank, to));
}

static void draw_cell(struct textw *w, const struct picture_block *block, const size_t *at, int x,
                      int y, bool coloured)
{
    int size = block->metrics.cell_width - 2;
    if (!coloured) {
        textw_printf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", x + 1, y + 1,
                     size, size);
        return;
    }
    uint64_t sample[MLI_MAX_RANK] = {0};
    picture_samples(block->side, at, sample);
    struct picture_colour c = picture_colour(block->picture, sample);
    draw_coloured(w, block, (struct svgw_box){x + 1, y + 1, size, size}, sample, c);
    draw_number(w, block, x, y, sample, c);
}

/* Draws all cells of a plane that are in one state, as a group. */
static void draw_state(struct textw *w, const struct picture_block *block, size_t *at,
                       enum picture_state state)
{
    const struct picture_axis *rows = &block->side->axis[PICTURE_ROWS];
    const struct picture_axis *columns = &block->side->axis[PICTURE_COLUMNS];
    struct picture_area plane = picture_block_plane(block, at[PICTURE_LINES], at[PICTURE_PLANES]);
    bool begun = false;
    for (size_t r = 0; r < rows->count; r++) {
        for (size_t c = 0; c < columns->count; c++) {
            at[PICTURE_ROWS] = r;
            at[PICTURE_COLUMNS] = c;
            if (picture_state(block->side, at) != state)
                continue;
            if (!begun)
                textw_printf(w, "<g class=\"%s\" %s>\n", looks[state].name,
                             looks[state].attributes);
            begun = true;
            draw_cell(w, block, at, plane.x + block->column[c], plane.y + block->row[r],
                      has_colour(state));
        }
    }
    if (begun)
        svgw_group_end(w);
}

/* Draws a frame around the window (src) or the written region (dst). */
static void draw_window(struct textw *w, const struct picture_block *block, const size_t *at)
{
    const struct picture_axis *axis = block->side->axis;
    struct picture_area plane = picture_block_plane(block, at[PICTURE_LINES], at[PICTURE_PLANES]);
    size_t top, bottom, left, right;
    for (enum picture_level level = PICTURE_LINES; level <= PICTURE_PLANES; level++) {
        const struct picture_slot *slot = &axis[level].slot[at[level]];
        if (slot->kind != SLOT_COORDINATE || slot->window == PICTURE_OUT)
            return;
    }
    if (!picture_window(&axis[PICTURE_ROWS], &top, &bottom) ||
        !picture_window(&axis[PICTURE_COLUMNS], &left, &right))
        return;
    struct svgw_box frame = {plane.x + block->column[left] - 1, plane.y + block->row[top] - 1,
                             block->column[right] - block->column[left] + 2,
                             block->row[bottom] - block->row[top] + 2};
    svgw_box(w, frame,
             "class=\"window\" rx=\"3\" fill=\"none\" stroke=\"#141c2e\" stroke-width=\"2\"");
}

static void draw_plane(struct textw *w, const struct picture_block *block, size_t *at)
{
    static const struct svgw_font label = {SVG_AXIS_FONT, SVGW_START, "#5b6575"};
    struct picture_area plane = picture_block_plane(block, at[PICTURE_LINES], at[PICTURE_PLANES]);
    char text[PICTURE_WORDS_MAX];
    picture_plane_words(text, block->picture, block->side, at[PICTURE_LINES], at[PICTURE_PLANES]);
    if (*text)
        svgw_text(w, plane.x, plane.y - 4, &label, "%s", text);
    for (enum picture_state state = 0; state < PICTURE_BREAK; state++)
        draw_state(w, block, at, state);
    svg_axis_breaks(w, block, plane);
    draw_window(w, block, at);
    if (picture_block_row_ticks(block, at[PICTURE_PLANES]))
        svg_axis_ticks(w, block, PICTURE_ROWS, plane);
    if (picture_block_column_ticks(block, at[PICTURE_LINES], at[PICTURE_PLANES]))
        svg_axis_ticks(w, block, PICTURE_COLUMNS, plane);
}

static void draw_captions(struct textw *w, const struct picture_block *block)
{
    const struct picture_axis *axis = block->side->axis;
    bool above = svg_axis_caption_is_above(block);
    int y = 0, middle = block->line[0] + block->row[axis[PICTURE_ROWS].count] / 2;
    for (enum picture_level level = PICTURE_LINES; level <= PICTURE_ROWS; level++) {
        if (axis[level].dim < 0 || (level == PICTURE_ROWS && !above))
            continue;
        draw_caption(w, block, level, block->left, y, false);
        y += SVG_AXIS_CAPTION;
    }
    if (axis[PICTURE_ROWS].dim >= 0 && !above)
        svg_axis_caption_beside(
            w, block, block->left - block->ticks - SVG_AXIS_AWAY - SVG_AXIS_CAPTION, middle);
    draw_caption(w, block, PICTURE_COLUMNS, block->left, block->height - SVG_AXIS_CAPTION, false);
}

static void svg_side(struct textw *w, const struct picture_block *block)
{
    const struct picture_axis *lines = &block->side->axis[PICTURE_LINES];
    const struct picture_axis *planes = &block->side->axis[PICTURE_PLANES];
    size_t at[PICTURE_LEVELS];
    for (at[PICTURE_LINES] = 0; at[PICTURE_LINES] < lines->count; at[PICTURE_LINES]++) {
        if (lines->slot[at[PICTURE_LINES]].kind == SLOT_BREAK) {
            svg_axis_lines_left_out(w, block, at[PICTURE_LINES]);
            continue;
        }
        for (at[PICTURE_PLANES] = 0; at[PICTURE_PLANES] < planes->count; at[PICTURE_PLANES]++) {
            if (planes->slot[at[PICTURE_PLANES]].kind == SLOT_BREAK)
                svg_axis_planes_left_out(w, block, at[PICTURE_LINES], at[PICTURE_PLANES]);
            else
                draw_plane(w, block, at);
        }
    }
    draw_captions(w, block);
}

static void draw_swatch(struct textw *w, int x, int y, int size, const struct picture *picture,
                        enum picture_state state)
{
    if (!has_colour(state)) {
        svgw_box(w, (struct svgw_box){x, y, size, size}, looks[state].attributes);
        return;
    }
    /* Columns: first and last sample of the dimension followed[0]. Rows: first and last sample of
       all other dimensions. */
    for (int corner = 0; corner < 4; corner++) {
        uint64_t sample[MLI_MAX_RANK];
        for (uint32_t d = 0; d < MLI_MAX_RANK; d++) {
            const struct picture_scale *scale = &picture->scale[d];
            bool last = d == picture->followed[0] ? corner % 2 : corner / 2;
            sample[d] = scale->sample[last && scale->count ? scale->count - 1 : 0];
        }
        char fill[FILL_MAX];
        svgw_box(w,
                 (struct svgw_box){x + corner % 2 * size / 2, y + corner / 2 * size / 2, size / 2,
                                   size / 2},
                 fill_of(fill, picture_colour(picture, sample)));
    }
}

/*
 * Puts items on lines of at most `width`. If `w` is null, nothing is drawn: only the height is
 * measured.
 */
struct flow {
    struct textw *w;
    int left, width;
    int x, y;
};

/* Begins a new line if an item of this width does not fit. */
static void make_room(struct flow *flow, int width)
{
    if (flow->x > flow->left && flow->x + width > flow->left + flow->width) {
        flow->x = flow->left;
        flow->y += LEGEND_LINE;
    }
}

static void put_legend_words(struct flow *flow, int x, const char *text)
{
    if (flow->w)
        svgw_text(flow->w, x, flow->y + LEGEND_FONT, &legend_font, "%s", text);
}

/* Writes an item of the legend: "moved: 96, 40 of them here". */
static void legend_words(char out[TEXT_MAX], const struct picture *picture,
                         enum picture_state state)
{
    const mli_explanation *move = &picture->explained->move;
    size_t shown = picture_count(&picture->dst, state);
    uint64_t all = state == PICTURE_WRITTEN ? move->samples_read
                   : state == PICTURE_ZERO  ? move->samples - move->samples_read
                                            : 0;
    int length = snprintf(out, TEXT_MAX, "%s%s", picture_state_words(picture, state),
                          state == PICTURE_WRITTEN ? ", the same colour on both sides" : "");
    if (all > 0)
        length += snprintf(out + length, TEXT_MAX - (size_t)length, ": %" PRIu64, all);
    if (all > shown)
        snprintf(out + length, TEXT_MAX - (size_t)length, ", %zu of them here", shown);
}

static void put_state(struct flow *flow, const struct picture *picture, enum picture_state state)
{
    char text[TEXT_MAX];
    if (!*picture_state_words(picture, state))
        return;
    legend_words(text, picture, state);
    int width = SWATCH + 6 + svgw_text_width(text, LEGEND_FONT);
    make_room(flow, width);
    if (flow->w)
        draw_swatch(flow->w, flow->x, flow->y - 1, SWATCH, picture, state);
    put_legend_words(flow, flow->x + SWATCH + 6, text);
    flow->x += width + LEGEND_SPACE;
}

static void put_states(struct flow *flow, const struct picture *picture)
{
    flow->x = flow->left;
    for (enum picture_state state = 0; state < PICTURE_BREAK; state++)
        put_state(flow, picture, state);
}

/* Returns the height of a legend of this width. */
static int svg_side_legend_height(const struct picture *picture, int width)
{
    struct flow flow = {.width = width};
    put_states(&flow, picture);
    return flow.y + LEGEND_LINE;
}

/* Draws the legend: for each state an example of a cell and what it means. */
static void svg_side_legend(struct textw *w, const struct picture *picture, int x, int y, int width)
{
    struct flow flow = {.w = w, .left = x, .width = width, .y = y};
    put_states(&flow, picture);
}

enum {
    NAME_FONT = 13,
    WORDS_FONT = 11,
    PLAN_FONT = 10,
    NAME_LINE = 21,
    WORDS_LINE = 14,
    PLAN_LINE = 13,
    STEP_MARGIN = 14,
    INDENT = 24, /* indent after the steps' numbers */
    ROOM = SVG_STEPS_WIDTH - SVG_STEPS_HEAD - 2 * STEP_MARGIN,
    PLAN_LINES = 2 + MLI_MAX_RANK
};

static const char ink[] = "#27303f", grey[] = "#98a1ae", small[] = "#5b6575";

/*
 * The position of the next line. If `w` is null, nothing is drawn, and only the height is
 * measured.
 */
struct pen {
    struct textw *w;
    int x, y;
};

static void put(const struct pen *pen, int x, int y, const struct svgw_font *font, const char *text)
{
    if (pen->w)
        svgw_text(pen->w, pen->x + x, y, font, "%s", text);
}

struct drawing {
    const struct explained *explained;
    struct picture picture;
    struct picture_block src, dst;
    bool sprawls; /* true: accept picture_block_sprawls() */
};

enum {
    MARGIN = 28,
    TOP = 78,     /* height of the title */
    HEADING = 46, /* height of a heading above a side */
    HEADING_WIDTH = 180,
    SPACE = 26, /* space on each side of the arrow */
    SIDE_WIDTH = 470,
    SIDE_HEIGHT = 620,
    CELL_MIN = 13,
    CELL_MAX = 30,
    ROOM_MAX = 32,
    ROOM_READABLE = 8, /* maximum slots below which the layout goes only if nothing else fits */
    ROOM_MIN = 4,
    EDGES = 6,
    WIDTH_MIN = 760,
    FILE_SHOWN_MAX = 48
};

static bool fits(const struct drawing *drawing)
{
    const struct picture_block *src = &drawing->src, *dst = &drawing->dst;
    if (!drawing->sprawls && (picture_block_sprawls(src) || picture_block_sprawls(dst)))
        return false;
    return src->width <= SIDE_WIDTH && dst->width <= SIDE_WIDTH && src->height <= SIDE_HEIGHT &&
           dst->height <= SIDE_HEIGHT;
}

/*
 * Returns the number of bytes of `text` that fit on one line: all, or up to the last ", " that
 * fits.
 */
static size_t cut(const char *text, int size, int room)
{
    size_t fits = 0;
    for (const char *comma = strstr(text, ", "); comma; comma = strstr(comma + 2, ", ")) {
        char head[PICTURE_WORDS_MAX];
        snprintf(head, sizeof(head), "%.*s", (int)(comma + 1 - text), text);
        if (fits > 0 && svgw_text_width(head, size) > room)
            return fits;
        fits = (size_t)(comma + 2 - text);
    }
    return svgw_text_width(text, size) > room && fits > 0 ? fits : strlen(text);
}

/* Puts a text, and breaks it into lines. */
static void put_words(struct pen *pen, const char *text)
{
    static const struct svgw_font font = {WORDS_FONT, SVGW_START, ink};
    while (*text) {
        char line[PICTURE_WORDS_MAX];
        size_t length = cut(text, WORDS_FONT, ROOM - INDENT);
        snprintf(line, sizeof(line), "%.*s", (int)length, text);
        put(pen, STEP_MARGIN + INDENT, pen->y + WORDS_FONT, &font, line);
        pen->y += WORDS_LINE;
        text += length;
    }
}

static void put_step(struct pen *pen, int number, const struct picture_step *step)
{
    struct svgw_font name = {NAME_FONT, SVGW_START, step->neutral ? grey : ink,
                             .bold = !step->neutral};
    static const struct svgw_font inside = {10, SVGW_MIDDLE, "#ffffff", .bold = true};
    static const struct svgw_font shape = {WORDS_FONT, SVGW_END, small};
    char digit[2] = {(char)('0' + number), '\0'};
    int base = pen->y + 15;
    if (pen->w)
        svgw_circle(pen->w, pen->x + STEP_MARGIN + 8, base - 4, 8,
                    step->neutral ? "#c3cad4" : "#3b4658");
    put(pen, STEP_MARGIN + 8, base, &inside, digit);
    put(pen, STEP_MARGIN + INDENT, base, &name, step->name);
    pen->y += NAME_LINE;
    if (step->neutral)
        return;
    int room = ROOM - INDENT - svgw_text_width(step->name, NAME_FONT) - 8;
    bool beside = svgw_text_width(step->shape, WORDS_FONT) <= room;
    if (beside)
        put(pen, STEP_MARGIN + ROOM, base, &shape, step->shape);
    put_words(pen, step->what);
    if (!beside)
        put_words(pen, step->shape);
    pen->y += 4;
}

/* Describes the plan in words. Returns the number of lines. */
static size_t plan_words(const mli_explanation *move, char lines[PLAN_LINES][PICTURE_WORDS_MAX])
{
    const struct mli_plan *plan = &move->plan;
    const struct mli_copy_box *box = &plan->box;
    const uint64_t copied = move->samples_read * move->elem;
    char bytes[PRINT_TEXT_MAX];
    size_t count = 0;
    if (box->run > 0)
        snprintf(lines[count++], PICTURE_WORDS_MAX, "copy %s in runs of %zu B",
                 print_bytes(bytes, copied), box->run);
    for (size_t i = 0; box->run > 0 && i < box->loops; i++)
        snprintf(lines[count++], PICTURE_WORDS_MAX, "%s%zu \xc3\x97 src +%zu, dst +%zu B",
                 i ? "of " : "", box->loop[i].count, box->loop[i].src_step, box->loop[i].dst_step);
    if (plan->slabs > 0)
        snprintf(lines[count++], PICTURE_WORDS_MAX, "zeros %s in %zu slab%s",
                 print_bytes(bytes, plan->bytes - copied), plan->slabs, print_s(plan->slabs));
    return count;
}

static void put_plan(struct pen *pen, const mli_explanation *move)
{
    static const struct svgw_font font = {PLAN_FONT, SVGW_START, small};
    char lines[PLAN_LINES][PICTURE_WORDS_MAX];
    size_t count = plan_words(move, lines);
    if (pen->w)
        svgw_line(pen->w, pen->x + STEP_MARGIN, pen->y + 4, pen->x + STEP_MARGIN + ROOM, pen->y + 4,
                  "stroke=\"#c9d0da\"");
    pen->y += 10;
    for (size_t i = 0; i < count; i++) {
        put(pen, STEP_MARGIN, pen->y + PLAN_FONT, &font, lines[i]);
        pen->y += PLAN_LINE;
    }
}

static void put_steps(struct pen *pen, const struct explained *explained)
{
    struct picture_step steps[STEP_COUNT];
    picture_steps(explained, steps);
    pen->y += STEP_MARGIN - 4;
    for (int i = 0; i < STEP_COUNT; i++)
        put_step(pen, i + 1, &steps[i]);
    put_plan(pen, &explained->move);
    pen->y += STEP_MARGIN - 4;
}

static int svg_steps_height(const struct explained *explained)
{
    struct pen pen = {.w = NULL};
    put_steps(&pen, explained);
    return pen.y;
}

static void svg_steps(struct textw *w, const struct explained *explained, int x, int y)
{
    struct pen pen = {w, x, y};
    int height = svg_steps_height(explained), body = SVG_STEPS_WIDTH - SVG_STEPS_HEAD;
    textw_printf(w, "<path d=\"M%d %dh%dl%d %dl%d %dh%dz\" fill=\"#eef1f5\"/>\n", x, y, body,
                 SVG_STEPS_HEAD, height / 2, -SVG_STEPS_HEAD, height - height / 2, -body);
    put_steps(&pen, explained);
}

/* Returns the height of the text above the cells, which names planes and lines. */
static int top_of(const struct picture_side *side)
{
    int captions = (side->axis[PICTURE_LINES].dim >= 0) + (side->axis[PICTURE_PLANES].dim >= 0);
    return captions ? captions * SVG_AXIS_CAPTION + 4 : 0;
}

static void lay_out_side(struct picture_block *block, const struct picture *picture,
                         const struct picture_side *side, int cell)
{
    struct picture_metrics metrics = {
        .cell_width = cell,
        .cell_height = cell,
        .break_width = picture_larger(cell * 2 / 3, 10),
        .break_height = picture_larger(cell * 2 / 3, 10),
        .planes_left_out = 26,
        .lines_left_out = 34,
        .across = 14,
        .down = 8,
        .label = 15,
        .left = SVG_AXIS_CAPTION + SVG_AXIS_AWAY,
        .top = top_of(side),
        .bottom = SVG_AXIS_FONT + 5 + SVG_AXIS_CAPTION,
        .text_width = svg_axis_text_width,
    };
    picture_block_init(block, picture, side, &metrics, SIDE_WIDTH);
    if (!svg_axis_caption_is_above(block))
        return;
    metrics.top += SVG_AXIS_CAPTION + (metrics.top ? 0 : 4);
    picture_block_init(block, picture, side, &metrics, SIDE_WIDTH);
}

static void lay_out(struct drawing *drawing, int cell)
{
    lay_out_side(&drawing->src, &drawing->picture, &drawing->picture.src, cell);
    lay_out_side(&drawing->dst, &drawing->picture, &drawing->picture.dst, cell);
}

static bool try_room(void *state, const struct picture_room *room)
{
    struct drawing *drawing = state;
    picture_init(&drawing->picture, drawing->explained, room);
    lay_out(drawing, CELL_MIN);
    return fits(drawing);
}

/* Finds the largest number of cells that fits, and then the largest size of a cell. */
static void find_layout(struct drawing *drawing)
{
    static const struct {
        struct picture_fit_range range;
        bool sprawls;
    } ways[] = {{{ROOM_MAX, ROOM_READABLE, EDGES}, false},
                {{ROOM_MAX, ROOM_READABLE, EDGES}, true},
                {{ROOM_READABLE - 1, ROOM_MIN, EDGES}, false},
                {{ROOM_READABLE - 1, ROOM_MIN, 0}, true}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        drawing->sprawls = ways[i].sprawls;
        if (picture_fit(try_room, drawing, &ways[i].range))
            break;
    }
    int cell = CELL_MAX;
    for (lay_out(drawing, cell); cell > CELL_MIN && !fits(drawing);)
        lay_out(drawing, --cell);
}

static void put_title(struct textw *w, const struct explained *e)
{
    static const struct svgw_font title = {20, SVGW_START, "#141c2e", .bold = true};
    static const struct svgw_font line = {13, SVGW_START, "#5b6575"};
    char from[PICTURE_WORDS_MAX], to[PICTURE_WORDS_MAX], bytes[PRINT_TEXT_MAX];
    char file[FILE_SHOWN_MAX];
    svgw_text(w, MARGIN, 40, &title, "%s%s%s",
              e->name ? e->name : print_path_end(file, sizeof(file), e->file),
              e->name || !*e->pointer ? "" : "#", e->name ? "" : e->pointer);
    svgw_text(w, MARGIN, 61, &line, "%s %s \xe2\x86\x92 %s, %s, %s written", e->op,
              picture_side_shape(from, &e->src), picture_side_shape(to, &e->dst), e->type,
              print_bytes(bytes, e->move.samples * e->move.elem));
}

static void put_heading(struct textw *w, int x, int y, const char *what,
                        const struct explained_side *side, bool update)
{
    static const struct svgw_font head = {14, SVGW_START, "#141c2e", .bold = true};
    static const struct svgw_font line = {11, SVGW_START, "#5b6575"};
    char file[FILE_SHOWN_MAX], shape[PICTURE_WORDS_MAX], bytes[PRINT_TEXT_MAX];
    svgw_text(w, x, y + 14, &head, "%s", what);
    svgw_text(w, x + svgw_text_width(what, 14) + 12, y + 14, &line, "%s%s", explained_kind(side),
              print_path_end(file, sizeof(file), explained_place(side)));
    svgw_text(w, x, y + 30, &line, "%s, %s%s", picture_side_shape(shape, side),
              print_bytes(bytes, side->bytes), update ? ", updated" : "");
}

static void put_side(struct textw *w, const struct picture_block *block, int x, int y)
{
    textw_printf(w, "<g class=\"%s\" transform=\"translate(%d %d)\">\n",
                 block->side->is_dst ? "dst" : "src", x, y);
    svg_side(w, block);
    svgw_group_end(w);
}

/* Returns the width of a side with captions and heading. */
static int whole_width(const struct picture_block *block)
{
    return picture_larger(picture_larger(block->width, HEADING_WIDTH),
                          block->left + svg_axis_widest_caption(block));
}

static void draw(struct textw *w, const struct drawing *drawing)
{
    const struct explained *e = drawing->explained;
    const struct picture_block *src = &drawing->src, *dst = &drawing->dst;
    int src_width = whole_width(src), dst_width = whole_width(dst);
    int arrow = MARGIN + src_width + SPACE;
    int dst_x = arrow + SVG_STEPS_WIDTH + SPACE;
    int width = picture_larger(dst_x + dst_width + MARGIN, WIDTH_MIN);
    int steps = svg_steps_height(e);
    int middle = picture_larger(picture_larger(src->height, dst->height) + HEADING, steps);
    int low = TOP + middle + SPACE;
    int height = low + svg_side_legend_height(&drawing->picture, width - 2 * MARGIN) + MARGIN - 8;

    svgw_begin(w, width, height);
    svg_side_define(w);
    svgw_box(w, (struct svgw_box){0, 0, width, height}, "rx=\"8\" fill=\"#ffffff\"");
    put_title(w, e);
    int src_y = TOP + (middle - src->height - HEADING) / 2;
    int dst_y = TOP + (middle - dst->height - HEADING) / 2;
    put_heading(w, MARGIN, src_y, "source", &e->src, false);
    put_side(w, src, MARGIN, src_y + HEADING);
    svg_steps(w, e, arrow, TOP + (middle - steps) / 2);
    put_heading(w, dst_x, dst_y, "destination", &e->dst, e->update);
    put_side(w, dst, dst_x, dst_y + HEADING);
    svg_side_legend(w, &drawing->picture, MARGIN, low, width - 2 * MARGIN);
    svgw_end(w);
}

void svg_picture(struct textw *w, const struct explained *explained)
{
    struct drawing drawing = {.explained = explained};
    find_layout(&drawing);
    draw(w, &drawing);
}

int svg_picture_save(const struct explained *explained, const char *path, struct fault *fault)
{
    struct textw w;

    textw_init(&w);
    svg_picture(&w, explained);
    return output_save_text(&w, path, "<", "a drawing", fault);
}

bool svg_target_is_stdout(const struct svg_target *target)
{
    return target->path && strcmp(target->path, "-") == 0;
}

/* Returns the length of a path without its file name extension; ".name" has no extension. */
static size_t stem_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    return dot && dot > name ? (size_t)(dot - path) : strlen(path);
}

/* Returns the text, or null if an allocation failed. */
static char *taken(struct textw *w)
{
    if (!w->failed)
        return w->data;
    textw_finish(w);
    return NULL;
}

char *svg_target_path(const struct svg_target *target, size_t file, size_t job, const char *name)
{
    size_t stem = stem_length(target->path);
    struct textw w;
    textw_init(&w);
    for (size_t i = 0; i < stem; i++)
        textw_printf(&w, "%c", target->path[i]);
    if (target->jobs > 1 && target->files > 1)
        textw_printf(&w, ".%zu", file);
    if (target->jobs > 1 && name)
        textw_printf(&w, "-%s", name);
    else if (target->jobs > 1)
        textw_printf(&w, ".%zu", job);
    textw_printf(&w, "%s", target->path + stem);
    return taken(&w);
}
