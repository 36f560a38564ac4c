/* SPDX-License-Identifier: BSD-3-Clause */
/* The process mlid around the service: loop, signals, sockets, rights, service manager. */
#ifndef DAEMON_PROCESS_H
#define DAEMON_PROCESS_H

#include "daemon/config/config.h"
#include "daemon/ops/activation.h"
#include "daemon/ops/mlid_options.h"
#include "daemon/ops/notify.h"

/** Runs until the service has shut down. Returns the exit status. */
int process_run(const struct mlid_options *options, const struct config *config,
                const struct activation *activation, const struct notify *notify);

#endif /* DAEMON_PROCESS_H */
