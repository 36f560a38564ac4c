/* SPDX-License-Identifier: BSD-3-Clause */
/* One user's part of the history. history.h says what stays how long. */
#ifndef DAEMON_SHELF_H
#define DAEMON_SHELF_H

#include <stdint.h>

#include "daemon/base/link.h"

/* Lists of records, each with the oldest first. */
struct shelf_lists {
    struct link delivered;   /* the result was sent to a client */
    struct link undelivered; /* detached jobs that no job.wait has reported */
};

struct shelf {
    struct shelf_lists all;
    struct shelf_lists heavy;    /* the records with per-axis parameters */
    uint32_t count, undelivered; /* records; the undelivered ones among them */
    uint64_t quant_bytes;
    struct link in_history;         /* in the shelves of the history, while count > 0 */
    struct link by_count, by_quant; /* in the history's ranks */
};

static inline void shelf_init(struct shelf *shelf)
{
    *shelf = (struct shelf){.count = 0};
    link_init(&shelf->all.delivered);
    link_init(&shelf->all.undelivered);
    link_init(&shelf->heavy.delivered);
    link_init(&shelf->heavy.undelivered);
    link_init(&shelf->in_history);
    link_init(&shelf->by_count);
    link_init(&shelf->by_quant);
}

#endif /* DAEMON_SHELF_H */
