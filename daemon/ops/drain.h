/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.drain and daemon.resume: the service stops taking jobs, without stopping. */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H

#include "proto/wire/daemon_stats.h"

struct call;
struct ended;
struct service;

/** What the service is doing, as clients are told. */
enum service_phase drain_phase(const struct service *service);

/** No more jobs are taken. */
void drain_begin(struct service *service);
/** They are again; drains that still wait are answered so. */
void drain_end(struct service *service);

/** Answers with the phase, now. */
const struct ended *drain_answer(struct call *call);
/** The same when the service is drained. */
const struct ended *drain_wait(struct call *call);
/** The last job may be gone. */
void drain_settle(struct service *service);

#endif /* DAEMON_DRAIN_H */
