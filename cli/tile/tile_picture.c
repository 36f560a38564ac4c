/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/tile/tile_result.h"

#include <inttypes.h>
#include <string.h>

#include "cli/explain/svgw.h"
#include "cli/term/phrase.h"
#include "cli/term/print.h"

enum {
    MARGIN = 24,
    TOP = 92,         /* height of the title and of the lines above the plane */
    PLANE = 560,      /* pixels of the longer side of the plane */
    SHORT_MIN = 150,  /* minimum pixels of the shorter side: its name must fit */
    TILE_MIN = 16,    /* wanted pixels of a tile's side, as far as PLANE allows */
    TITLE = 15,       /* size of the title */
    STRIP = 44,       /* width of a strip */
    STRIP_GAP = 70,   /* distance of two strips, with space for a name */
    LABEL = 11,       /* font size of numbers */
    LABEL_ROOM = 14,  /* a tile with a smaller side has no number */
    TILES_DRAWN = 400 /* if an axis has more tiles, every n-th is drawn */
};

/* One side of the picture shows an axis of the layer. A side that is not used has one coordinate.
 */
struct side {
    bool used;
    uint32_t axis;
    const struct tile_span *span; /* span of the first input; of a move, span of the result */
    const struct tile_cut *cut;
    uint64_t extent; /* coordinates with padding */
    double scale;    /* pixels of a coordinate */
    int origin;      /* pixel of padded coordinate 0 */
};

struct picture_of_tiles {
    const struct tile_result *result;
    struct textw *w;
    struct side rows, columns;
    uint32_t others; /* bit i is set: axis i is drawn as a strip below the picture */
};

/* Returns the number of coordinates that all tiles cover, with padding on both sides. */
static uint64_t padded_extent(const struct tile_span *span, const struct tile_cut *cut)
{
    const uint64_t read = tile_span_extent(span, cut->extent), whole = span->pad + span->extent;

    return read > whole ? read : whole;
}

static void set_side(const struct tile_result *result, struct side *side, bool used, uint32_t axis)
{
    static const struct tile_span one = {.used = true, .step = 1, .reach = 1, .extent = 1};
    static const struct tile_cut single = {.extent = 1, .count = 1, .size = 1, .even = true};

    const struct tile_layer *layer = result->plan.layer;
    const uint32_t operand = layer->kind == TILE_MOVE ? layer->operands - 1 : 0;

    *side = (struct side){.used = used,
                          .axis = axis,
                          .span = used ? &layer->operand[operand].span[axis] : &one,
                          .cut = used ? &result->plan.cut[axis] : &single};
    side->extent = padded_extent(side->span, side->cut);
}

/* Chooses which axes are the rows and columns of the picture: those along which the window moves,
 * or if there is no window, the last two dimensions before the channels. */
static void choose_sides(struct picture_of_tiles *p)
{
    const struct tile_layer *layer = p->result->plan.layer;
    uint32_t rows = 0;

    if (layer->kind != TILE_WINDOW && layer->axes == 4)
        rows = 1;
    set_side(p->result, &p->rows, layer->axes > 1, rows);
    set_side(p->result, &p->columns, true, layer->axes > 1 ? rows + 1 : 0);
    for (uint32_t a = 0; a < layer->axes; a++) {
        const bool plane = (p->rows.used && a == p->rows.axis) || a == p->columns.axis;

        if (!plane)
            p->others |= UINT32_C(1) << a;
    }
}

static void choose_scale(struct picture_of_tiles *p)
{
    const uint64_t most = p->rows.extent > p->columns.extent ? p->rows.extent : p->columns.extent;
    struct side *const sides[] = {&p->rows, &p->columns};

    for (size_t i = 0; i < 2; i++) {
        const double room = (double)sides[i]->cut->count * TILE_MIN;
        const double least = room < SHORT_MIN ? SHORT_MIN : room > PLANE ? PLANE : room;

        sides[i]->scale = (double)PLANE / (double)most;
        if ((double)sides[i]->extent * sides[i]->scale < least)
            sides[i]->scale = least / (double)sides[i]->extent;
    }
    p->rows.origin = TOP;
    p->columns.origin = MARGIN + 40;
}

static int at(const struct side *side, uint64_t coordinate)
{
    return side->origin + (int)((double)coordinate * side->scale + 0.5);
}

/* Returns the n for which every n-th tile is drawn. */
static uint64_t stride_of(const struct side *side)
{
    return (side->cut->count + TILES_DRAWN - 1) / TILES_DRAWN;
}

