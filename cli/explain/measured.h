/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A measured timeline: the transfers in a trace that `mlictl trace` or mlid recorded
 * (proto/wire/chrome_trace.h). Times count from the start of the first transfer.
 */
#ifndef CLI_MEASURED_H
#define CLI_MEASURED_H

#include <stddef.h>
#include <stdint.h>

#include "cli/explain/timeline_chart.h"
#include "proto/json/fault.h"
#include "proto/json/json.h"

struct measured {
    const char *path;            /* borrowed */
    struct timeline_slot *slots; /* by start; a transfer on several channels has a slot on each */
    uint64_t *bytes;             /* bytes that each transfer wrote */
    size_t slot_count;
    uint32_t channels;
    uint64_t end_ns;
    size_t matched;                       /* slots with the name of a job (measured_match()) */
    struct json root;                     /* the trace, which has the names of the slots */
    const struct timeline_slot **by_name; /* all slots, by name and start */
};

/**
 * Reads a trace. Returns 0, or -1 with the fault: the file cannot be read, is not a trace, is the
 * trace of a model, or has no transfer. measured_finish() is legal after both, and for zeros.
 */
int measured_load(struct measured *measured, const char *path, struct fault *fault);
void measured_finish(struct measured *measured);

/** Gives the transfers the kinds of the jobs with equal names, and counts them. Until then, and
 * without such a job, they are of TIMELINE_OTHER. */
void measured_match(struct measured *measured, const struct timeline_slot *jobs, size_t count);

/** Returns the first transfer with this name, or null. */
const struct timeline_slot *measured_find(const struct measured *measured, const char *name);

/** Returns the panel of a chart. */
struct timeline_panel measured_panel(const struct measured *measured);

#endif /* CLI_MEASURED_H */
