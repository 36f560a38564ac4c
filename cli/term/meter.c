/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/term/print.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/term/cancel.h"
#include "cli/term/clock_ns.h"
#include "cli/term/terminal.h"

#define PATIENCE_NS (UINT64_C(500) * CLOCK_NS_PER_MS)
#define PERIOD_NS   (UINT64_C(100) * CLOCK_NS_PER_MS)

#define CUT "..." /* text that replaces the end of a long label */
enum { LABEL_MIN = 8 };

/*
 * Returns whether standard output is a pipe: then no line is shown, because the reader of the pipe
 * may write to the same terminal.
 */
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
    terminal_line_begin(STDERR_FILENO);
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

static void put_done(struct textw *w, uint64_t done, uint64_t total)
{
    char bytes[PRINT_TEXT_MAX], all[PRINT_TEXT_MAX];
    textw_printf(w, "%s of %s, %u %%", print_bytes(bytes, done), print_bytes(all, total),
                 (unsigned)((double)done * 100 / (double)total));
}

static void put_speed(struct textw *w, uint64_t done, uint64_t total, uint64_t ns)
{
    char rate[PRINT_TEXT_MAX];
    if (done == 0)
        return;
    const double per_ns = (double)done / (double)ns;
    textw_printf(w, ", %s/s", print_bytes(rate, (uint64_t)(per_ns * 1e9)));
    put_left(w, (uint64_t)((double)(total - done) / per_ns / 1e9 + 0.5));
}

/* Writes the label and a colon, cut to `room` characters. */
static void put_label(struct textw *w, const char *label, size_t room)
{
    struct textw plain;
    textw_init(&plain);
    escaped_write(&plain, label, escaped_plain);
    size_t length = plain.failed ? 0 : plain.length;
    if (length > 0 && length + 2 <= room) {
        textw_printf(w, "%s: ", plain.data);
    } else if (length > 0 && room >= LABEL_MIN + 2) {
        size_t kept = room - 2 - strlen(CUT);
        while (kept > 0 && (plain.data[kept] & 0xc0) == 0x80)
            kept--; /* do not cut inside a character of several bytes */
        textw_printf(w, "%.*s" CUT ": ", (int)kept, plain.data);
    }
    textw_finish(&plain);
}

/* Writes the line. If it is too long, cuts the label to LABEL_MIN; if that is not enough, omits
 * the speed. */
static void put_line(struct textw *w, const char *label, uint64_t done, uint64_t total, uint64_t ns)
{
    struct textw numbers, speed;
    textw_init(&numbers);
    textw_init(&speed);
    put_done(&numbers, done, total);
    put_speed(&speed, done, total, ns);
    size_t columns = (size_t)terminal_line_columns();
    if (numbers.length + speed.length + LABEL_MIN + 2 <= columns)
        textw_printf(&numbers, "%s", speed.length > 0 ? speed.data : "");
    put_label(w, label, columns > numbers.length ? columns - numbers.length : 0);
    textw_printf(w, "%s", numbers.failed ? "" : numbers.data);
    textw_finish(&speed);
    textw_finish(&numbers);
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
        terminal_line_hide();
        return;
    }
    struct textw w;
    textw_init(&w);
    put_line(&w, meter->label, done, total, now - meter->begin_ns);
    if (!w.failed)
        terminal_line_show(w.data);
    textw_finish(&w);
}

void meter_end(struct meter *meter)
{
    if (meter->label)
        terminal_line_end();
    *meter = (struct meter){0};
}
