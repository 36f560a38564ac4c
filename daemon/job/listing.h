/* SPDX-License-Identifier: BSD-3-Clause */
/* What job.list answers: the latest jobs that a query matches, of those a client may know of. */
#ifndef DAEMON_LISTING_H
#define DAEMON_LISTING_H

#include <stdint.h>

#include "fault.h"
#include "job_calls.h"
#include "jsonw.h"

struct client;
struct entry;

/* For the time of a request: no job may end meanwhile. */
struct listing {
    const struct entry **entries; /* the latest first */
    uint32_t count, limit;
    uint32_t capacity; /* one more than the limit, to know whether there are more */
};

/** Returns 0 or -1 (fault). */
int listing_init(struct listing *listing, const struct client *client,
                 const struct job_list_query *query, struct fault *fault);
void listing_finish(struct listing *listing);

/** The members of the result; as many jobs as a reply has room for. */
void listing_write_members(const struct listing *listing, struct jsonw *w);

#endif /* DAEMON_LISTING_H */
