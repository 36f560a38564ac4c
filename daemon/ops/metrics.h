/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The statistics over HTTP, for Prometheus: only GET /metrics, one reply for each connection. The
 * handles do not keep the loop alive.
 */
#pragma once

#include <uv.h>

#include "daemon/net/bind.h"

struct metrics;
struct service;

/** Opens a listening socket at "metrics.listen". Returns 0 or -errno. */
int metrics_bind(struct bound *bound, const char *listen, uint32_t mode, uid_t uid, gid_t gid);

/** Serves a listening socket. Takes ownership, even on failure. Returns 0 or -errno. */
int metrics_create(uv_loop_t *loop, struct service *service, const struct bound *bound,
                   struct metrics **out);
/** Stops serving; call it before service_destroy(). The loop's close callbacks free the struct.
 * Accepts NULL. */
void metrics_destroy(struct metrics *metrics);
