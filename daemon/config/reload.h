/* SPDX-License-Identifier: BSD-3-Clause */
/* Reloading the configuration while the service runs. */
#ifndef DAEMON_RELOAD_H
#define DAEMON_RELOAD_H

#include "daemon/config/config.h"

/**
 * Copies the keys that cannot change while the service runs from *live to *fresh. Logs a warning
 * for each such key that differs. Returns their number.
 */
unsigned reload_keep(const struct config *live, struct config *fresh);

#endif /* DAEMON_RELOAD_H */
