/* SPDX-License-Identifier: BSD-3-Clause */
/* job.list: the latest jobs that a query matches, of those that a client may see. */
#ifndef DAEMON_LISTING_H
#define DAEMON_LISTING_H

struct call;
struct ended;
struct job_list_query;

/**
 * Answers the call, now or, where many jobs have to be looked at, after some rounds of the loop;
 * the connection's next requests wait until then. Takes the name out of the query.
 */
const struct ended *listing_answer(struct call *call, struct job_list_query *query);

#endif /* DAEMON_LISTING_H */
