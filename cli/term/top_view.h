/* SPDX-License-Identifier: BSD-3-Clause */
/* The output of `mlictl top`: a page of text, or JSON. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include "proto/json/textw.h"
#include "proto/wire/daemon_calls.h"
#include "proto/wire/job_info.h"

/* Statistics of a daemon at a time. Rates are computed from two samples. */
struct top_sample {
    struct daemon_stats stats;
    uint64_t time_ns;
};

/**
 * Writes the page: jobs, queues, a line per channel and per client. Null `before`: rates since the
 * daemon's start.
 */
void top_view(struct textw *w, const char *where, const struct top_sample *now,
              const struct top_sample *before);

/** Writes the rates and the statistics as one object. */
void top_json(struct jsonw *w, const struct top_sample *now, const struct top_sample *before);

#endif /* CLI_TOP_VIEW_H */
