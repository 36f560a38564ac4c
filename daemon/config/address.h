/* SPDX-License-Identifier: BSD-3-Clause */
/* The address of the metrics, which must not be reachable from other machines. */
#pragma once

#include <stdbool.h>
#include <sys/socket.h>

enum { ADDRESS_COMPLAINT_MAX = 128 };

struct address {
    struct sockaddr_storage socket; /* AF_UNIX, AF_INET or AF_INET6 */
    socklen_t length;
};

/**
 * Reads "unix:/path", "127.0.0.1:PORT" (any address of 127/8) or "[::1]:PORT". Returns 0, or -1
 * with an error message in `complaint`.
 */
int address_parse(const char *text, struct address *address, char complaint[ADDRESS_COMPLAINT_MAX]);

/** Returns whether no other machine can reach the address. */
bool address_is_local(const struct sockaddr *socket);
