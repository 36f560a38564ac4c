/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/picture_text.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/explain/canvas.h"
#include "cli/explain/picture_block.h"
#include "cli/explain/picture_fit.h"
#include "cli/explain/picture_words.h"
#include "cli/explain/text_side.h"
#include "cli/term/terminal.h"

enum {
    COLUMNS_DEFAULT = 80,
    COLUMNS_MIN = 20,
    COLUMNS_MAX = 240,
    ARROW = 7,         /* between the sides, where they stand side by side */
    ROOM_MAX = 24,     /* slots of an axis */
    ROOM_READABLE = 8, /* rows and columns: fewer are the last resort */
    ROOM_MIN = 4,
    EDGES = 6,
    ROWS_MAX = 14,
    LINES_MAX = 34,
    LINES_ABOVE_MAX = 50,
};

struct picture_text_style picture_text_style(void)
{
    struct picture_text_style style = {.columns = COLUMNS_DEFAULT, .palette = colour_has_palette()};
    int rows = 0;
    terminal_size(STDOUT_FILENO, &rows, &style.columns);
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale) {
        style.utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
        freelocale(locale);
    }
    return style;
}

/* Both sides, one beside or above the other. */
struct sheet {
    const struct explained *explained;
    struct picture picture;
    struct picture_block src, dst;
    int width; /* of the terminal */
    bool beside;
    bool sprawls; /* may do so (picture_block.h) */
};

static int larger(int a, int b)
{
    return a > b ? a : b;
}

static bool fits(const struct sheet *sheet)
{
    const struct picture_block *src = &sheet->src, *dst = &sheet->dst;
    if (!sheet->sprawls && (picture_block_sprawls(src) || picture_block_sprawls(dst)))
        return false;
    if (sheet->beside)
        return src->width + ARROW + dst->width <= sheet->width &&
               larger(src->height, dst->height) <= LINES_MAX;
    return larger(src->width, dst->width) <= sheet->width &&
           src->height + dst->height <= LINES_ABOVE_MAX;
}

static bool try_room(void *state, const struct picture_room *most)
{
    struct sheet *sheet = state;
    int width = sheet->beside ? (sheet->width - ARROW) / 2 : sheet->width;
    struct picture_room room = *most;
    if (room.level[PICTURE_ROWS] > ROWS_MAX)
        room.level[PICTURE_ROWS] = ROWS_MAX;
    picture_init(&sheet->picture, sheet->explained, &room);
    text_side_lay_out(&sheet->src, &sheet->picture, &sheet->picture.src, width);
    text_side_lay_out(&sheet->dst, &sheet->picture, &sheet->picture.dst, width);
    return fits(sheet);
}

static void find_layout(struct sheet *sheet)
{
    static const struct {
        struct picture_fit_range range;
        bool beside, sprawls;
    } ways[] = {{{ROOM_MAX, ROOM_READABLE, EDGES}, true, false},
                {{ROOM_MAX, ROOM_READABLE, EDGES}, false, false},
                {{ROOM_READABLE - 1, ROOM_MIN, EDGES}, false, false},
                {{ROOM_READABLE - 1, ROOM_MIN, 0}, false, true}};
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        sheet->beside = ways[i].beside;
        sheet->sprawls = ways[i].sprawls;
        if (picture_fit(try_room, sheet, &ways[i].range))
            return;
    }
}

static void draw(struct textw *w, const struct sheet *sheet, bool utf8, bool palette)
{
    const struct picture_block *src = &sheet->src, *dst = &sheet->dst;
    int tall = larger(src->height, dst->height);
    struct canvas canvas;
    canvas_init(&canvas, sheet->width, sheet->beside ? tall : src->height + dst->height + 1);
    canvas.palette = palette;
    text_side_draw(&canvas, src, 0, 0, utf8);
    if (sheet->beside) {
        int middle = src->line[0] + (src->row[src->side->axis[PICTURE_ROWS].count] - 1) / 2;
        canvas_put(&canvas, src->width + 2, middle, COLOUR_STRONG, utf8 ? "──▶" : "==>");
        text_side_draw(&canvas, dst, src->width + ARROW, 0, utf8);
    } else {
        canvas_put(&canvas, src->left, src->height, COLOUR_STRONG, utf8 ? "▼" : "v");
        text_side_draw(&canvas, dst, 0, src->height + 1, utf8);
    }
    canvas_write(w, &canvas);
    canvas_finish(&canvas);
}

void picture_text(struct textw *w, const struct explained *explained,
                  const struct picture_text_style *style)
{
    struct sheet sheet = {.explained = explained};
    sheet.width = style->columns < COLUMNS_MIN   ? COLUMNS_MIN
                  : style->columns > COLUMNS_MAX ? COLUMNS_MAX
                                                 : style->columns;
    find_layout(&sheet);
    draw(w, &sheet, style->utf8, style->palette);
    text_side_legend(w, &sheet.picture, sheet.width, style->utf8);
}