/* Sets *from and *to to the range of padded coordinates that a tile loads. */
static void loaded(const struct side *side, uint64_t index, uint64_t *from, uint64_t *to)
{
    uint64_t begin, size;

    tile_cut_range(side->cut, index, &begin, &size);
    *from = begin * side->span->step;
    *to = *from + tile_span_extent(side->span, size);
}

static struct svgw_box box_between(const struct picture_of_tiles *p, const uint64_t rows[2],
                                   const uint64_t columns[2])
{
    return (struct svgw_box){at(&p->columns, columns[0]), at(&p->rows, rows[0]),
                             at(&p->columns, columns[1]) - at(&p->columns, columns[0]),
                             at(&p->rows, rows[1]) - at(&p->rows, rows[0])};
}

/*
 * Fills the coordinates that each tile loads. Coordinates of two tiles are filled twice, and so
 * become darker.
 */
static void draw_loads(const struct picture_of_tiles *p)
{
    uint64_t rows[2], columns[2];

    for (uint64_t r = 0; r < p->rows.cut->count; r += stride_of(&p->rows)) {
        loaded(&p->rows, r, &rows[0], &rows[1]);
        for (uint64_t c = 0; c < p->columns.cut->count; c += stride_of(&p->columns)) {
            loaded(&p->columns, c, &columns[0], &columns[1]);
            svgw_titled_box(p->w, box_between(p, rows, columns),
                            "fill=\"#3f7fbf\" fill-opacity=\"0.32\"",
                            "tile %" PRIu64 ",%" PRIu64 ": rows %" PRIu64 " to %" PRIu64
                            ", columns %" PRIu64 " to %" PRIu64 " of the padded tensor",
                            r, c, rows[0], rows[1] - 1, columns[0], columns[1] - 1);
        }
    }
}

static bool has_halo(const struct side *side)
{
    return side->span->reach > side->span->step;
}

/* Draws lines between tiles without a halo. If they have one, its colour shows the tiles. */
static void draw_cuts(const struct picture_of_tiles *p)
{
    static const char style[] = "stroke=\"#fff\" stroke-width=\"1\"";
    const int top = at(&p->rows, 0), bottom = at(&p->rows, p->rows.extent);
    const int left = at(&p->columns, 0), right = at(&p->columns, p->columns.extent);
    uint64_t begin, size;

    for (uint64_t r = 1; r < p->rows.cut->count && !has_halo(&p->rows); r += stride_of(&p->rows)) {
        tile_cut_range(p->rows.cut, r, &begin, &size);
        begin = begin * p->rows.span->step + p->rows.span->pad;
        svgw_line(p->w, left, at(&p->rows, begin), right, at(&p->rows, begin), style);
    }
    for (uint64_t c = 1; c < p->columns.cut->count && !has_halo(&p->columns);
         c += stride_of(&p->columns)) {
        tile_cut_range(p->columns.cut, c, &begin, &size);
        begin = begin * p->columns.span->step + p->columns.span->pad;
        svgw_line(p->w, at(&p->columns, begin), top, at(&p->columns, begin), bottom, style);
    }
}

/* Outlines the coordinates that one tile in the middle loads. */
static void draw_example(const struct picture_of_tiles *p)
{
    uint64_t rows[2], columns[2];

    if (p->rows.cut->count * p->columns.cut->count == 1)
        return;
    loaded(&p->rows, p->rows.cut->count / 2, &rows[0], &rows[1]);
    loaded(&p->columns, p->columns.cut->count / 2, &columns[0], &columns[1]);
    svgw_box(p->w, box_between(p, rows, columns),
             "fill=\"none\" stroke=\"#c0392b\" stroke-width=\"2\" stroke-dasharray=\"6 3\"");
}

/* Returns the number of the first tile at this row and column, counted in the order of the loops.
 */
static uint64_t number_of(const struct picture_of_tiles *p, uint64_t row, uint64_t column)
{
    const struct tile_plan *plan = &p->result->plan;
    uint64_t number = 0;

    for (uint32_t i = 0; i < plan->layer->axes; i++) {
        const uint32_t axis = plan->order[i];

        number *= plan->cut[axis].count;
        if (p->rows.used && axis == p->rows.axis)
            number += row;
        else if (axis == p->columns.axis)
            number += column;
    }
    return number;
}

