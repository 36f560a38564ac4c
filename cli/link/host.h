/* SPDX-License-Identifier: BSD-3-Clause */
/* Daemons on other machines: ssh://[user@]host[:port] becomes a command line. */
#pragma once

#include "proto/json/fault.h"

enum { HOST_WORDS_MAX = 10, HOST_TEXT_MAX = 512 };

struct host {
    char *argv[HOST_WORDS_MAX]; /* null-terminated; executed without a shell */
    char target[HOST_TEXT_MAX]; /* user@host */
    char port[8];
    char socket[HOST_TEXT_MAX]; /* quoted for the remote shell */
};

/**
 * Fills the command that connects to the daemon: $MLI_SSH or ssh, [-p port], [user@]host, mlictl
 * proxy, and --socket if `socket` is not null. Returns 0; or -1 if the URL is invalid, or ssh could
 * take a part of the URL for an option.
 */
int host_parse(struct host *host, const char *url, const char *socket, struct fault *fault);
