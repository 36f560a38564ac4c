/* SPDX-License-Identifier: BSD-3-Clause */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/timeline_chart.h"
#include "cli/file/output.h"
#include "cli/term/print.h"

/* The position of a panel's time axis in the drawing. */
struct timeline_scale {
    int x, width;     /* pixel of time 0; number of pixels from time 0 to `span_ns` */
    uint64_t span_ns; /* at least 1 */
};

/* Returns the x of a time. A time after the span gets the x of the end of the span. */
static int timeline_x(const struct timeline_scale *scale, uint64_t ns)
{
    if (ns >= scale->span_ns)
        return scale->x + scale->width;
    return scale->x + (int)((double)ns / (double)scale->span_ns * scale->width + 0.5);
}

enum { TIMELINE_TIME_MAX = 40 };

enum {
    LANE = 26,    /* height of a box */
    LANE_GAP = 5, /* between lanes */
    NARROW = 4,   /* width in pixels below which slots are drawn as a group */
    GROUP = 12,   /* width in pixels of a group */
    ARROWS_MAX = 64,
    NAME_FONT = 10,
    LANE_NAME_MAX = 24
};

static const struct {
    const char *word, *fill, *ink;
} kinds[] = {
#define KIND(name, word, fill, ink) {word, fill, ink},
    TIMELINE_KIND_TABLE(KIND)
#undef KIND
};

/* Writes a time in microseconds with `decimals` digits (0 to 3) after the point, in any locale.
 * Returns `out`. */
static const char *timeline_micros(char out[TIMELINE_TIME_MAX], uint64_t ns, int decimals)
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
    size_t *order; /* indices of the slots, sorted by start; owned */
    bool groups;   /* true: some slots are drawn as groups */
    bool arrows;   /* true: arrows are drawn, so names are not */
};

/* Returns the height of a panel's lanes. */
static int timeline_lanes_height(const struct timeline_panel *panel)
{
    return (int)panel->lane_count * (LANE + LANE_GAP);
}

static int lane_y(const struct plot *plot, uint32_t lane)
{
    return plot->y + (int)lane * (LANE + LANE_GAP);
}

