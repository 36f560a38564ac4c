/* SPDX-License-Identifier: BSD-3-Clause */
#include "meter.h"

#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"
#include "escaped.h"
#include "live.h"
#include "terminal.h"

#define PATIENCE_NS (UINT64_C(500) * CLOCK_NS_PER_MS)
#define PERIOD_NS   (UINT64_C(100) * CLOCK_NS_PER_MS)

/* The program that reads a pipe may write to the same terminal. */
static bool output_is_pipe(void)
{
    struct stat output;
    return fstat(STDOUT_FILENO, &output) == 0 &&
           (S_ISFIFO(output.st_mode) || S_ISSOCK(output.st_mode));
}

bool meter_wanted(const struct print_style *style)
{
    return !style->quiet && !style->json && terminal_draws(STDERR_FILENO) && !output_is_pipe();
}

void meter_begin(struct meter *meter, const struct print_style *style, const char *label)
{
    *meter = (struct meter){.begin_ns = clock_ns()};
    if (!meter_wanted(style))
        return;
    meter->label = label;
    live_begin(STDERR_FILENO);
}

static void put_left(struct textw *w, uint64_t seconds)
{
    const uint64_t hours = seconds / 3600, minutes = seconds / 60 % 60;
    if (hours > 99)
        textw_printf(w, ", more than 99 h left");
    else if (hours > 0)
        textw_printf(w, ", %" PRIu64 ":%02" PRIu64 ":%02" PRIu64 " left", hours, minutes,
                     seconds % 60);
    else
        textw_printf(w, ", %" PRIu64 ":%02" PRIu64 " left", minutes, seconds % 60);
}

static void put_line(struct textw *w, const char *label, uint64_t done, uint64_t total, uint64_t ns)
{
    char bytes[PRINT_TEXT_MAX], all[PRINT_TEXT_MAX], rate[PRINT_TEXT_MAX];
    escaped_write(w, label, escaped_plain);
    textw_printf(w, ": %s of %s, %u %%", print_bytes(bytes, done), print_bytes(all, total),
                 (unsigned)((double)done * 100 / (double)total));
    if (done == 0)
        return;
    const double per_ns = (double)done / (double)ns;
    textw_printf(w, ", %s/s", print_bytes(rate, (uint64_t)(per_ns * 1e9)));
    put_left(w, (uint64_t)((double)(total - done) / per_ns / 1e9 + 0.5));
}

void meter_show(struct meter *meter, uint64_t done, uint64_t total)
{
    if (!meter->label || total == 0 || done > total)
        return;
    const uint64_t now = clock_ns();
    if (now - meter->begin_ns < PATIENCE_NS || now - meter->shown_ns < PERIOD_NS)
        return;
    meter->shown_ns = now;
    if (cancel_requested()) {
        live_hide();
        return;
    }
    struct textw w;
    textw_init(&w);
    put_line(&w, meter->label, done, total, now - meter->begin_ns);
    if (!w.failed)
        live_show(w.data);
    textw_finish(&w);
}

void meter_end(struct meter *meter)
{
    if (meter->label)
        live_end();
    *meter = (struct meter){0};
}
