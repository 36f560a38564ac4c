/* SPDX-License-Identifier: BSD-3-Clause */
/* The service inside this process. */
#pragma once

#include <stdint.h>

#include "cli/link/daemon_link.h"
#include "cli/options.h"

struct service_thread;

/** Options of every command that runs jobs without a daemon; `channels`: the default of -c. */
#define EMBEDDED_OPTIONS(channels)                                                                 \
    {"engine", "SPEC",                                                                             \
     "Move the bytes with this engine, as in threads:tiny=0 (default: the library's).",            \
     .takes = &value_engine},                                                                      \
        OPTION("channels", "N", "Emulate N DMA channels (default: " channels ").")

/** Option of the commands that check jobs against the rules of a board. */
#define PROFILE_OPTION                                                                             \
    OPTION("profile", "NAME",                                                                      \
           "Emulate the memories of this target profile: a name or a path (default: none).",       \
           .takes = &value_profile)

/** The option that sets the byte limit of the service inside this process, for commands with one.
 */
#define EMBEDDED_LIMIT_OPTION                                                                      \
    OPTION("limit-bytes", "SIZE",                                                                  \
           "Let one job map at most this size (default: the memory of this machine).")

/**
 * Sets *bytes to --limit-bytes, by default to memory_limit(): the most bytes of source and
 * destination together that one job may map. Returns 0 or -1.
 */
int embedded_job_bytes(const struct options *options, uint64_t *bytes, struct fault *fault);

/** Returns the origin of that limit, for messages. Static storage. */
const char *embedded_limit_source(const struct options *options);

/**
 * Starts the service with `channels` on --engine (0: all channels) and with --profile, and connects
 * to it. Returns 0 or -1; daemon_link_finish() and service_thread_stop() are legal after both.
 */
int embedded_start(const struct options *options, uint32_t channels,
                   struct service_thread **service, struct daemon_link *link, struct fault *fault);

/** Opens another connection to a service started with `options`. Apart from that, like
 * daemon_link_open().
 */
int embedded_connect(struct service_thread *service, const struct options *options,
                     struct daemon_link *link, struct fault *fault);
