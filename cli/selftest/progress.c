/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/selftest/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/term/print.h"
#include "cli/term/terminal.h"

enum { SHOWN_MAX = 256 };

#define PATIENCE_NS (UINT64_C(1000) * 1000 * 1000)
#define PERIOD_NS   (UINT64_C(250) * 1000 * 1000)

void progress_show(struct progress *progress, const struct round *round)
{
    const struct round_plan *plan = round->plan;
    const uint64_t now = flight_now_ns();
    char bytes[PRINT_TEXT_MAX], total[PRINT_TEXT_MAX] = "", line[SHOWN_MAX];
    int rows = 0, columns = SHOWN_MAX;
    if (now - round->begin_ns < PATIENCE_NS || now - progress->shown_ns < PERIOD_NS)
        return;
    if (plan->iterations != UINT64_MAX)
        snprintf(total, sizeof(total), " of %" PRIu64, plan->iterations);
    snprintf(line, sizeof(line), "%s: %" PRIu64 "%s cases, %s", round->engine, round->cases, total,
             print_bytes(bytes, round->bytes));
    /* To the line's beginning, and what follows is cleared; a second line would stay. */
    terminal_size(STDERR_FILENO, &rows, &columns);
    fprintf(stderr, "\r%.*s\033[K", columns - 1, line);
    fflush(stderr);
    progress->shown = true;
    progress->shown_ns = now;
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        fprintf(stderr, "\r\033[K");
    progress->shown = false;
}
