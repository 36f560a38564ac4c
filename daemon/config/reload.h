/* SPDX-License-Identifier: BSD-3-Clause */
/* A configuration read anew while the service runs. */
#ifndef DAEMON_RELOAD_H
#define DAEMON_RELOAD_H

#include "daemon/config/config.h"

/**
 * Puts back into *fresh what cannot change while the service runs: it stays as in *live. Each key
 * of which *fresh had another value is warned of in the log. Returns how many.
 */
unsigned reload_keep(const struct config *live, struct config *fresh);

#endif /* DAEMON_RELOAD_H */
