/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/svg_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/explain/picture.h"
#include "cli/term/print.h"

enum {
    NAME_FONT = 13,
    WORDS_FONT = 11,
    PLAN_FONT = 10,
    NAME_LINE = 21,
    WORDS_LINE = 14,
    PLAN_LINE = 13,
    MARGIN = 14,
    INDENT = 24, /* indent after the steps' numbers */
    ROOM = SVG_STEPS_WIDTH - SVG_STEPS_HEAD - 2 * MARGIN,
    PLAN_LINES = 2 + MLI_MAX_RANK
};

static const char ink[] = "#27303f", grey[] = "#98a1ae", small[] = "#5b6575";

/* The position of the next line; null w: only measures the height. */
struct pen {
    struct textw *w;
    int x, y;
};

static void put(const struct pen *pen, int x, int y, const struct svgw_font *font, const char *text)
{
    if (pen->w)
        svgw_text(pen->w, pen->x + x, y, font, "%s", text);
}

/* Returns the number of bytes of `text` for one line: up to the last ", " that fits, or all. */
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
        put(pen, MARGIN + INDENT, pen->y + WORDS_FONT, &font, line);
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
        svgw_circle(pen->w, pen->x + MARGIN + 8, base - 4, 8,
                    step->neutral ? "#c3cad4" : "#3b4658");
    put(pen, MARGIN + 8, base, &inside, digit);
    put(pen, MARGIN + INDENT, base, &name, step->name);
    pen->y += NAME_LINE;
    if (step->neutral)
        return;
    int room = ROOM - INDENT - svgw_text_width(step->name, NAME_FONT) - 8;
    bool beside = svgw_text_width(step->shape, WORDS_FONT) <= room;
    if (beside)
        put(pen, MARGIN + ROOM, base, &shape, step->shape);
    put_words(pen, step->what);
    if (!beside)
        put_words(pen, step->shape);
    pen->y += 4;
}

static uint64_t box_bytes(const struct mli_copy_box *box)
{
    uint64_t bytes = box->run;
    for (size_t i = 0; i < box->loops; i++)
        bytes *= box->loop[i].count;
    return bytes;
}

/* Describes the plan in words. Returns the number of lines. */
static size_t plan_words(const struct mli_plan *plan, char lines[PLAN_LINES][PICTURE_WORDS_MAX])
{
    const struct mli_copy_box *box = &plan->box;
    uint64_t copied = box_bytes(box);
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

static void put_plan(struct pen *pen, const struct mli_plan *plan)
{
    static const struct svgw_font font = {PLAN_FONT, SVGW_START, small};
    char lines[PLAN_LINES][PICTURE_WORDS_MAX];
    size_t count = plan_words(plan, lines);
    if (pen->w)
        svgw_line(pen->w, pen->x + MARGIN, pen->y + 4, pen->x + MARGIN + ROOM, pen->y + 4,
                  "stroke=\"#c9d0da\"");
    pen->y += 10;
    for (size_t i = 0; i < count; i++) {
        put(pen, MARGIN, pen->y + PLAN_FONT, &font, lines[i]);
        pen->y += PLAN_LINE;
    }
}

static void put_all(struct pen *pen, const struct explained *explained)
{
    struct picture_step steps[STEP_COUNT];
    picture_steps(explained, steps);
    pen->y += MARGIN - 4;
    for (int i = 0; i < STEP_COUNT; i++)
        put_step(pen, i + 1, &steps[i]);
    put_plan(pen, &explained->move.plan);
    pen->y += MARGIN - 4;
}

int svg_steps_height(const struct explained *explained)
{
    struct pen pen = {.w = NULL};
    put_all(&pen, explained);
    return pen.y;
}

void svg_steps(struct textw *w, const struct explained *explained, int x, int y)
{
    struct pen pen = {w, x, y};
    int height = svg_steps_height(explained), body = SVG_STEPS_WIDTH - SVG_STEPS_HEAD;
    textw_printf(w, "<path d=\"M%d %dh%dl%d %dl%d %dh%dz\" fill=\"#eef1f5\"/>\n", x, y, body,
                 SVG_STEPS_HEAD, height / 2, -SVG_STEPS_HEAD, height - height / 2, -body);
    put_all(&pen, explained);
}
