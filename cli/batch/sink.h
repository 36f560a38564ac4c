/* SPDX-License-Identifier: BSD-3-Clause */
/* One form in which a batch is told. Private to the reports. */
#ifndef CLI_BATCH_SINK_H
#define CLI_BATCH_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/batch/outline.h"
#include "cli/batch/result.h"
#include "cli/batch/summary.h"

/* What the options say, and where standard output goes. */
struct batch_taste {
    const char *junit; /* a file, or null */
    bool json, tap, verbose, quiet;
    bool flaky_is_good;
    bool terminal; /* people watch standard output */
    int live_fd;   /* where a live line may be, or -1 */
};

/* Null members are not called; `create`, `end` and `destroy` are always there. */
struct batch_sink {
    /** Returns 0, or -1 after saying what is wrong; `destroy` is not called then. */
    int (*create)(const struct batch_taste *taste, void **state);
    /** Before the beginning: a shard that is missing, or shards, and what is told of that. */
    void (*gap)(void *state, const char *name, const char *text);
    void (*begin)(void *state, const struct batch_outline *outline);
    /** Writes a sentence about the run; names in it may be any bytes. */
    void (*note)(void *state, const char *text);
    void (*result)(void *state, const struct case_result *result);
    void (*tick)(void *state, uint64_t ns);
    /** Before a tick, with --repeat: the attempt that began last is the case's number `now` of
     *  `all`. */
    void (*repeat)(void *state, uint32_t now, uint32_t all);
    void (*not_run)(void *state, const char *name, const char *file);
    /** Returns 0, or -1 after saying what could not be written. Called at most once. */
    int (*end)(void *state, const struct batch_summary *summary);
    void (*destroy)(void *state);
};

extern const struct batch_sink sink_events, sink_junit, sink_lines, sink_progress, sink_tap;

#endif /* CLI_BATCH_SINK_H */
