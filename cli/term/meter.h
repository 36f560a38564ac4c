/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A line on a terminal that shows how far one long piece of work is, in bytes:
 *
 *     tile.json: 1.21 GiB of 3.00 GiB, 40 %, 1.31 GiB/s, 0:02 left
 *
 * The line is on standard error and comes after half a second. Nothing is shown where standard
 * error is no terminal, where standard output is a pipe, and with --json and --quiet. On a narrow
 * terminal the label is cut ("long-na...: 1.21 GiB of 3.00 GiB, 40 %"), then the speed is left out.
 */
#ifndef CLI_METER_H
#define CLI_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/term/print.h"

struct meter {
    const char *label; /* borrowed; null: nothing is shown */
    uint64_t begin_ns, shown_ns;
};

/** Returns whether a meter shows a line in this style. */
bool meter_wanted(const struct print_style *style);

/** Starts the clock. `label` must stay valid until meter_end(). */
void meter_begin(struct meter *meter, const struct print_style *style, const char *label);

/** Shows the line, at most ten times a second. Costs nothing noticeable in between. */
void meter_show(struct meter *meter, uint64_t done, uint64_t total);

/** Clears the line. */
void meter_end(struct meter *meter);

#endif /* CLI_METER_H */
