/* SPDX-License-Identifier: BSD-3-Clause */
/* The handler of events.subscribe. */
#ifndef DAEMON_CALL_EVENTS_H
#define DAEMON_CALL_EVENTS_H

struct call;
struct ended;

const struct ended *events_subscribe_call(struct call *call);

#endif /* DAEMON_CALL_EVENTS_H */