/* Writes the number of each tile of the plane. */
static void draw_numbers(const struct picture_of_tiles *p)
{
    static const struct svgw_font font = {LABEL, SVGW_MIDDLE, "#17375e", false, false};
    const uint64_t rows = p->rows.cut->count, columns = p->columns.cut->count;
    uint64_t row[2], column[2];

    for (uint64_t r = 0; r < rows && rows <= TILES_DRAWN; r++) {
        loaded(&p->rows, r, &row[0], &row[1]);
        for (uint64_t c = 0; c < columns && columns <= TILES_DRAWN; c++) {
            struct svgw_box box;

            loaded(&p->columns, c, &column[0], &column[1]);
            box = box_between(p, row, column);
            if (box.width >= LABEL_ROOM && box.height >= LABEL_ROOM)
                svgw_text(p->w, box.x + box.width / 2, box.y + box.height / 2 + LABEL / 3, &font,
                          "%" PRIu64, number_of(p, r, c));
        }
    }
}

static bool has_zeros(const struct side *side)
{
    return side->extent > side->span->extent;
}

/* Fills the padding, which no tile loads from memory. */
static void draw_zeros(const struct picture_of_tiles *p)
{
    static const char style[] = "fill=\"#f2c14e\"";
    const uint64_t end[] = {p->rows.extent, p->columns.extent};
    const uint64_t from[] = {p->rows.span->pad, p->columns.span->pad};
    const uint64_t to[] = {from[0] + p->rows.span->extent, from[1] + p->columns.span->extent};
    const uint64_t bands[][4] = {{0, from[0], 0, end[1]},
                                 {to[0], end[0], 0, end[1]},
                                 {from[0], to[0], 0, from[1]},
                                 {from[0], to[0], to[1], end[1]}};

    for (size_t i = 0; i < sizeof bands / sizeof bands[0]; i++) {
        const uint64_t rows[] = {bands[i][0], bands[i][1]}, columns[] = {bands[i][2], bands[i][3]};

        if (rows[1] > rows[0] && columns[1] > columns[0])
            svgw_box(p->w, box_between(p, rows, columns), style);
    }
}

/* Draws the frame of the tensor without padding, and writes its extents. */
static void draw_frame(const struct picture_of_tiles *p)
{
    static const struct svgw_font across = {12, SVGW_MIDDLE, "#333", false, false};
    static const struct svgw_font upwards = {12, SVGW_MIDDLE, "#333", false, true};
    const uint64_t rows[] = {p->rows.span->pad, p->rows.span->pad + p->rows.span->extent};
    const uint64_t columns[] = {p->columns.span->pad,
                                p->columns.span->pad + p->columns.span->extent};
    const struct svgw_box box = box_between(p, rows, columns);
    char name[TILE_NAME_MAX];

    svgw_box(p->w, box, "fill=\"none\" stroke=\"#000\" stroke-width=\"1\"");
    svgw_text(p->w, box.x + box.width / 2, at(&p->rows, p->rows.extent) + 18, &across,
              "%s: %" PRIu64 " in %" PRIu64 " tile%s",
              tile_axis_name(p->result->plan.layer, p->columns.axis, name), p->columns.span->extent,
              p->columns.cut->count, print_s(p->columns.cut->count));
    if (p->rows.used)
        svgw_text(p->w, p->columns.origin - 12, box.y + box.height / 2, &upwards,
                  "%s: %" PRIu64 " in %" PRIu64 " tile%s",
                  tile_axis_name(p->result->plan.layer, p->rows.axis, name), p->rows.span->extent,
                  p->rows.cut->count, print_s(p->rows.cut->count));
}

/* Draws an axis that is neither rows nor columns of the picture: its tiles, side by side. */
static void draw_strip(const struct picture_of_tiles *p, uint32_t axis, int x, int height)
{
    static const struct svgw_font label = {LABEL, SVGW_MIDDLE, "#17375e", false, false};
    static const struct svgw_font upwards = {12, SVGW_MIDDLE, "#333", false, true};
    const struct tile_cut *cut = &p->result->plan.cut[axis];
    const uint64_t step = (cut->count + TILES_DRAWN - 1) / TILES_DRAWN;
    char name[TILE_NAME_MAX];

    for (uint64_t i = 0; i < cut->count; i += step) {
        uint64_t begin, size;
        struct svgw_box box = {.x = x, .width = STRIP};

        tile_cut_range(cut, i, &begin, &size);
        box.y = TOP + (int)((double)begin / (double)cut->extent * height + 0.5);
        box.height =
            TOP + (int)((double)(begin + size) / (double)cut->extent * height + 0.5) - box.y;
        svgw_box(p->w, box,
                 "fill=\"#d98032\" fill-opacity=\"0.32\" stroke=\"#8a4a12\" stroke-width=\"1\"");
        if (box.height >= LABEL + 4)
            svgw_text(p->w, x + STRIP / 2, box.y + box.height / 2 + LABEL / 3, &label,
                      size > 1 ? "%" PRIu64 "-%" PRIu64 : "%" PRIu64, begin, begin + size - 1);
    }
    svgw_text(p->w, x - 8, TOP + height / 2, &upwards, "%s: %" PRIu64 " in %" PRIu64 " tile%s",
              tile_axis_name(p->result->plan.layer, axis, name), cut->extent, cut->count,
              print_s(cut->count));
}

