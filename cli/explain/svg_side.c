/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain/picture.h"
#include "cli/explain/svgw.h"

/* A cell that is large enough shows its element's coordinate in the source. */
enum { NUMBER_FONT_MIN = 8, NUMBER_FONT_MAX = 11, NUMBER_MAX = 24, TITLE_MAX = 192 };

/* The class of a state's cells, and their attributes unless each cell has its own colour. */
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

void svg_side_define(struct textw *w)
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

/* Adds the tooltip of a cell: "(1, 4) to (0, 2)". */
static void draw_title(struct textw *w, const struct picture_block *block, const uint64_t *sample)
{
    const mli_explanation *move = &block->picture->explained->move;
    uint64_t from[MLI_MAX_RANK], to[MLI_MAX_RANK];
    char a[PICTURE_WORDS_MAX], b[PICTURE_WORDS_MAX];
    for (uint32_t d = 0; d < move->rank; d++) {
        from[d] = picture_coordinate(block->picture, d, sample[d]);
        to[move->axis[d].dst_dim] = move->axis[d].dst_offset + sample[d];
    }
    textw_printf(w, "<title>%s to %s</title>", picture_shape(a, move->rank, from),
                 picture_shape(b, move->rank, to));
}

static void draw_cell(struct textw *w, const struct picture_block *block, const size_t *at, int x,
                      int y, bool coloured)
{
    int size = block->metrics.cell_width - 2;
    textw_printf(w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"", x + 1, y + 1, size, size);
    if (!coloured) {
        textw_printf(w, "/>\n");
        return;
    }
    uint64_t sample[MLI_MAX_RANK] = {0};
    picture_samples(block->side, at, sample);
    struct picture_colour c = picture_colour(block->picture, sample);
    textw_printf(w, " fill=\"#%02x%02x%02x\">", c.red, c.green, c.blue);
    draw_title(w, block, sample);
    textw_printf(w, "</rect>\n");
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
             "class=\"window\" rx=\"3\" fill=\"none\" stroke=\"#141c2e\" "
             "stroke-width=\"2\"");
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
        svg_axis_row_ticks(w, block, plane);
    if (picture_block_column_ticks(block, at[PICTURE_LINES], at[PICTURE_PLANES]))
        svg_axis_column_ticks(w, block, plane);
}

static void draw_captions(struct textw *w, const struct picture_block *block)
{
    const struct picture_axis *axis = block->side->axis;
    bool above = svg_axis_caption_is_above(block);
    int y = 0, middle = block->line[0] + block->row[axis[PICTURE_ROWS].count] / 2;
    for (enum picture_level level = PICTURE_LINES; level <= PICTURE_ROWS; level++) {
        if (axis[level].dim < 0 || (level == PICTURE_ROWS && !above))
            continue;
        svg_axis_caption(w, block, level, block->left, y);
        y += SVG_AXIS_CAPTION;
    }
    if (axis[PICTURE_ROWS].dim >= 0 && !above)
        svg_axis_caption_beside(
            w, block, block->left - block->ticks - SVG_AXIS_AWAY - SVG_AXIS_CAPTION, middle);
    svg_axis_caption(w, block, PICTURE_COLUMNS, block->left, block->height - SVG_AXIS_CAPTION);
}

void svg_side(struct textw *w, const struct picture_block *block)
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
    /* Draws four colours: across for the first and last sample of the first followed dimension,
       down for those of the other dimensions. */
    for (int corner = 0; corner < 4; corner++) {
        uint64_t sample[MLI_MAX_RANK];
        for (uint32_t d = 0; d < MLI_MAX_RANK; d++) {
            const struct picture_scale *scale = &picture->scale[d];
            bool last = d == picture->followed[0] ? corner % 2 : corner / 2;
            sample[d] = scale->sample[last && scale->count ? scale->count - 1 : 0];
        }
        struct picture_colour c = picture_colour(picture, sample);
        char fill[32];
        snprintf(fill, sizeof(fill), "fill=\"#%02x%02x%02x\"", c.red, c.green, c.blue);
        svgw_box(w,
                 (struct svgw_box){x + corner % 2 * size / 2, y + corner / 2 * size / 2, size / 2,
                                   size / 2},
                 fill);
    }
}

enum { FONT = 11, SWATCH = 14, LINE = 22, SPACE = 22, TEXT_MAX = 96 };

static const struct svgw_font font = {FONT, SVGW_START, "#27303f"};

/* Puts items on lines of at most `width`; null w: only measures them. */
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
        flow->y += LINE;
    }
}

static void put_words(struct flow *flow, int x, const char *text)
{
    if (flow->w)
        svgw_text(flow->w, x, flow->y + FONT, &font, "%s", text);
}

/* Writes an item of the legend: "moved: 96, 40 of them here". */
static void words_of(char out[TEXT_MAX], const struct picture *picture, enum picture_state state)
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
    words_of(text, picture, state);
    int width = SWATCH + 6 + svgw_text_width(text, FONT);
    make_room(flow, width);
    if (flow->w)
        draw_swatch(flow->w, flow->x, flow->y - 1, SWATCH, picture, state);
    put_words(flow, flow->x + SWATCH + 6, text);
    flow->x += width + SPACE;
}

static void put_all(struct flow *flow, const struct picture *picture)
{
    flow->x = flow->left;
    for (enum picture_state state = 0; state < PICTURE_BREAK; state++)
        put_state(flow, picture, state);
}

int svg_side_legend_height(const struct picture *picture, int width)
{
    struct flow flow = {.width = width};
    put_all(&flow, picture);
    return flow.y + LINE;
}

void svg_side_legend(struct textw *w, const struct picture *picture, int x, int y, int width)
{
    struct flow flow = {.w = w, .left = x, .width = width, .y = y};
    put_all(&flow, picture);
}
