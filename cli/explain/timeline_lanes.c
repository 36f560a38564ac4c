/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/timeline_parts.h"
#include "cli/term/print.h"

enum {
    LANE = 26,    /* height of a box */
    LANE_GAP = 5, /* between lanes */
    NARROW = 4,   /* pixels: a narrower slot goes into a group */
    GROUP = 12,   /* pixels of a group */
    ARROWS_MAX = 64,
    NAME_FONT = 10
};

static const char *const kind_words[] = {
#define KIND_WORD(name, word, fill, ink) word,
    TIMELINE_KIND_TABLE(KIND_WORD)
#undef KIND_WORD
};
static const char *const kind_fills[] = {
#define KIND_FILL(name, word, fill, ink) fill,
    TIMELINE_KIND_TABLE(KIND_FILL)
#undef KIND_FILL
};
static const char *const kind_inks[] = {
#define KIND_INK(name, word, fill, ink) ink,
    TIMELINE_KIND_TABLE(KIND_INK)
#undef KIND_INK
};

const char *timeline_kind_word(enum timeline_kind kind)
{
    return kind_words[kind];
}

const char *timeline_kind_fill(enum timeline_kind kind)
{
    return kind_fills[kind];
}

const char *timeline_micros(char out[TIMELINE_TIME_MAX], uint64_t ns, int decimals)
{
    char digits[8];

    snprintf(digits, sizeof digits, "%03u", (unsigned)(ns % 1000));
    digits[decimals] = '\0';
    snprintf(out, TIMELINE_TIME_MAX, "%" PRIu64 "%s%s", ns / 1000, decimals ? "." : "", digits);
    return out;
}

/* Neighbouring narrow slots of one lane, drawn as a bar with the share of time of each kind. */
struct group {
    size_t slots;
    int x1, x2;
    uint64_t start_ns, end_ns;
    uint64_t ns[TIMELINE_KINDS];
};

/* The drawing of the lanes of a panel. */
struct plot {
    struct textw *w;
    const struct timeline_panel *panel;
    struct timeline_scale scale;
    int y;         /* top of the first lane */
    size_t *order; /* indices of the slots, by start; owned */
    bool groups;   /* there is a group */
    bool arrows;   /* there are arrows: names cover them */
};

int timeline_lanes_height(const struct timeline_panel *panel)
{
    return (int)panel->lane_count * (LANE + LANE_GAP);
}

static int lane_y(const struct plot *plot, uint32_t lane)
{
    return plot->y + (int)lane * (LANE + LANE_GAP);
}

/* Returns the number of lanes of a slot that exist. */
static uint32_t lanes_of(const struct timeline_panel *panel, const struct timeline_slot *slot)
{
    const uint32_t left = slot->lane < panel->lane_count ? panel->lane_count - slot->lane : 0;

    return slot->lanes < left ? slot->lanes : left;
}

static uint64_t duration(const struct timeline_slot *slot)
{
    return slot->end_ns > slot->start_ns ? slot->end_ns - slot->start_ns : 0;
}

static bool is_narrow(const struct plot *plot, const struct timeline_slot *slot)
{
    return timeline_x(&plot->scale, slot->end_ns) - timeline_x(&plot->scale, slot->start_ns) <
           NARROW;
}

/* Writes as many characters of the name as fit. Writes nothing if fewer than three fit. */
static void draw_name(const struct plot *plot, const struct timeline_slot *slot,
                      struct svgw_box box)
{
    const struct svgw_font font = {NAME_FONT, SVGW_MIDDLE, kind_inks[slot->kind]};
    const int room = box.width - 6;
    char name[64];
    size_t length;

    if (!slot->name)
        return;
    length = (size_t)snprintf(name, sizeof name - 4, "%s", slot->name);
    if (length > sizeof name - 5 || svgw_text_width(name, NAME_FONT) > room) {
        length = strlen(name);
        do {
            while (length > 0 && ((unsigned char)name[--length] & 0xc0) == 0x80)
                ;
            memcpy(name + length, "\xe2\x80\xa6", 4);
        } while (length > 2 && svgw_text_width(name, NAME_FONT) > room);
        if (length < 3)
            return;
    }
    if (plot->arrows) {
        const int width = svgw_text_width(name, NAME_FONT);
        char style[40];

        snprintf(style, sizeof style, "fill=\"%s\"", kind_fills[slot->kind]);
        svgw_box(plot->w,
                 (struct svgw_box){box.x + (box.width - width) / 2, box.y + box.height / 2 - 6,
                                   width, NAME_FONT + 3},
                 style);
    }
    svgw_text(plot->w, box.x + box.width / 2, box.y + box.height / 2 + 4, &font, "%s", name);
}

