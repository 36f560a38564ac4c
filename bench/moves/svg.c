/* SPDX-License-Identifier: BSD-3-Clause */
#include "bench/moves/svg.h"

#include <math.h>
#include <stdio.h>

#include "bench/moves/export.h"
#include "mli_api.h"

enum {
    MARGIN = 24,
    LABELS = 236,
    PANEL = 270,
    GAP = 38,
    ROW = 30,
    TOP = 122,
    BOTTOM = 76,
    WIDTH_MIN = 800
};

/* The bounds of the logarithmic axis; values beyond them are drawn at its end. */
#define LOWEST  0.5
#define HIGHEST 32.0

static const char *const colours[OPTIONS_ELEMS] = {"#0f6fb8", "#d9792b", "#3a8f5c"};

struct plot {
    FILE *f;
    const struct result_list *list;
    const struct options *o;
    int row[CASE_LISTED]; /* row of each case; -1: not measured */
    int rows;
};

static double across(double ratio)
{
    const double clamped = fmin(fmax(ratio, LOWEST), HIGHEST);

    return log(clamped / LOWEST) / log(HIGHEST / LOWEST) * PANEL;
}

static int panel_left(int s)
{
    return MARGIN + LABELS + s * (PANEL + GAP);
}

static int bottom(const struct plot *p)
{
    return TOP + p->rows * ROW;
}

/* Gives a row to each listed case that was measured. */
static void find_rows(struct plot *p)
{
    for (int i = 0; i < CASE_LISTED; i++) {
        p->row[i] = -1;
        for (int k = 0; k < p->list->count && p->row[i] < 0; k++) {
            if (p->list->at[k].number == i)
                p->row[i] = p->rows++;
        }
    }
}

/* Writes text with XML's special characters escaped. */
static void text(const struct plot *p, const char *words)
{
    for (; *words; words++) {
        if (*words == '>')
            fputs("&gt;", p->f);
        else if (*words == '<')
            fputs("&lt;", p->f);
        else if (*words == '&')
            fputs("&amp;", p->f);
        else
            fputc(*words, p->f);
    }
}

static void begin(const struct plot *p)
{
    const int wanted = panel_left(p->o->kib_count) - GAP + MARGIN,
              width = wanted > WIDTH_MIN ? wanted : WIDTH_MIN, height = bottom(p) + BOTTOM;

    fprintf(p->f,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
            "viewBox=\"0 0 %d %d\" font-family=\"Helvetica, Arial, DejaVu Sans, sans-serif\" "
            "font-size=\"12\" fill=\"#333\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
            "<text x=\"%d\" y=\"36\" font-size=\"19\" font-weight=\"bold\" fill=\"#111\">"
            "Moving tensors: time as a multiple of memcpy</text>\n",
            width, height, width, height, MARGIN);
}

static void legend(const struct plot *p)
{
    int x = MARGIN;

    for (int e = 0; e < p->o->elem_count; e++, x += 76) {
        fprintf(p->f, "<circle cx=\"%d\" cy=\"58\" r=\"5\" fill=\"%s\"/><text x=\"%d\" y=\"62\">",
                x + 6, colours[e], x + 17);
        fprintf(p->f, "%u-byte</text>\n", p->o->elem[e]);
    }
    fprintf(p->f,
            "<circle cx=\"%d\" cy=\"58\" r=\"4.5\" fill=\"#777\"/><text x=\"%d\" y=\"62\">libmli"
            "</text>\n"
            "<circle cx=\"%d\" cy=\"58\" r=\"4\" fill=\"#fff\" stroke=\"#777\" "
            "stroke-width=\"1.5\"/><text x=\"%d\" y=\"62\">best other library</text>\n"
            "<line x1=\"%d\" y1=\"58\" x2=\"%d\" y2=\"58\" stroke=\"#d33\" stroke-width=\"2.5\"/>"
            "<text x=\"%d\" y=\"62\">libmli is slower (by over 3 %%)</text>\n",
            x + 24, x + 34, x + 96, x + 106, x + 234, x + 256, x + 264);
}