/* Explains the colours. */
static void draw_key(const struct picture_of_tiles *p, int y)
{
    static const struct svgw_font text = {12, SVGW_START, "#333", false, false};
    const bool zeros = has_zeros(&p->rows) || has_zeros(&p->columns);
    bool several = false;

    for (uint32_t a = 0; a < TILE_AXES; a++)
        several |= p->others >> a & 1 && p->result->plan.cut[a].count > 1;
    if (p->result->plan.layer->kind == TILE_MOVE)
        svgw_text(p->w, MARGIN, y, &text, "black: the result; blue: its tiles; dashed: one tile%s",
                  several ? "; numbers: the first tile at each place" : "");
    else
        svgw_text(p->w, MARGIN, y, &text,
                  "black: the input; blue: loaded, darker: by several tiles; dashed: the input of "
                  "one tile%s%s",
                  zeros ? "; yellow: zeros" : "",
                  several ? "; numbers: the first tile at each place" : "");
}

/* Writes the title, which is `layer`, and the lines below it. */
static void draw_words(const struct picture_of_tiles *p, const char *layer)
{
    static const struct svgw_font title = {TITLE, SVGW_START, "#000", true, false};
    static const struct svgw_font text = {12, SVGW_START, "#333", false, false};
    const struct tile_plan *plan = &p->result->plan;
    char used[PRINT_TEXT_MAX], budget[PRINT_TEXT_MAX], order[160], name[TILE_NAME_MAX];
    struct phrase phrase = phrase_init(order, sizeof order);

    for (uint32_t i = 0; i < plan->layer->axes; i++)
        phrase_add(&phrase, "%s%s", i > 0 ? ", " : "",
                   tile_axis_name(plan->layer, plan->order[i], name));
    svgw_text(p->w, MARGIN, 32, &title, "%s", layer);
    svgw_text(p->w, MARGIN, 54, &text,
              "%" PRIu64 " tile%s, buffers take %s of %s; loops, the outermost first: %s",
              plan->steps, print_s(plan->steps), print_bytes(used, plan->used),
              print_bytes(budget, plan->memory.bytes), order);
    draw_key(p, 72);
}

static void draw(struct picture_of_tiles *p)
{
    const int bottom = at(&p->rows, p->rows.extent), right = at(&p->columns, p->columns.extent);
    int x = right + STRIP_GAP / 2, strips = 0, height = bottom - TOP, width, least = 860;
    struct textw layer;

    textw_init(&layer);
    tile_report_layer(&layer, p->result);
    if (!layer.failed && svgw_text_width(layer.data, TITLE + 2) + 2 * MARGIN > least)
        least = svgw_text_width(layer.data, TITLE + 2) + 2 * MARGIN;
    for (uint32_t a = 0; a < TILE_AXES; a++)
        strips += p->others >> a & 1;
    if (strips > 0 && height < 240)
        height = 240;
    width = right + strips * (STRIP + STRIP_GAP / 2) + MARGIN * 2;
    svgw_begin(p->w, width < least ? least : width, TOP + height + 48);
    svgw_box(p->w, (struct svgw_box){0, 0, width < least ? least : width, TOP + height + 48},
             "fill=\"#fff\"");
    draw_words(p, layer.failed ? "" : layer.data);
    p->w->failed |= layer.failed;
    textw_finish(&layer);
    draw_loads(p);
    draw_cuts(p);
    draw_zeros(p);
    draw_frame(p);
    draw_example(p);
    draw_numbers(p);
    for (uint32_t a = 0; a < TILE_AXES; a++) {
        if (p->others >> a & 1) {
            draw_strip(p, a, x, height);
            x += STRIP + STRIP_GAP / 2;
        }
    }
    svgw_end(p->w);
}

void tile_picture(struct textw *w, const struct tile_result *result)
{
    struct picture_of_tiles p = {.result = result, .w = w};

    choose_sides(&p);
    choose_scale(&p);
    draw(&p);
}