/* Returns how many lanes of a slot are lanes of the panel. */
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
    const struct svgw_font font = {NAME_FONT, SVGW_MIDDLE, kinds[slot->kind].ink};
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

        snprintf(style, sizeof style, "fill=\"%s\"", kinds[slot->kind].fill);
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
             kinds[slot->kind].fill, box.width > 2 * NARROW ? "1" : "0.4");
    svgw_titled_box(plot->w, box, style, "%s: %s, %s to %s us", slot->name ? slot->name : "",
                    kinds[slot->kind].word, timeline_micros(from, slot->start_ns, 3),
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
        snprintf(style, sizeof style, "fill=\"%s\"", kinds[kind].fill);
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

/* Returns whether a narrow slot begins a new group: the last group is wide enough, or far away. */
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

/* Returns the time at which a panel ends, in nanoseconds: the last end of its transfers and uses of
 * memory. */
static uint64_t timeline_panel_end(const struct timeline_panel *panel)
{
    uint64_t end = 0;

    for (size_t i = 0; i < panel->slot_count; i++)
        end = panel->slots[i].end_ns > end ? panel->slots[i].end_ns : end;
    for (size_t i = 0; i < panel->use_count; i++)
        end = panel->uses[i].end_ns > end ? panel->uses[i].end_ns : end;
    return end;
}

/* Writes "channel 0", or "core". Returns `out`. */
static const char *lane_name(char out[LANE_NAME_MAX], const struct timeline_panel *panel,
                             uint32_t lane)
{
    if (panel->has_core && lane + 1 == panel->lane_count)
        return "core";
    snprintf(out, LANE_NAME_MAX, "channel %" PRIu32, lane);
    return out;
}

static void draw_lanes(struct plot *plot)
{
    const struct svgw_font name = {11, SVGW_END, "#27303f"}, share = {9, SVGW_START, "#5b6575"};
    const struct timeline_panel *panel = plot->panel;
    const uint64_t end = timeline_panel_end(panel);
    const int right = plot->scale.x + plot->scale.width + 6;

    for (uint32_t lane = 0; lane < panel->lane_count; lane++) {
        const int y = lane_y(plot, lane) + LANE / 2 + 4;

        char text[LANE_NAME_MAX];

        svgw_text(plot->w, plot->scale.x - 8, y, &name, "%s", lane_name(text, panel, lane));
        svgw_text(plot->w, right, y, &share, "%d %%",
                  end > 0 ? (int)(100.0 * (double)busy_ns(panel, lane) / (double)end + 0.5) : 0);
        draw_lane(plot, lane);
    }
}

/* Arrows. */

/* Returns whether an arrow is drawn between two slots: only if neither is in a group and they are
 * on different lanes. Slots on one lane are in order anyway. */
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

/* A change of the bytes in use. */
struct edge {
    uint64_t ns, bytes;
    bool begins;
};

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static uint64_t after(const struct edge *edge, uint64_t bytes)
{
    if (edge->begins)
        return plus(bytes, edge->bytes);
    return bytes > edge->bytes ? bytes - edge->bytes : 0;
}

/* If `draw`, calls draw_arrow() for all dependencies. Returns the number of arrows. */
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

/* Returns the indices of the slots, sorted by start, on the heap; or null if out of memory. */
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

/* Draws the lanes of a panel below y. Returns whether several short slots were drawn as one. */
static bool timeline_lanes_draw(struct textw *w, const struct timeline_panel *panel,
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

enum {
    TRACK = 56 /* height of the area */,
    GAP = 26 /* distance between areas, including a heading */
};

/* At equal times, sort ends before starts: a job may reuse the memory of an earlier job. */
static int compare(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (int)x->begins - (int)y->begins;
}

/* Returns the sorted changes of a memory, on the heap; or null if out of memory. */
static struct edge *edges_of(const struct timeline_panel *panel, uint32_t memory, size_t *count)
{
    struct edge *edges = calloc(2 * panel->use_count + 1, sizeof *edges);

    *count = 0;
    for (size_t i = 0; edges && i < panel->use_count; i++) {
        const struct timeline_use *use = &panel->uses[i];

        if (use->memory != memory || use->end_ns <= use->start_ns)
            continue;
        edges[(*count)++] = (struct edge){use->start_ns, use->bytes, true};
        edges[(*count)++] = (struct edge){use->end_ns, use->bytes, false};
    }
    if (edges)
        qsort(edges, *count, sizeof *edges, compare);
    return edges;
}

static uint64_t peak_of(const struct edge *edges, size_t count)
{
    uint64_t bytes = 0, peak = 0;

    for (size_t i = 0; i < count; i++) {
        bytes = after(&edges[i], bytes);
        peak = bytes > peak ? bytes : peak;
    }
    return peak;
}

bool timeline_peak(const struct timeline_panel *panel, uint32_t memory, uint64_t *peak)
{
    size_t count;
    struct edge *edges = edges_of(panel, memory, &count);

    if (!edges)
        return false;
    *peak = peak_of(edges, count);
    free(edges);
    return true;
}

static bool is_used(const struct timeline_panel *panel, uint32_t memory)
{
    for (size_t i = 0; i < panel->use_count; i++)
        if (panel->uses[i].memory == memory && panel->uses[i].end_ns > panel->uses[i].start_ns)
            return true;
    return false;
}

/* Returns the height of a panel's memories. */
static int timeline_memory_height(const struct timeline_panel *panel)
{
    int height = 0;

    for (uint32_t i = 0; i < panel->memory_count; i++)
        height += is_used(panel, i) ? TRACK + GAP : 0;
    return height;
}

/* Returns the y of a number of bytes; `top` bytes are at the upper edge of the area. */
static int level(uint64_t bytes, uint64_t top, int y)
{
    const int height = (int)((double)bytes / (double)top * TRACK + 0.5);

    return y + TRACK - (height == 0 && bytes > 0 ? 1 : height);
}

/*
 * Draws the area as steps. Each column of pixels has the largest number of bytes of its time, so
 * that no peak is lost.
 */
static void draw_area(struct textw *w, const struct edge *edges, size_t count,
                      const struct timeline_scale *scale, int y, uint64_t top)
{
    uint64_t bytes = 0;
    int before = y + TRACK;
    size_t i = 0;

    textw_printf(w, "<path d=\"M%d %d", scale->x, before);
    for (int x = scale->x; x <= scale->x + scale->width; x++) {
        uint64_t most = bytes;
        int now;

        for (; i < count && timeline_x(scale, edges[i].ns) <= x; i++) {
            bytes = after(&edges[i], bytes);
            most = bytes > most ? bytes : most;
        }
        now = level(most, top, y);
        if (now != before)
            textw_printf(w, "H%dV%d", x, now);
        before = now;
    }
    textw_printf(w, "H%dV%dz\" fill=\"#9cc7bd\" stroke=\"#3d8a7a\"/>\n", scale->x + scale->width,
                 y + TRACK);
}

static void draw_memory_heading(struct textw *w, const struct timeline_memory *memory,
                                uint64_t peak, int x, int y)
{
    const struct svgw_font font = {11, SVGW_START, peak > memory->size ? "#b3261e" : "#27303f"};
    char used[PRINT_TEXT_MAX], size[PRINT_TEXT_MAX];

    svgw_text(w, x, y, &font, "%s: at most %s of %s in use%s", memory->name,
              print_bytes(used, peak), print_bytes(size, memory->size),
              peak > memory->size ? ", which does not fit" : "");
}

/* Returns the bytes at the upper edge: the capacity, or the peak if the capacity is much larger. */
static uint64_t top_of(const struct timeline_memory *memory, uint64_t peak)
{
    if (peak > memory->size || memory->size / 16 > peak)
        return peak > 0 ? peak : 1;
    return memory->size;
}

static void draw_track(struct textw *w, const struct timeline_panel *panel, uint32_t index,
                       const struct timeline_scale *scale, int y)
{
    const struct timeline_memory *memory = &panel->memories[index];
    size_t count;
    struct edge *edges = edges_of(panel, index, &count);
    const uint64_t peak = edges ? peak_of(edges, count) : 0, top = top_of(memory, peak);
    const struct svgw_font tick = {9, SVGW_END, "#5b6575"};
    char text[PRINT_TEXT_MAX];

    if (!edges) {
        w->failed = true;
        return;
    }
    draw_memory_heading(w, memory, peak, scale->x, y - 6);
    svgw_box(w, (struct svgw_box){scale->x, y, scale->width, TRACK}, "fill=\"#f3f5f8\"");
    draw_area(w, edges, count, scale, y, top);
    if (top >= memory->size) {
        const int full = level(memory->size, top, y);

        svgw_line(w, scale->x, full, scale->x + scale->width, full,
                  "stroke=\"#b3261e\" stroke-dasharray=\"5 3\"");
    }
    svgw_text(w, scale->x - 6, y + 8, &tick, "%s", print_bytes(text, top));
    svgw_text(w, scale->x - 6, y + TRACK, &tick, "0");
    free(edges);
}

/* Draws the bytes in use of a panel's memories from y on. */
static void timeline_memory_draw(struct textw *w, const struct timeline_panel *panel,
                                 const struct timeline_scale *scale, int y)
{
    for (uint32_t i = 0; i < panel->memory_count; i++) {
        if (!is_used(panel, i))
            continue;
        draw_track(w, panel, i, scale, y + GAP);
        y += TRACK + GAP;
    }
}

enum {
    MARGIN = 28,
    TOP = 70,     /* height of the title */
    HEADING = 30, /* height of a panel's heading */
    AXIS = 30,    /* height of the axis below the lanes */
    BETWEEN = 24, /* distance between panels */
    LEGEND = 34,  /* height of the legend */
    SHARE = 44,   /* width of the text "87 %" to the right of a lane: its share of busy time */
    WIDTH = 960,  /* width of the time axis */
    WIDTH_MANY = 1480,
    MANY = 60, /* number of slots above which the chart is wider */
    TICKS = 10
};

/* Returns the distance of ticks in nanoseconds: 1, 2 or 5 times a power of ten. */
static uint64_t tick_step(uint64_t span_ns)
{
    static const uint64_t factors[] = {2, 5, 10};
    uint64_t unit = 1;

    for (;;) {
        if (span_ns / unit <= TICKS || unit > UINT64_MAX / 10)
            return unit;
        for (size_t i = 0; i < 3; i++)
            if (span_ns / (unit * factors[i]) <= TICKS)
                return unit * factors[i];
        unit *= 10;
    }
}

/*
 * Writes the time of a tick. The tick at time 0 also has the unit: milliseconds if one digit after
 * the point is enough, else microseconds.
 */
static void tick_text(char out[TIMELINE_TIME_MAX], uint64_t at, uint64_t step_ns)
{
    const bool millis = step_ns % 100000 == 0;
    const uint64_t step = millis ? step_ns / 1000 : step_ns;
    const int decimals = step % 1000 == 0 ? 0 : step % 100 == 0 ? 1 : step % 10 == 0 ? 2 : 3;

    if (at == 0)
        snprintf(out, TIMELINE_TIME_MAX, "0 %s", millis ? "ms" : "\xc2\xb5s");
    else
        timeline_micros(out, millis ? at / 1000 : at, decimals);
}

static int panel_height(const struct timeline_panel *panel)
{
    return HEADING + timeline_lanes_height(panel) + AXIS + timeline_memory_height(panel);
}

static void draw_axis(struct textw *w, const struct timeline_panel *panel,
                      const struct timeline_scale *scale, int y, int bottom)
{
    const struct svgw_font font = {9, SVGW_MIDDLE, "#5b6575"};
    const uint64_t step = tick_step(scale->span_ns);
    const int low = y + timeline_lanes_height(panel);
    char text[TIMELINE_TIME_MAX];

    for (uint64_t at = 0; at <= scale->span_ns; at += step) {
        const int x = timeline_x(scale, at);

        svgw_line(w, x, y - 4, x, bottom, "stroke=\"#e1e5ea\"");
        tick_text(text, at, step);
        svgw_text(w, x, low + 13, &font, "%s", text);
        if (at > UINT64_MAX - step)
            break;
    }
    svgw_line(w, scale->x, low, scale->x + scale->width, low, "stroke=\"#98a1ae\"");
}

/* Panels. */

static void draw_heading(struct textw *w, const struct timeline_panel *panel, int x, int y,
                         bool own_scale)
{
    const struct svgw_font bold = {13, SVGW_START, "#141c2e", .bold = true};
    const struct svgw_font small = {11, SVGW_START, "#5b6575"};
    char time[PRINT_TEXT_MAX];

    svgw_text(w, x, y + 14, &bold, "%s", panel->title);
    svgw_text(w, x + svgw_text_width(panel->title, 14) + 12, y + 14, &small, "%s%s",
              print_time(time, timeline_panel_end(panel)),
              own_scale ? ", on a scale of its own" : "");
}

/* Draws a panel. Returns whether several short slots were drawn as one. */
static bool draw_panel(struct textw *w, const struct timeline_panel *panel,
                       const struct timeline_scale *scale, int y, bool own_scale)
{
    const int top = y + HEADING;
    bool groups;

    draw_heading(w, panel, scale->x, y, own_scale);
    draw_axis(w, panel, scale, top, y + panel_height(panel));
    groups = timeline_lanes_draw(w, panel, scale, top);
    timeline_memory_draw(w, panel, scale, top + timeline_lanes_height(panel) + AXIS - 12);
    return groups;
}

/* The chart. */

static int legend_entry(struct textw *w, int x, int y, const char *fill, const char *word)
{
    const struct svgw_font font = {11, SVGW_START, "#27303f"};
    char style[40];

    snprintf(style, sizeof style, "fill=\"%s\"", fill);
    svgw_box(w, (struct svgw_box){x, y, 12, 12}, style);
    svgw_text(w, x + 17, y + 10, &font, "%s", word);
    return x + 17 + svgw_text_width(word, 11) + 18;
}

static void draw_legend(struct textw *w, const struct timeline_chart *chart, int x, int y,
                        bool groups)
{
    const struct svgw_font font = {11, SVGW_START, "#5b6575"};
    bool used[TIMELINE_KINDS] = {false};

    for (uint32_t p = 0; p < chart->panels; p++)
        for (size_t i = 0; i < chart->panel[p].slot_count; i++)
            used[chart->panel[p].slots[i].kind] = true;
    for (int kind = 0; kind < TIMELINE_KINDS; kind++)
        if (used[kind])
            x = legend_entry(w, x, y, kinds[kind].fill, kinds[kind].word);
    if (groups)
        svgw_text(w, x, y + 10, &font,
                  "bars of short jobs: the height is the share of time that they run");
}

/* Returns the width of the names left of the lanes. */
static int names_width(const struct timeline_chart *chart)
{
    int widest = 60;

    for (uint32_t p = 0; p < chart->panels; p++) {
        const struct timeline_panel *panel = &chart->panel[p];

        for (uint32_t i = 0; i < panel->lane_count; i++) {
            char text[LANE_NAME_MAX];
            const int width = svgw_text_width(lane_name(text, panel, i), 11);

            widest = width > widest ? width : widest;
        }
    }
    return widest;
}

static int axis_width(const struct timeline_chart *chart)
{
    for (uint32_t p = 0; p < chart->panels; p++)
        if (chart->panel[p].slot_count > MANY)
            return WIDTH_MANY;
    return WIDTH;
}

static void draw_title(struct textw *w, const struct timeline_chart *chart)
{
    const struct svgw_font title = {20, SVGW_START, "#141c2e", .bold = true};
    const struct svgw_font line = {12, SVGW_START, "#5b6575"};

    svgw_text(w, MARGIN, 36, &title, "%s", chart->title);
    if (chart->subtitle)
        svgw_text(w, MARGIN, 56, &line, "%s", chart->subtitle);
}

static void draw_panels(struct textw *w, const struct timeline_chart *chart, int width)
{
    struct timeline_scale scale = {.x = MARGIN + names_width(chart) + 10, .width = width};
    uint64_t longest = 1;
    bool groups = false;
    int y = TOP;

    for (uint32_t p = 0; p < chart->panels; p++) {
        const uint64_t end = timeline_panel_end(&chart->panel[p]);

        longest = end > longest ? end : longest;
    }
    for (uint32_t p = 0; p < chart->panels; p++) {
        const uint64_t end = timeline_panel_end(&chart->panel[p]);
        const bool own = end > 0 && end < longest / 8;

        scale.span_ns = own ? end : longest;
        groups |= draw_panel(w, &chart->panel[p], &scale, y, own);
        y += panel_height(&chart->panel[p]) + BETWEEN;
    }
    draw_legend(w, chart, scale.x, y, groups);
}

void timeline_chart(struct textw *w, const struct timeline_chart *chart)
{
    const int width = axis_width(chart);
    int height = TOP + LEGEND;

    for (uint32_t p = 0; p < chart->panels; p++)
        height += panel_height(&chart->panel[p]) + BETWEEN;
    svgw_begin(w, 2 * MARGIN + names_width(chart) + 10 + width + SHARE, height);
    textw_printf(w, "<defs><marker id=\"arrow\" markerWidth=\"7\" markerHeight=\"6\" refX=\"6\" "
                    "refY=\"3\" orient=\"auto\"><path d=\"M0 0L7 3L0 6z\" fill=\"#141c2e\"/>"
                    "</marker></defs>\n");
    svgw_box(w,
             (struct svgw_box){0, 0, 2 * MARGIN + names_width(chart) + 10 + width + SHARE, height},
             "rx=\"8\" fill=\"#ffffff\"");
    draw_title(w, chart);
    draw_panels(w, chart, width);
    svgw_end(w);
}

int timeline_chart_save(const struct timeline_chart *chart, const char *path, struct fault *fault)
{
    struct textw w;

    textw_init(&w);
    timeline_chart(&w, chart);
    return output_save_text(&w, path, "<", "a drawing", fault);
}
