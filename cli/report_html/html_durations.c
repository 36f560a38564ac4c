/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/report_html/html_durations.h"

#include <inttypes.h>

#include "cli/term/print.h"

enum { BAR = 26, GAP = 4, HEIGHT = 110, BASE = 18 };

/* Lower ends of the bins of a decade, in tenths of its beginning. */
static const unsigned tenths[DURATIONS_PER_DECADE] = {10, 18, 32, 56};

/* Returns the first duration of a bin in ns; bin 0 begins at 0. */
static uint64_t begin_of(size_t bin)
{
    uint64_t ns = 1000;

    if (bin == 0)
        return 0;
    for (size_t decade = 1; decade <= (bin - 1) / DURATIONS_PER_DECADE; decade++)
        ns *= 10;
    return ns * tenths[(bin - 1) % DURATIONS_PER_DECADE] / 10;
}

void durations_add(struct durations *durations, uint64_t ns)
{
    size_t bin = 0;

    while (bin + 1 < DURATIONS_BINS && ns >= begin_of(bin + 1))
        bin++;
    durations->count[bin]++;
    durations->all++;
}

/* Finds the first and last bin with cases, and the largest number. */
static size_t find_range(const struct durations *durations, size_t *first, size_t *last)
{
    size_t most = 0;

    *first = DURATIONS_BINS;
    for (size_t bin = 0; bin < DURATIONS_BINS; bin++) {
        const size_t count = durations->count[bin];

        if (count == 0)
            continue;
        *first = *first < bin ? *first : bin;
        *last = bin;
        most = count > most ? count : most;
    }
    return most;
}

static void write_bar(struct textw *w, const struct durations *durations, size_t bin, size_t x,
                      size_t most)
{
    const size_t count = durations->count[bin];
    const size_t height = count ? 2 + count * (HEIGHT - 2) / most : 0;
    char from[PRINT_TEXT_MAX];

    textw_printf(
        w,
        "<rect x=\"%zu\" y=\"%zu\" width=\"%d\" height=\"%zu\"><title>%zu case%s from %s on"
        "</title></rect>",
        x, BASE + HEIGHT - height, BAR, height, count, print_s(count),
        print_time(from, begin_of(bin)));
    if (count)
        textw_printf(w, "<text x=\"%zu\" y=\"%zu\" text-anchor=\"middle\">%zu</text>", x + BAR / 2,
                     BASE + HEIGHT - height - 4, count);
}

/* Writes the time at the left edge of a bin. */
static void write_tick(struct textw *w, size_t bin, size_t x)
{
    char from[PRINT_TEXT_MAX];

    textw_printf(w, "<text x=\"%zu\" y=\"%d\" text-anchor=\"middle\">%s</text>", x,
                 BASE + HEIGHT + 16, print_time(from, begin_of(bin)));
}

void durations_write(struct textw *w, const struct durations *durations)
{
    size_t first, last = 0, x = 30;

    if (durations->all == 0)
        return;
    const size_t most = find_range(durations, &first, &last);
    const size_t width = 60 + (last - first + 1) * (BAR + GAP);
    textw_printf(
        w,
        "<section class=\"times\" aria-labelledby=\"times\"><h2 id=\"times\">Durations</h2>\n"
        "<svg viewBox=\"0 0 %zu %d\" width=\"%zu\" role=\"img\" aria-label=\"Number of cases for "
        "each range of durations\">",
        width, BASE + HEIGHT + 24, width);
    for (size_t bin = first; bin <= last; bin++, x += BAR + GAP) {
        write_bar(w, durations, bin, x, most);
        if (bin > 0 && (bin - 1) % DURATIONS_PER_DECADE == 0)
            write_tick(w, bin, x);
    }
    if (last < DURATIONS_BINS - 1 && last % DURATIONS_PER_DECADE == 0)
        write_tick(w, last + 1, x);
    textw_printf(w, "</svg></section>\n");
}
