/* SPDX-License-Identifier: BSD-3-Clause */
#include "progress.h"

#include <inttypes.h>
#include <stdio.h>

#include "print.h"

#define PATIENCE_NS (UINT64_C(1000) * 1000 * 1000)
#define PERIOD_NS   (UINT64_C(250) * 1000 * 1000)

void progress_show(struct progress *progress, const struct round *round)
{
    const struct round_plan *plan = round->plan;
    const uint64_t now = flight_now_ns();
    char bytes[PRINT_TEXT_MAX], total[PRINT_TEXT_MAX] = "";
    if (now - round->begin_ns < PATIENCE_NS || now - progress->shown_ns < PERIOD_NS)
        return;
    if (plan->iterations != UINT64_MAX)
        snprintf(total, sizeof(total), " of %" PRIu64, plan->iterations);
    /* To the line's beginning, and what follows is cleared. */
    fprintf(stderr, "\r%s: %" PRIu64 "%s cases, %s\033[K", round->engine, round->cases, total,
            print_bytes(bytes, round->bytes));
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