static void case_names(const struct plot *p)
{
    for (int i = 0; i < CASE_LISTED; i++) {
        if (p->row[i] < 0)
            continue;
        const int y = TOP + p->row[i] * ROW;

        if (p->row[i] % 2 == 0)
            fprintf(p->f, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#f4f5f7\"/>\n",
                    MARGIN - 8, y, panel_left(p->o->kib_count) - GAP - MARGIN + 16, ROW);
        fprintf(p->f, "<text x=\"%d\" y=\"%d\">", MARGIN, y + ROW / 2 + 4);
        text(p, p->list->kinds[i].name);
        fprintf(p->f, "</text>\n");
    }
}

static void grid(const struct plot *p, int s)
{
    static const double lines[] = {0.5, 1, 2, 4, 8, 16, 32};
    const int left = panel_left(s), low = bottom(p);
    char name[RESULT_NAME];

    fprintf(p->f,
            "<text x=\"%d\" y=\"%d\" font-size=\"14\" font-weight=\"bold\" "
            "text-anchor=\"middle\" fill=\"#111\">%s</text>\n",
            left + PANEL / 2, TOP - 26, result_size(p->o->kib[s], name));
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        const bool one = lines[i] > 0.9 && lines[i] < 1.1;
        const double x = left + across(lines[i]);

        fprintf(p->f,
                "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"%s\" "
                "stroke-width=\"%s\"/>\n",
                x, TOP, x, low, one ? "#555" : "#d5d8dc", one ? "1.4" : "1");
        for (int end = 0; end < 2; end++)
            fprintf(p->f,
                    "<text x=\"%.1f\" y=\"%d\" font-size=\"11\" text-anchor=\"middle\" "
                    "fill=\"%s\"%s>%g</text>\n",
                    x, end ? low + 16 : TOP - 7, one ? "#111" : "#777",
                    one ? " font-weight=\"bold\"" : "", lines[i]);
    }
}

static void dots(const struct plot *p, const struct result *r, int s, int e)
{
    const int best = result_best(p->list, r);
    const double y = TOP + p->row[r->number] * ROW + ROW * (e + 1.0) / (p->o->elem_count + 1.0),
                 x = panel_left(s) + across(r->ours.median);

    if (best >= 0) {
        const double other = panel_left(s) + across(r->peer[best].median);
        const bool slower = r->ours.median > 1.03 * r->peer[best].median;

        fprintf(p->f,
                "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" "
                "stroke-width=\"%s\"/>\n"
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"#fff\" stroke=\"%s\" "
                "stroke-width=\"1.3\"><title>%s %.2f</title></circle>\n",
                x, y, other, y, slower ? "#d33" : colours[e], slower ? "2.5" : "1", other, y,
                colours[e], p->list->peers.at[best]->name, r->peer[best].median);
    }
    fprintf(p->f,
            "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3.6\" fill=\"%s\"><title>libmli %.2f</title>"
            "</circle>\n",
            x, y, colours[e], r->ours.median);
}

static void foot(const struct plot *p)
{
    const int y = bottom(p) + 42;

    fprintf(p->f,
            "<g font-size=\"11\" fill=\"#777\"><text x=\"%d\" y=\"%d\">1: memcpy of the "
            "destination&#8217;s bytes, timed in turn; medians. Values above %g are drawn at the "
            "edge."
            "</text>\n<text x=\"%d\" y=\"%d\">Other libraries: ",
            MARGIN, y, HIGHEST, MARGIN, y + 16);
    for (int i = 0; i < p->list->peers.count; i++) {
        fputs(i ? ", " : "", p->f);
        text(p, p->list->peers.at[i]->name);
        fputc(' ', p->f);
        text(p, p->list->peers.version[i]);
    }
    fprintf(p->f, "%s. Kernels: %s.</text></g>\n</svg>\n", p->list->peers.count ? "" : "none",
            mli_cpu_level());
}

int svg_write(const struct result_list *list, const struct options *o, const char *path)
{
    struct plot p = {.f = export_open(path), .list = list, .o = o};

    if (!p.f)
        return -1;
    find_rows(&p);
    begin(&p);
    legend(&p);
    case_names(&p);
    for (int s = 0; s < o->kib_count; s++) {
        grid(&p, s);
        for (int i = 0; i < CASE_LISTED; i++) {
            for (int e = 0; e < o->elem_count; e++) {
                const struct result *r = result_find(list, i, o->elem[e], o->kib[s]);

                if (r)
                    dots(&p, r, s, e);
            }
        }
    }
    foot(&p);
    return export_close(p.f, path);
}
