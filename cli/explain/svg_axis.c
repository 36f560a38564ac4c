/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain/picture.h"

enum {
    FONT = 12,
    CHIP = 20,
    SPACE = 5,
    STRIP_MAX = 8,
    STRIP_CELL = 6,
    MARK = 10,
    CHIP_HEIGHT = 15
};

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
        struct picture_colour c = picture_colour(picture, sample);
        char fill[32];
        snprintf(fill, sizeof(fill), "fill=\"#%02x%02x%02x\"", c.red, c.green, c.blue);
        svgw_box(w, (struct svgw_box){x + (int)i * STRIP_CELL, y, STRIP_CELL, STRIP_CELL + 2},
                 fill);
    }
    return (int)cells * STRIP_CELL;
}

/*
 * Draws the caption of an axis: "1+224+1", with an arrow unless the caption is already along its
 * axis.
 */
static void words_of(char out[PICTURE_LINE_MAX], const struct picture_block *block,
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

static int width_of(const struct picture_block *block, enum picture_level level, bool beside)
{
    const struct picture_axis *axis = &block->side->axis[level];
    char words[PICTURE_LINE_MAX];
    words_of(words, block, level, beside);
    int width = CHIP + SPACE + svgw_text_width(words, FONT);
    if (picture_is_quantised(block->picture, axis))
        width += MARK + SPACE;
    size_t cells = strip_cells(block->picture, (uint32_t)axis->source_dim);
    return width + (cells ? SPACE + (int)cells * STRIP_CELL : 0);
}

static void draw(struct textw *w, const struct picture_block *block, enum picture_level level,
                 int x, int y, bool beside)
{
    static const struct svgw_font chip = {11, SVGW_MIDDLE, "#ffffff", .bold = true};
    static const struct svgw_font font = {FONT, SVGW_START, "#27303f"};
    const struct picture_axis *axis = &block->side->axis[level];
    char words[PICTURE_LINE_MAX];
    int base = y + SVG_AXIS_CAPTION / 2 + 4;
    words_of(words, block, level, beside);
    svgw_box(w, (struct svgw_box){x, y + (SVG_AXIS_CAPTION - CHIP_HEIGHT) / 2, CHIP, CHIP_HEIGHT},
             "rx=\"4\" fill=\"#3b4658\"");
    svgw_text(w, x + CHIP / 2, base, &chip, "d%d", axis->source_dim);
    x += CHIP + SPACE;
    int strip = draw_strip(w, block->picture, (uint32_t)axis->source_dim, x,
                           y + (SVG_AXIS_CAPTION - STRIP_CELL) / 2 - 1);
    x += strip + (strip ? SPACE : 0);
    if (picture_is_quantised(block->picture, axis)) {
        textw_printf(w, "<path d=\"M%d %dl5 -5 5 5 -5 5z\" class=\"axis\" fill=\"#b3125f\"/>\n", x,
                     y + SVG_AXIS_CAPTION / 2);
        x += MARK + SPACE;
    }
    svgw_text(w, x, base, &font, "%s", words);
}

int svg_axis_widest_caption(const struct picture_block *block)
{
    int widest = 0;
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        bool is_there = block->side->axis[level].dim >= 0 &&
                        (level != PICTURE_ROWS || svg_axis_caption_is_above(block));
        if (is_there)
            widest = picture_larger(widest, width_of(block, level, false));
    }
    return widest;
}

bool svg_axis_caption_is_above(const struct picture_block *block)
{
    const struct picture_axis *axis = &block->side->axis[PICTURE_ROWS];
    return axis->dim >= 0 &&
           width_of(block, PICTURE_ROWS, true) > block->row[axis->count] + SVG_AXIS_CAPTION;
}

void svg_axis_caption(struct textw *w, const struct picture_block *block, enum picture_level level,
                      int x, int y)
{
    draw(w, block, level, x, y, false);
}

void svg_axis_caption_beside(struct textw *w, const struct picture_block *block, int x, int y)
{
    textw_printf(w, "<g transform=\"translate(%d %d) rotate(-90)\">\n", x,
                 y + width_of(block, PICTURE_ROWS, true) / 2);
    draw(w, block, PICTURE_ROWS, 0, 0, true);
    svgw_group_end(w);
}

