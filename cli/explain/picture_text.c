/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/explain/explain.h"
#include "cli/explain/picture.h"
#include "cli/term/terminal.h"
#include "proto/json/utf8.h"

enum {
    CANVAS_GLYPH_MAX = 5,
    CANVAS_PLAIN = COLOUR_ROLES, /* text without a colour */
    CANVAS_PALETTE = 16          /* values from here to 255 are colours of xterm's palette */
};

struct canvas_cell {
    char glyph[CANVAS_GLYPH_MAX]; /* one character in UTF-8; empty: a space */
    unsigned char role;           /* enum colour_role, CANVAS_PLAIN, or a palette colour */
};

struct canvas {
    int width, height;
    struct canvas_cell *cell; /* cells, line by line */
    bool palette;             /* the output has 256 colours: roles may be palette colours */
    bool failed;
};

static void canvas_init(struct canvas *canvas, int width, int height)
{
    *canvas = (struct canvas){.width = width, .height = height};
    canvas->cell = calloc((size_t)width * (size_t)height, sizeof(canvas->cell[0]));
    canvas->failed = !canvas->cell;
}

static void canvas_finish(struct canvas *canvas)
{
    free(canvas->cell);
    *canvas = (struct canvas){0};
}

static struct canvas_cell *cell_at(const struct canvas *canvas, int x, int y)
{
    return &canvas->cell[(size_t)y * (size_t)canvas->width + (size_t)x];
}

/* Puts a text on the line y, one character per cell, from x on. */
static void canvas_put(struct canvas *canvas, int x, int y, unsigned role, const char *text)
{
    size_t left = strlen(text);
    if (canvas->failed || y < 0 || y >= canvas->height)
        return;
    for (; left > 0 && x < canvas->width; x++) {
        size_t length = utf8_char(text, left);
        if (x >= 0 && length > 0) {
            struct canvas_cell *cell = cell_at(canvas, x, y);
            memcpy(cell->glyph, text, length);
            cell->glyph[length] = '\0';
            cell->role = (unsigned char)role;
        }
        length = length ? length : 1;
        text += length;
        left -= length;
    }
}

static bool is_blank(const struct canvas_cell *cell)
{
    return !cell->glyph[0] || strcmp(cell->glyph, " ") == 0;
}

static void begin_role(struct textw *w, unsigned role)
{
    if (role >= CANVAS_PALETTE)
        textw_printf(w, "\033[38;5;%um", role);
    else if (role != CANVAS_PLAIN)
        textw_printf(w, "%s", colour_begin(stdout, (enum colour_role)role));
}

static void write_line(struct textw *w, const struct canvas *canvas, int y)
{
    unsigned role = CANVAS_PLAIN;
    int end = canvas->width;
    while (end > 0 && is_blank(cell_at(canvas, end - 1, y)))
        end--;
    for (int x = 0; x < end; x++) {
        const struct canvas_cell *cell = cell_at(canvas, x, y);
        unsigned next = is_blank(cell) ? CANVAS_PLAIN : cell->role;
        if (next != role && role != CANVAS_PLAIN)
            textw_printf(w, "%s", colour_end(stdout));
        if (next != role)
            begin_role(w, next);
        role = next;
        textw_printf(w, "%s", is_blank(cell) ? " " : cell->glyph);
    }
    textw_printf(w, "%s\n", role != CANVAS_PLAIN ? colour_end(stdout) : "");
}

/* Writes the lines without trailing spaces, with colours if stdout has any (terminal.h). */
static void canvas_write(struct textw *w, const struct canvas *canvas)
{
    w->failed = w->failed || canvas->failed;
    for (int y = 0; !w->failed && y < canvas->height; y++)
        write_line(w, canvas, y);
}

static int canvas_text_width(const char *text)
{
    int width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xc0) != 0x80; /* the first byte of a character */
    return width;
}

/* A cell is two characters wide: a space or the window's edge, then the cell's character. */
enum { CELL = 2, LEGEND_SPACE = 3, LEGEND_MAX = 96 };

/* Draws a block on a canvas, with its upper left corner at x, y. */
struct pen {
    struct canvas *canvas;
    const struct picture_block *block;
    int x, y;
    bool utf8;
};

/* Returns the number of lines above the planes: the heading, and one line per axis. */
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

/* Writes the caption of an axis: "rows     d1 1+4+1". */
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