static struct svgw_box box_of(const struct plot *plot, const struct timeline_slot *slot)
{
    const uint32_t lanes = lanes_of(plot->panel, slot);
    const int x1 = timeline_x(&plot->scale, slot->start_ns);
    const int x2 = timeline_x(&plot->scale, slot->end_ns);

    return (struct svgw_box){x1, lane_y(plot, slot->lane), x2 > x1 ? x2 - x1 : 1,
                             (int)lanes * (LANE + LANE_GAP) - LANE_GAP};
}

static void draw_slot(const struct plot *plot, const struct timeline_slot *slot)
{
    const struct svgw_box box = box_of(plot, slot);
    char style[80], from[TIMELINE_TIME_MAX], to[TIMELINE_TIME_MAX];

    snprintf(style, sizeof style, "fill=\"%s\" stroke=\"#ffffff\" stroke-width=\"%s\"",
             kind_fills[slot->kind], box.width > 2 * NARROW ? "1" : "0.4");
    svgw_titled_box(plot->w, box, style, "%s: %s, %s to %s us", slot->name ? slot->name : "",
                    kind_words[slot->kind], timeline_micros(from, slot->start_ns, 3),
                    timeline_micros(to, slot->end_ns, 3));
}

/* Draws a group: the height of each colour is the share of the time of its kind. */
static void draw_group(struct plot *plot, uint32_t lane, const struct group *group)
{
    const int width = group->x2 > group->x1 ? group->x2 - group->x1 : 1;
    const uint64_t span = group->end_ns > group->start_ns ? group->end_ns - group->start_ns : 1;
    int low = lane_y(plot, lane) + LANE;
    char style[40], from[TIMELINE_TIME_MAX], to[TIMELINE_TIME_MAX];

    if (group->slots == 0)
        return;
    plot->groups |= group->slots > 1;
    for (int kind = 0; kind < TIMELINE_KINDS; kind++) {
        int height = (int)((double)group->ns[kind] / (double)span * LANE + 0.5);
        const int most = low - lane_y(plot, lane);

        height = height > most ? most : height == 0 && group->ns[kind] > 0 && most > 0 ? 1 : height;
        if (height == 0)
            continue;
        low -= height;
        snprintf(style, sizeof style, "fill=\"%s\"", kind_fills[kind]);
        svgw_titled_box(plot->w, (struct svgw_box){group->x1, low, width, height}, style,
                        "%zu slot%s, %s to %s us", group->slots, print_s(group->slots),
                        timeline_micros(from, group->start_ns, 3),
                        timeline_micros(to, group->end_ns, 3));
    }
}

static void add_to_group(const struct plot *plot, struct group *group,
                         const struct timeline_slot *slot)
{
    if (group->slots++ == 0) {
        group->x1 = timeline_x(&plot->scale, slot->start_ns);
        group->start_ns = slot->start_ns;
    }
    if (slot->end_ns > group->end_ns)
        group->end_ns = slot->end_ns;
    group->x2 = timeline_x(&plot->scale, group->end_ns);
    group->ns[slot->kind] += duration(slot);
}

/* Returns whether a narrow slot begins a new group: the old one is wide enough, or far away. */
static bool begins_group(const struct plot *plot, const struct group *group,
                         const struct timeline_slot *slot)
{
    const int x = timeline_x(&plot->scale, slot->start_ns);

    return group->slots > 0 && (x >= group->x1 + GROUP || x > group->x2 + NARROW);
}

static void draw_lane(struct plot *plot, uint32_t lane)
{
    const struct timeline_panel *panel = plot->panel;
    struct group group = {0};

    for (size_t i = 0; i < panel->slot_count; i++) {
        const struct timeline_slot *slot = &panel->slots[plot->order[i]];

        if (lane < slot->lane || lane - slot->lane >= lanes_of(panel, slot))
            continue;
        if (!is_narrow(plot, slot) || begins_group(plot, &group, slot)) {
            draw_group(plot, lane, &group);
            group = (struct group){0};
        }
        if (is_narrow(plot, slot))
            add_to_group(plot, &group, slot);
        else if (slot->lane == lane)
            draw_slot(plot, slot);
    }
    draw_group(plot, lane, &group);
}

/* Returns the time that a lane is busy. */
static uint64_t busy_ns(const struct timeline_panel *panel, uint32_t lane)
{
    uint64_t busy = 0;

    for (size_t i = 0; i < panel->slot_count; i++) {
        const struct timeline_slot *slot = &panel->slots[i];

        if (lane >= slot->lane && lane - slot->lane < slot->lanes)
            busy += duration(slot);
    }
    return busy;
}

