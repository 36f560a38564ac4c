/* SPDX-License-Identifier: BSD-3-Clause */
/* daemon.drain and daemon.resume: the service stops taking jobs, but continues to run. */
#ifndef DAEMON_DRAIN_H
#define DAEMON_DRAIN_H

#include "proto/wire/daemon_calls.h"

struct jobs;
struct net;

/** Returns the phase that clients see: serving, draining or drained. */
enum service_phase drain_phase(const struct jobs *jobs);

/** Answers the waiting requests if no job is left. */
void drain_settle(struct net *net);

#endif /* DAEMON_DRAIN_H */
