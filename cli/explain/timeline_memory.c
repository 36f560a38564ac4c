/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdlib.h>

#include "cli/explain/timeline_parts.h"
#include "cli/term/print.h"

enum { TRACK = 56 /* height of the area */, GAP = 26 /* between areas, with a heading */ };

/* A change of the bytes in use. */
struct edge {
    uint64_t ns, bytes;
    bool begins;
};

/* At equal times ends come first: a job takes the room of the job before. */
static int compare(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns < y->ns ? -1 : 1;
    return (int)x->begins - (int)y->begins;
}

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

/* Returns the sorted changes of a memory (heap), or null if out of memory. */
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

static uint64_t after(const struct edge *edge, uint64_t bytes)
{
    if (edge->begins)
        return plus(bytes, edge->bytes);
    return bytes > edge->bytes ? bytes - edge->bytes : 0;
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

int timeline_memory_height(const struct timeline_panel *panel)
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

static void draw_heading(struct textw *w, const struct timeline_memory *memory, uint64_t peak,
                         int x, int y)
{
    const struct svgw_font font = {11, SVGW_START, peak > memory->size ? "#b3261e" : "#27303f"};
    char used[PRINT_TEXT_MAX], size[PRINT_TEXT_MAX];

    svgw_text(w, x, y, &font, "%s: at most %s of %s in use%s", memory->name,
              print_bytes(used, peak), print_bytes(size, memory->size),
              peak > memory->size ? ", which does not fit" : "");
}

/* Returns the bytes at the upper edge: the capacity, or the peak if the capacity dwarfs it. */
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
    draw_heading(w, memory, peak, scale->x, y - 6);
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

void timeline_memory_draw(struct textw *w, const struct timeline_panel *panel,
                          const struct timeline_scale *scale, int y)
{
    for (uint32_t i = 0; i < panel->memory_count; i++) {
        if (!is_used(panel, i))
            continue;
        draw_track(w, panel, i, scale, y + GAP);
        y += TRACK + GAP;
    }
}
