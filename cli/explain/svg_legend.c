/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_legend.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/explain/picture_words.h"
#include "cli/explain/svg_caption.h"
#include "cli/explain/svg_side.h"
#include "cli/explain/svgw.h"

enum { FONT = 11, SWATCH = 14, LINE = 22, SPACE = 22, TEXT_MAX = 96 };

static const struct svgw_font font = {FONT, SVGW_START, "#27303f"};

static const char *const words[PICTURE_STATES] = {
#define PICTURE_WORDS(name, utf8, ascii, text) text,
    PICTURE_STATE_TABLE(PICTURE_WORDS)
#undef PICTURE_WORDS
};

/* Puts items one behind the other, on as many lines as it takes; null w: only to measure. */
struct flow {
    struct textw *w;
    int left, width;
    int x, y;
};

/* Where an item of this width goes. */
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

/* "moved: 96, 40 of them here" */
static void words_of(char out[TEXT_MAX], const struct picture *picture, enum picture_state state)
{
    const mli_explanation *move = &picture->explained->move;
    size_t shown = picture_count(&picture->dst, state);
    uint64_t all = state == PICTURE_WRITTEN ? move->samples_read
                   : state == PICTURE_ZERO  ? move->samples - move->samples_read
                                            : 0;
    int length = snprintf(out, TEXT_MAX, "%s%s", words[state],
                          state == PICTURE_WRITTEN ? ", the same colour on both sides" : "");
    if (all > 0)
        length += snprintf(out + length, TEXT_MAX - (size_t)length, ": %" PRIu64, all);
    if (all > shown)
        snprintf(out + length, TEXT_MAX - (size_t)length, ", %zu of them here", shown);
}

static void put_state(struct flow *flow, const struct picture *picture, enum picture_state state)
{
    char text[TEXT_MAX];
    if (!*words[state] ||
        picture_count(&picture->src, state) + picture_count(&picture->dst, state) == 0)
        return;
    words_of(text, picture, state);
    int width = SWATCH + 6 + svgw_text_width(text, FONT);
    make_room(flow, width);
    if (flow->w)
        svg_side_swatch(flow->w, flow->x, flow->y - 1, SWATCH, picture, state);
    put_words(flow, flow->x + SWATCH + 6, text);
    flow->x += width + SPACE;
}

static void put_all(struct flow *flow, const struct picture *picture)
{
    flow->x = flow->left;
    for (enum picture_state state = 0; state < PICTURE_BREAK; state++)
        put_state(flow, picture, state);
}

int svg_legend_height(const struct picture *picture, int width)
{
    struct flow flow = {.width = width};
    put_all(&flow, picture);
    return flow.y + LINE;
}

void svg_legend(struct textw *w, const struct picture *picture, int x, int y, int width)
{
    struct flow flow = {.w = w, .left = x, .width = width, .y = y};
    put_all(&flow, picture);
}