static void draw_lanes(struct plot *plot)
{
    const struct svgw_font name = {11, SVGW_END, "#27303f"}, share = {9, SVGW_START, "#5b6575"};
    const struct timeline_panel *panel = plot->panel;
    const uint64_t end = timeline_panel_end(panel);
    const int right = plot->scale.x + plot->scale.width + 6;

    for (uint32_t lane = 0; lane < panel->lane_count; lane++) {
        const int y = lane_y(plot, lane) + LANE / 2 + 4;

        if (panel->lanes)
            svgw_text(plot->w, plot->scale.x - 8, y, &name, "%s", panel->lanes[lane]);
        else
            svgw_text(plot->w, plot->scale.x - 8, y, &name, "%s %" PRIu32, panel->lane_word, lane);
        svgw_text(plot->w, right, y, &share, "%d %%",
                  end > 0 ? (int)(100.0 * (double)busy_ns(panel, lane) / (double)end + 0.5) : 0);
        draw_lane(plot, lane);
    }
}

/* Arrows. */

/* Returns whether an arrow is drawn: neither slot is in a group. On one lane, slots are in order
 * anyway. */
static bool has_arrow(const struct plot *plot, const struct timeline_slot *from,
                      const struct timeline_slot *to)
{
    return from->lane != to->lane && lanes_of(plot->panel, from) > 0 &&
           lanes_of(plot->panel, to) > 0 && !is_narrow(plot, from) && !is_narrow(plot, to);
}

static int middle(const struct plot *plot, const struct timeline_slot *slot)
{
    const int lanes = (int)lanes_of(plot->panel, slot);

    return lane_y(plot, slot->lane) + (lanes * (LANE + LANE_GAP) - LANE_GAP) / 2;
}

static void draw_arrow(const struct plot *plot, const struct timeline_slot *from,
                       const struct timeline_slot *to)
{
    const int x1 = timeline_x(&plot->scale, from->end_ns) - 1, y1 = middle(plot, from);
    const int x2 = timeline_x(&plot->scale, to->start_ns) + 1, y2 = middle(plot, to);
    const int bend = x2 - x1 > 24 ? (x2 - x1) / 2 : 12;

    textw_printf(plot->w,
                 "<path d=\"M%d %dC%d %d %d %d %d %d\" fill=\"none\" stroke=\"#141c2e\" "
                 "stroke-width=\"0.8\" opacity=\"0.6\" marker-end=\"url(#arrow)\"/>\n",
                 x1, y1, x1 + bend, y1, x2 - bend, y2, x2, y2);
}

/* Calls draw_arrow() for all dependencies if `draw`. Returns the number of arrows. */
static size_t each_arrow(const struct plot *plot, bool draw)
{
    const struct timeline_panel *panel = plot->panel;
    size_t count = 0;

    for (size_t i = 0; i < panel->slot_count; i++) {
        const struct timeline_slot *to = &panel->slots[i];

        for (size_t k = 0; k < to->after_count; k++) {
            if (to->after[k] >= panel->slot_count ||
                !has_arrow(plot, &panel->slots[to->after[k]], to))
                continue;
            count++;
            if (draw)
                draw_arrow(plot, &panel->slots[to->after[k]], to);
        }
    }
    return count;
}

struct start {
    uint64_t ns;
    size_t index;
};

static int compare_starts(const void *a, const void *b)
{
    const struct start *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

/* Returns the indices of the slots by start (heap), or null if out of memory. */
static size_t *order_of(const struct timeline_panel *panel)
{
    struct start *starts = calloc(panel->slot_count + 1, sizeof *starts);
    size_t *order = calloc(panel->slot_count + 1, sizeof *order);

    for (size_t i = 0; starts && i < panel->slot_count; i++)
        starts[i] = (struct start){panel->slots[i].start_ns, i};
    if (starts && order) {
        qsort(starts, panel->slot_count, sizeof *starts, compare_starts);
        for (size_t i = 0; i < panel->slot_count; i++)
            order[i] = starts[i].index;
    } else {
        free(order);
        order = NULL;
    }
    free(starts);
    return order;
}

bool timeline_lanes_draw(struct textw *w, const struct timeline_panel *panel,
                         const struct timeline_scale *scale, int y)
{
    struct plot plot = {.w = w, .panel = panel, .scale = *scale, .y = y, .order = order_of(panel)};

    if (!plot.order) {
        w->failed = true;
        return false;
    }
    draw_lanes(&plot);
    if (each_arrow(&plot, false) <= ARROWS_MAX)
        plot.arrows = each_arrow(&plot, true) > 0;
    for (size_t i = 0; i < panel->slot_count; i++) {
        const struct timeline_slot *slot = &panel->slots[i];

        if (lanes_of(panel, slot) > 0 && !is_narrow(&plot, slot))
            draw_name(&plot, slot, box_of(&plot, slot));
    }
    free(plot.order);
    return plot.groups;
}
