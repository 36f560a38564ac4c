/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/explain/timeline_chart.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/explain/save_text.h"
#include "cli/explain/timeline_parts.h"
#include "cli/term/print.h"

enum {
    MARGIN = 28,
    TOP = 70,     /* height of the title */
    HEADING = 30, /* height of a panel's heading */
    AXIS = 30,    /* height of the axis below the lanes */
    BETWEEN = 24, /* between panels */
    LEGEND = 34,  /* height of the legend */
    SHARE = 44,   /* width of the share of busy time, right of a lane */
    WIDTH = 960,  /* width of the time axis */
    WIDTH_MANY = 1480,
    MANY = 60, /* slots from which on the axis is longer */
    TICKS = 10
};

uint64_t timeline_panel_end(const struct timeline_panel *panel)
{
    uint64_t end = 0;

    for (size_t i = 0; i < panel->slot_count; i++)
        end = panel->slots[i].end_ns > end ? panel->slots[i].end_ns : end;
    for (size_t i = 0; i < panel->use_count; i++)
        end = panel->uses[i].end_ns > end ? panel->uses[i].end_ns : end;
    return end;
}

void timeline_lane_names(char names[][TIMELINE_LANE_NAME_MAX], const char *lanes[],
                         uint32_t channels)
{
    for (uint32_t i = 0; i <= channels; i++) {
        if (i < channels)
            snprintf(names[i], TIMELINE_LANE_NAME_MAX, "channel %" PRIu32, i);
        else
            snprintf(names[i], TIMELINE_LANE_NAME_MAX, "core");
        lanes[i] = names[i];
    }
}

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

/* Writes the time of a tick, and its unit at time 0: milliseconds if they need 1 digit at most. */
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

/* Returns whether the panel has groups of slots. */
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
            x = legend_entry(w, x, y, timeline_kind_fill((enum timeline_kind)kind),
                             timeline_kind_word((enum timeline_kind)kind));
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
            const int width = panel->lanes ? svgw_text_width(panel->lanes[i], 11)
                                           : svgw_text_width(panel->lane_word, 11) + 20;

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
    if (w.failed || strcmp(path, "-") != 0)
        return save_text(&w, path, "<", "a drawing", fault);
    print_text(&w);
    textw_finish(&w);
    return 0;
}
