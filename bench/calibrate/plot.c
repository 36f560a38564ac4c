/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/calibrate/plot.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SIZE = 560, LEFT = 92, TOP = 96, BOTTOM = 64, LEGEND = 220, LABEL_MAX = 24, GROUPS = 4 };
#define WITHIN 0.25 /* relative error at the edges of the band around the diagonal */

/* Groups of classes, each group with a colour. */
static const struct group {
    const char *name, *colour;
    enum move_class first, last;
} groups[GROUPS] = {
    {"zeros", "#777777", MOVE_CLASS_ZEROS, MOVE_CLASS_ZEROS},
    {"rows", "#0f6fb8", MOVE_CLASS_ROW, MOVE_CLASS_LONG_ROWS},
    {"gathers", "#3a8f5c", MOVE_CLASS_GATHER_1, MOVE_CLASS_GATHER_8},
    {"transposes", "#d9792b", MOVE_CLASS_TRANSPOSE_1, MOVE_CLASS_TRANSPOSE_8},
};

struct plot {
    FILE *f;
    const struct calibration *c;
    int low, high; /* the axes show 10^low to 10^high ns */
};

static double ns_of(const struct plot *p, double cycles)
{
    return cycles * 1e9 / (double)p->c->profile.clock_hz;
}

/* Returns the position on an axis, 0 to SIZE. */
static double along(const struct plot *p, double ns)
{
    const double share = (log10(ns) - p->low) / (p->high - p->low);

    return fmin(fmax(share, 0), 1) * SIZE;
}

static void find_axes(struct plot *p)
{
    double least = HUGE_VAL, most = 0;

    for (size_t i = 0; i < p->c->checked_count; i++) {
        const struct checked_move *move = &p->c->checked[i];

        least = fmin(least, fmin(ns_of(p, move->measured), ns_of(p, move->predicted)));
        most = fmax(most, fmax(ns_of(p, move->measured), ns_of(p, move->predicted)));
    }
    p->low = (int)floor(log10(fmax(least, 1)));
    p->high = (int)ceil(log10(fmax(most, 10)));
    if (p->high == p->low)
        p->high++;
}

static const char *label(char out[LABEL_MAX], int decade)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    const int unit = decade / 3 < 3 ? decade / 3 : 3;

    snprintf(out, LABEL_MAX, "%.0f %s", pow(10, decade - 3 * unit), units[unit]);
    return out;
}

static void draw_text(FILE *f, double x, double y, const char *anchor, const char *text)
{
    fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor, text);
}

static void draw_line(FILE *f, double x1, double y1, double x2, double y2, const char *style)
{
    fprintf(f, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2, y2,
            style);
}

static void draw_axes(const struct plot *p)
{
    char text[LABEL_MAX];

    for (int decade = p->low; decade <= p->high; decade++) {
        const double at = along(p, pow(10, decade));

        draw_line(p->f, LEFT + at, TOP, LEFT + at, TOP + SIZE, "stroke=\"#dddddd\"");
        draw_line(p->f, LEFT, TOP + SIZE - at, LEFT + SIZE, TOP + SIZE - at, "stroke=\"#dddddd\"");
        draw_text(p->f, LEFT + at, TOP + SIZE + 20, "middle", label(text, decade));
        draw_text(p->f, LEFT - 8, TOP + SIZE - at + 4, "end", label(text, decade));
    }
    draw_text(p->f, LEFT + SIZE / 2.0, TOP + SIZE + 44, "middle", "measured time");
    fprintf(p->f,
            "<text transform=\"translate(22 %.1f) rotate(-90)\" text-anchor=\"middle\">predicted "
            "time</text>\n",
            TOP + SIZE / 2.0);
}

/* Draws predicted = factor * measured. */
static void draw_ratio(const struct plot *p, double factor, const char *style)
{
    const double from = fmax(1, 1 / factor) * pow(10, p->low);
    const double to = fmin(1, 1 / factor) * pow(10, p->high);

    draw_line(p->f, LEFT + along(p, from), TOP + SIZE - along(p, from * factor),
              LEFT + along(p, to), TOP + SIZE - along(p, to * factor), style);
}

static void draw_moves(const struct plot *p)
{
    for (size_t i = 0; i < p->c->checked_count; i++) {
        const struct checked_move *move = &p->c->checked[i];

        for (int g = 0; g < GROUPS; g++)
            if (move->class >= groups[g].first && move->class <= groups[g].last)
                fprintf(p->f,
                        "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.4\" fill=\"%s\" "
                        "fill-opacity=\"0.6\"/>\n",
                        LEFT + along(p, ns_of(p, move->measured)),
                        TOP + SIZE - along(p, ns_of(p, move->predicted)), groups[g].colour);
    }
}

static void draw_legend(const struct plot *p)
{
    const double x = LEFT + SIZE + 24;
    double y = TOP + 14;

    for (int g = 0; g < GROUPS; g++, y += 24) {
        fprintf(p->f, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"5\" fill=\"%s\"/>\n", x, y - 4,
                groups[g].colour);
        draw_text(p->f, x + 14, y, "start", groups[g].name);
    }
    draw_line(p->f, x - 6, y - 4, x + 6, y - 4, "stroke=\"#333333\"");
    draw_text(p->f, x + 14, y, "start", "equal");
    y += 24;
    draw_line(p->f, x - 6, y - 4, x + 6, y - 4, "stroke=\"#333333\" stroke-dasharray=\"3 3\"");
    draw_text(p->f, x + 14, y, "start", "25 % more or less");
}

static void draw(const struct plot *p)
{
    const struct calibration *c = p->c;
    char text[256];

    fprintf(
        p->f,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "font-family=\"sans-serif\" font-size=\"13\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
        "<text x=\"%d\" y=\"36\" font-size=\"18\">Predicted and measured times of moves</text>\n",
        LEFT + SIZE + LEGEND, TOP + SIZE + BOTTOM, LEFT);
    snprintf(text, sizeof text,
             "%s: %zu moves that the calibration has not seen; median error %.1f %%, 95 of 100 "
             "within %.1f %%",
             c->engine, c->all.moves, c->all.median * 100, c->all.p95 * 100);
    draw_text(p->f, LEFT, 60, "start", text);
    draw_axes(p);
    draw_ratio(p, 1, "stroke=\"#333333\"");
    draw_ratio(p, 1 + WITHIN, "stroke=\"#333333\" stroke-dasharray=\"3 3\"");
    draw_ratio(p, 1 - WITHIN, "stroke=\"#333333\" stroke-dasharray=\"3 3\"");
    draw_moves(p);
    draw_legend(p);
    fprintf(p->f, "</svg>\n");
}

int plot_write(const struct calibration *calibration, const char *path)
{
    struct plot plot = {.f = fopen(path, "w"), .c = calibration};
    int error = plot.f ? 0 : errno;

    if (plot.f) {
        find_axes(&plot);
        draw(&plot);
        error = ferror(plot.f) ? EIO : 0;
        error = fclose(plot.f) != 0 ? errno : error;
    }
    if (error == 0)
        return 0;
    fprintf(stderr, "%s: %s\n", path, strerror(error));
    return -1;
}
