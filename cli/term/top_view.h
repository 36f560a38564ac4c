/* SPDX-License-Identifier: BSD-3-Clause */
/* What `mlictl top` shows, as text. */
#ifndef CLI_TOP_VIEW_H
#define CLI_TOP_VIEW_H

#include "proto/json/textw.h"
#include "proto/wire/daemon_stats.h"
#include "proto/wire/job_info.h"

/* Two looks at a daemon: rates are the difference. */
struct top_sample {
    struct daemon_stats stats;
    uint64_t time_ns;
};

/** Channels, queues and clients, a line each. `before` null: rates since the daemon's start. */
void top_view(struct textw *w, const char *where, const struct top_sample *now,
              const struct top_sample *before);

/** The rates as an object for programs, with all of the statistics. */
void top_json(struct jsonw *w, const struct top_sample *now, const struct top_sample *before);

#endif /* CLI_TOP_VIEW_H */