static void lay_out_side(struct picture_block *block, const struct picture *picture,
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
        letter[0] = picture_letter(pen->block->picture, sample);
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

/* Draws bars left and right of the window (src) or of the written region (dst). */
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
        /* The span includes a space after the text. */
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

/* Draws "..." and the number of planes or lines that are left out. */
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

static void draw_side(struct canvas *canvas, const struct picture_block *block, int x, int y,
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

/*
 * Writes an item of the legend: "moved (one letter per element)", or "moved (a to f: coordinate
 * 0 to 5 of d1)".
 */
static void moved_words(char out[LEGEND_MAX], const struct picture *picture, const char *moved)
{
    if (picture_has_letters(picture) || picture->followed_count == 0) {
        snprintf(out, LEGEND_MAX, "%s (one letter per element)", moved);
        return;
    }
    uint32_t d = picture->followed[0];
    const struct picture_scale *scale = &picture->scale[d];
    uint64_t last[MLI_MAX_RANK] = {0};
    last[d] = scale->sample[scale->count - 1];
    snprintf(out, LEGEND_MAX, "%s (a to %c: coordinate %" PRIu64 " to %" PRIu64 " of d%" PRIu32 ")",
             moved, picture_letter(picture, last), picture_coordinate(picture, d, scale->sample[0]),
             picture_coordinate(picture, d, last[d]), d);
}

/* Puts the items of the legend on lines of at most `width`. With a null canvas, only counts the
 * lines. Returns the number of lines. */
static int put_legend(struct canvas *canvas, const struct picture *picture, int width, bool utf8)
{
    int x = 0, y = 0;
    for (enum picture_state state = 0; state < PICTURE_STATES; state++) {
        char moved[LEGEND_MAX];
        const char *text = picture_state_words(picture, state);
        if (!*text)
            continue;
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

static void draw_legend(struct textw *w, const struct picture *picture, int width, bool utf8)
{
    struct canvas canvas;
    canvas_init(&canvas, width, put_legend(NULL, picture, width, utf8));
    put_legend(&canvas, picture, width, utf8);
    canvas_write(w, &canvas);
    canvas_finish(&canvas);
}

enum {
    COLUMNS_DEFAULT = 80,
    COLUMNS_MIN = 20,
    COLUMNS_MAX = 240,
    ARROW = 7,         /* columns between source and destination if they are side by side */
    ROOM_MAX = 24,     /* limit on the slots of rows and columns */
    ROOM_READABLE = 8, /* maximum slots below which the layout goes only if nothing else fits */
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

/* A layout of both sides: beside each other, or the source above the destination. */
struct sheet {
    const struct explained *explained;
    struct picture picture;
    struct picture_block src, dst;
    int width; /* columns of the terminal */
    bool beside;
    bool sprawls; /* true: accept picture_block_sprawls() */
};

static bool fits(const struct sheet *sheet)
{
    const struct picture_block *src = &sheet->src, *dst = &sheet->dst;
    if (!sheet->sprawls && (picture_block_sprawls(src) || picture_block_sprawls(dst)))
        return false;
    if (sheet->beside)
        return src->width + ARROW + dst->width <= sheet->width &&
               picture_larger(src->height, dst->height) <= LINES_MAX;
    return picture_larger(src->width, dst->width) <= sheet->width &&
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
    lay_out_side(&sheet->src, &sheet->picture, &sheet->picture.src, width);
    lay_out_side(&sheet->dst, &sheet->picture, &sheet->picture.dst, width);
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
    int tall = picture_larger(src->height, dst->height);
    struct canvas canvas;
    canvas_init(&canvas, sheet->width, sheet->beside ? tall : src->height + dst->height + 1);
    canvas.palette = palette;
    draw_side(&canvas, src, 0, 0, utf8);
    if (sheet->beside) {
        int middle = src->line[0] + (src->row[src->side->axis[PICTURE_ROWS].count] - 1) / 2;
        canvas_put(&canvas, src->width + 2, middle, COLOUR_STRONG, utf8 ? "──▶" : "==>");
        draw_side(&canvas, dst, src->width + ARROW, 0, utf8);
    } else {
        canvas_put(&canvas, src->left, src->height, COLOUR_STRONG, utf8 ? "▼" : "v");
        draw_side(&canvas, dst, 0, src->height + 1, utf8);
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
    draw_legend(w, &sheet.picture, sheet.width, style->utf8);
}