enum { ZIG = 4, DOT = 7, HALF_LINE = 5 };

static const char faint[] = "#6b7585";

int svg_axis_text_width(const char *text)
{
    return svgw_text_width(text, SVG_AXIS_FONT);
}

static int middle_of(const int *at, size_t i)
{
    return (at[i] + at[i + 1]) / 2;
}

/* The ticks of an axis; text[i] is drawn if chosen[i] is set. */
struct ticks {
    char text[PICTURE_SLOTS_MAX][PICTURE_TICK_MAX];
    bool chosen[PICTURE_SLOTS_MAX];
};

static void find_ticks(struct ticks *ticks, const struct picture_block *block,
                       enum picture_level level)
{
    const struct picture_axis *axis = &block->side->axis[level];
    const int *at = level == PICTURE_ROWS ? block->row : block->column;
    struct picture_span spans[PICTURE_SLOTS_MAX];
    for (size_t i = 0; i < axis->count; i++) {
        char *text = ticks->text[i];
        picture_tick_words(text, block->picture, block->side, axis, i);
        int half = level == PICTURE_ROWS ? HALF_LINE : svg_axis_text_width(text) / 2 + 2;
        int middle = middle_of(at, i);
        spans[i] = (struct picture_span){*text ? middle - half : 0, *text ? middle + half : 0};
    }
    picture_block_choose(axis, spans, ticks->chosen);
}

void svg_axis_row_ticks(struct textw *w, const struct picture_block *block,
                        struct picture_area plane)
{
    static const struct svgw_font font = {SVG_AXIS_FONT, SVGW_END, faint};
    struct ticks ticks;
    find_ticks(&ticks, block, PICTURE_ROWS);
    for (size_t i = 0; i < block->side->axis[PICTURE_ROWS].count; i++) {
        if (ticks.chosen[i])
            svgw_text(w, plane.x - SVG_AXIS_AWAY, plane.y + middle_of(block->row, i) + 3, &font,
                      "%s", ticks.text[i]);
    }
}

void svg_axis_column_ticks(struct textw *w, const struct picture_block *block,
                           struct picture_area plane)
{
    static const struct svgw_font font = {SVG_AXIS_FONT, SVGW_MIDDLE, faint};
    struct ticks ticks;
    find_ticks(&ticks, block, PICTURE_COLUMNS);
    for (size_t i = 0; i < block->side->axis[PICTURE_COLUMNS].count; i++) {
        if (ticks.chosen[i])
            svgw_text(w, plane.x + middle_of(block->column, i),
                      plane.y + plane.height + SVG_AXIS_FONT + 2, &font, "%s", ticks.text[i]);
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

void svg_axis_breaks(struct textw *w, const struct picture_block *block, struct picture_area plane)
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

void svg_axis_planes_left_out(struct textw *w, const struct picture_block *block, size_t line,
                              size_t plane)
{
    static const struct svgw_font font = {SVG_AXIS_FONT, SVGW_MIDDLE, faint};
    const struct picture_slot *slot = &block->side->axis[PICTURE_PLANES].slot[plane];
    struct picture_area area = picture_block_plane(block, line, plane);
    int x = area.x + block->plane_width[plane] / 2, y = area.y + area.height / 2;
    dots(w, x, y - 6, DOT, 0);
    svgw_text(w, x, y + 9, &font, "%" PRIu64, slot->left_out);
    svgw_text(w, x, y + 19, &font, "more");
}

void svg_axis_lines_left_out(struct textw *w, const struct picture_block *block, size_t line)
{
    static const struct svgw_font font = {SVG_AXIS_FONT, SVGW_START, faint};
    const struct picture_slot *slot = &block->side->axis[PICTURE_LINES].slot[line];
    int y = block->line[line] + block->metrics.lines_left_out / 2, x = block->left + 14;
    dots(w, x, y - 2, 0, DOT);
    svgw_text(w, x + 10, y + 1, &font, "%" PRIu64 " more", slot->left_out);
}
