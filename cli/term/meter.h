/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A live line (terminal.h) that shows the progress of one long operation, in bytes:
 *
 *     tile.json: 1.21 GiB of 3.00 GiB, 40 %, 1.31 GiB/s, 0:02 left
 *
 * The line appears on standard error after half a second. There is no line if standard error is not
 * a terminal, if standard output is a pipe, and with --json and --quiet. On a narrow terminal, the
 * label is cut ("long-na...: 1.21 GiB of 3.00 GiB, 40 %"), then the speed is left out.
 */
#ifndef CLI_METER_H
#define CLI_METER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/term/print.h"

struct meter {
    const char *label; /* borrowed; null: no line */
    uint64_t begin_ns, shown_ns;
};

/** Returns whether a meter shows a line in this style. */
bool meter_wanted(const struct print_style *style);

/** Starts the clock. `label` must stay valid until meter_end(). */
void meter_begin(struct meter *meter, const struct print_style *style, const char *label);

/** Updates the line, at most ten times a second. A call is cheap, so that it can be frequent. */
void meter_show(struct meter *meter, uint64_t done, uint64_t total);

/** Clears the line. */
void meter_end(struct meter *meter);

#endif /* CLI_METER_H */
