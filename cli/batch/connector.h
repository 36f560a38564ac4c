/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service that runs the jobs of a batch: the one in this process, or a daemon with --socket or
 * --host. Each worker has a connection of its own.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "cli/link/daemon_link.h"
#include "cli/options.h"
#include "cli/report/fingerprint.h"

struct service_thread;

struct connector {
    const struct options *options;
    struct service_thread *service; /* NULL: the connection is to a daemon */
};

/** Returns whether the options choose the service in this process. */
bool connector_is_embedded(const struct options *options);

/**
 * Starts the service in this process with `channels` channels, unless the options name a daemon,
 * and connects `first`. Returns 0 or -1; connector_finish() is legal in both cases.
 */
int connector_init(struct connector *connector, const struct options *options, uint32_t channels,
                   struct daemon_link *first, struct fault *fault);

/** Opens another connection, from any thread. Returns the same values as daemon_link_open(). */
int connector_open(const struct connector *connector, struct daemon_link *link,
                   struct fault *fault);

/** Stops the service in this process. Close all connections first. */
void connector_finish(struct connector *connector);

/**
 * Fills *setup from the options and, if they name a daemon, from the daemon.info of `link`.
 * Returns 0, or -1 with the fault filled.
 */
int connector_setup(struct run_setup *setup, const struct options *options,
                    struct daemon_link *link, struct fault *fault);

/**
 * Returns the shell command that runs `job_file` on the service of this batch, for example "mlictl
 * run --engine mock batch-failed/a/job.json". The caller frees the command. NULL: out of memory.
 */
char *connector_rerun_command(const struct options *options, const char *job_file);
