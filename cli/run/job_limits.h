/* SPDX-License-Identifier: BSD-3-Clause */
/* The limits of a service for one job, for commands that check jobs without running them. */
#pragma once

#include <stdint.h>

#include "cli/job/explained.h"
#include "cli/job/resolve.h"
#include "cli/link/daemon_link.h"
#include "cli/link/embedded.h"
#include "cli/options.h"

struct job_limits {
    uint64_t job_bytes; /* maximum number of bytes of source and destination that a job may map */
    /* Maximum number of bytes of files that a job may send by ssh; 0: no limit. */
    uint64_t sent_bytes;
    uint32_t channels; /* maximum number of channels of a job; 0: no limit */
    uint64_t buffers,
        buffer_bytes; /* limits on the number of buffers of a job file, and on their bytes */
    bool remote;      /* true: the connection cannot hold buffers */
    char source[DAEMON_LINK_WHERE_MAX + 64]; /* origin of job_bytes, for messages */
};

/** Options of every command that checks jobs against limits. */
#define LIMITS_OPTIONS                                                                             \
    EMBEDDED_LIMIT_OPTION,                                                                         \
        SOCKET_OPTION("Check against the limits of the daemon at this socket (default: none)."),   \
        OPTION(                                                                                    \
            "host", "URL",                                                                         \
            "Check against the limits of the daemon at ssh://[user@]host[:port] (default: none).")

/**
 * Determines the limits: requests them from the daemon that --socket or --host names; or else uses
 * the limit of `mlictl run`, which --limit-bytes sets. Returns 0 or -1.
 */
int job_limits_find(struct job_limits *limits, const struct options *options, struct fault *fault);

/** Refuses a file with buffers that exceed a limit. Returns 0, or -1 with the fault. */
int job_limits_check_buffers(const struct job_limits *limits, const struct job_file *file,
                             struct fault *fault);

/** Refuses a job that exceeds a limit. Returns 0, or -1 with FAULT_LIMIT. */
int job_limits_check(const struct job_limits *limits, const struct resolved *resolved,
                     const struct explained *explained, struct fault *fault);
