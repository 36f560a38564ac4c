/* SPDX-License-Identifier: BSD-3-Clause */
/* Statistics in the text exposition format of Prometheus, version 0.0.4. */
#pragma once

#include "proto/json/jsonw.h"
#include "proto/wire/methods.h"

/** Writes all metrics, named mlid_*, with # HELP and # TYPE; times are in seconds.
 *  docs/operations.md lists the metrics. */
void prometheus_write(struct textw *w, const struct daemon_stats *stats);
