/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_ticks.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/explain/picture_words.h"

enum { ZIG = 4, DOT = 7, HALF_LINE = 5 };

static const char faint[] = "#6b7585";

int svg_ticks_text_width(const char *text)
{
    return svgw_text_width(text, SVG_TICKS_FONT);
}

static int middle_of(const int *at, size_t i)
{
    return (at[i] + at[i + 1]) / 2;
}

/* The texts of an axis that are shown: chosen[i] says whether texts[i] is. */
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
        int half = level == PICTURE_ROWS ? HALF_LINE : svg_ticks_text_width(text) / 2 + 2;
        int middle = middle_of(at, i);
        spans[i] = (struct picture_span){*text ? middle - half : 0, *text ? middle + half : 0};
    }
    picture_block_choose(axis, spans, ticks->chosen);
}

void svg_ticks_rows(struct textw *w, const struct picture_block *block, struct picture_area plane)
{
    static const struct svgw_font font = {SVG_TICKS_FONT, SVGW_END, faint};
    struct ticks ticks;
    find_ticks(&ticks, block, PICTURE_ROWS);
    for (size_t i = 0; i < block->side->axis[PICTURE_ROWS].count; i++) {
        if (ticks.chosen[i])
            svgw_text(w, plane.x - SVG_TICKS_AWAY, plane.y + middle_of(block->row, i) + 3, &font,
                      "%s", ticks.text[i]);
    }
}

void svg_ticks_columns(struct textw *w, const struct picture_block *block,
                       struct picture_area plane)
{
    static const struct svgw_font font = {SVG_TICKS_FONT, SVGW_MIDDLE, faint};
    struct ticks ticks;
    find_ticks(&ticks, block, PICTURE_COLUMNS);
    for (size_t i = 0; i < block->side->axis[PICTURE_COLUMNS].count; i++) {
        if (ticks.chosen[i])
            svgw_text(w, plane.x + middle_of(block->column, i),
                      plane.y + plane.height + SVG_TICKS_FONT + 2, &font, "%s", ticks.text[i]);
    }
}

/* A zigzag from x, y on, `length` long: along one axis by ZIG at a time, to and fro on the other.
 */
static void zigzag(struct textw *w, int x, int y, int length, bool down)
{
    textw_printf(w, "<path class=\"break\" fill=\"none\" stroke=\"#9aa3b0\" d=\"M%d %d", x, y);
    for (int done = 0; done + 2 * ZIG <= length; done += 2 * ZIG)
        textw_printf(w, "l%d %d %d %d", ZIG, ZIG, down ? -ZIG : ZIG, down ? ZIG : -ZIG);
    textw_printf(w, "\"/>\n");
}

void svg_ticks_breaks(struct textw *w, const struct picture_block *block, struct picture_area plane)
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
        textw_printf(w, "<circle cx=\"%d\" cy=\"%d\" r=\"2\" fill=\"%s\"/>\n", x + i * dx,
                     y + i * dy, faint);
}

void svg_ticks_planes_left_out(struct textw *w, const struct picture_block *block, size_t line,
                               size_t plane)
{
    static const struct svgw_font font = {SVG_TICKS_FONT, SVGW_MIDDLE, faint};
    const struct picture_slot *slot = &block->side->axis[PICTURE_PLANES].slot[plane];
    struct picture_area area = picture_block_plane(block, line, plane);
    int x = area.x + block->plane_width[plane] / 2, y = area.y + area.height / 2;
    dots(w, x, y - 6, DOT, 0);
    svgw_text(w, x, y + 9, &font, "%" PRIu64, slot->left_out);
    svgw_text(w, x, y + 19, &font, "more");
}

void svg_ticks_lines_left_out(struct textw *w, const struct picture_block *block, size_t line)
{
    static const struct svgw_font font = {SVG_TICKS_FONT, SVGW_START, faint};
    const struct picture_slot *slot = &block->side->axis[PICTURE_LINES].slot[line];
    int y = block->line[line] + block->metrics.lines_left_out / 2, x = block->left + 14;
    dots(w, x, y - 2, 0, DOT);
    svgw_text(w, x + 10, y + 1, &font, "%" PRIu64 " more", slot->left_out);
}
