/* SPDX-License-Identifier: BSD-3-Clause */
/* The handlers of daemon.*. */
#ifndef DAEMON_CALL_DAEMON_H
#define DAEMON_CALL_DAEMON_H

struct call;
struct ended;

const struct ended *daemon_ping_call(struct call *call);
const struct ended *daemon_info_call(struct call *call);
const struct ended *daemon_stats_call(struct call *call);
const struct ended *daemon_drain_call(struct call *call);
const struct ended *daemon_resume_call(struct call *call);

#endif /* DAEMON_CALL_DAEMON_H */
