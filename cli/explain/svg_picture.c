/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_picture.h"

#include <stdlib.h>
#include <string.h>

#include "cli/explain/picture.h"
#include "cli/explain/save_text.h"
#include "cli/explain/svg_parts.h"
#include "cli/term/print.h"
#include "proto/json/textw.h"

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
    ROOM_READABLE = 8, /* slots: the layout tries smaller limits only if no larger one fits */
    ROOM_MIN = 4,
    EDGES = 6,
    WIDTH_MIN = 760
};

struct drawing {
    const struct explained *explained;
    struct picture picture;
    struct picture_block src, dst;
    bool sprawls; /* true: accept picture_block_sprawls() */
};

/* Returns the height of the captions above the planes: those of planes and lines. */
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

static bool fits(const struct drawing *drawing)
{
    const struct picture_block *src = &drawing->src, *dst = &drawing->dst;
    if (!drawing->sprawls && (picture_block_sprawls(src) || picture_block_sprawls(dst)))
        return false;
    return src->width <= SIDE_WIDTH && dst->width <= SIDE_WIDTH && src->height <= SIDE_HEIGHT &&
           dst->height <= SIDE_HEIGHT;
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
    char file[PICTURE_FILE_MAX];
    svgw_text(w, MARGIN, 40, &title, "%s%s%s", e->name ? e->name : picture_file(file, e->file),
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
    char file[PICTURE_FILE_MAX], shape[PICTURE_WORDS_MAX], bytes[PRINT_TEXT_MAX];
    svgw_text(w, x, y + 14, &head, "%s", what);
    svgw_text(w, x + svgw_text_width(what, 14) + 12, y + 14, &line, "%s%s", explained_kind(side),
              picture_file(file, explained_place(side)));
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
    return save_text(&w, path, "<", "a drawing", fault);
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
