/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_caption.h"

#include <stdio.h>
#include <string.h>

#include "cli/explain/picture_colour.h"
#include "cli/explain/picture_words.h"

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

/* How colours go along a source dimension; returns what it takes. */
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

/* "1+224+1", and which way it goes where that is not to be seen */
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
    int base = y + SVG_CAPTION / 2 + 4;
    words_of(words, block, level, beside);
    svgw_box(w, (struct svgw_box){x, y + (SVG_CAPTION - CHIP_HEIGHT) / 2, CHIP, CHIP_HEIGHT},
             "rx=\"4\" fill=\"#3b4658\"");
    svgw_text(w, x + CHIP / 2, base, &chip, "d%d", axis->source_dim);
    x += CHIP + SPACE;
    int strip = draw_strip(w, block->picture, (uint32_t)axis->source_dim, x,
                           y + (SVG_CAPTION - STRIP_CELL) / 2 - 1);
    x += strip + (strip ? SPACE : 0);
    if (picture_is_quantised(block->picture, axis)) {
        textw_printf(w, "<path d=\"M%d %dl5 -5 5 5 -5 5z\" class=\"axis\" fill=\"#b3125f\"/>\n", x,
                     y + SVG_CAPTION / 2);
        x += MARK + SPACE;
    }
    svgw_text(w, x, base, &font, "%s", words);
}

int svg_caption_widest(const struct picture_block *block)
{
    int widest = 0;
    for (enum picture_level level = 0; level < PICTURE_LEVELS; level++) {
        bool is_there = block->side->axis[level].dim >= 0 &&
                        (level != PICTURE_ROWS || svg_caption_is_above(block));
        int width = is_there ? width_of(block, level, false) : 0;
        widest = width > widest ? width : widest;
    }
    return widest;
}

bool svg_caption_is_above(const struct picture_block *block)
{
    const struct picture_axis *axis = &block->side->axis[PICTURE_ROWS];
    return axis->dim >= 0 &&
           width_of(block, PICTURE_ROWS, true) > block->row[axis->count] + SVG_CAPTION;
}

void svg_caption(struct textw *w, const struct picture_block *block, enum picture_level level,
                 int x, int y)
{
    draw(w, block, level, x, y, false);
}

void svg_caption_beside(struct textw *w, const struct picture_block *block, int x, int y)
{
    textw_printf(w, "<g transform=\"translate(%d %d) rotate(-90)\">\n", x,
                 y + width_of(block, PICTURE_ROWS, true) / 2);
    draw(w, block, PICTURE_ROWS, 0, 0, true);
    svgw_group_end(w);
}
