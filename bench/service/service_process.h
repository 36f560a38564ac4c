/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A server process with a socket, pinned to SERVER_CPU: mlid or an echo server. A bench that exits
 * terminates its servers and removes their directories.
 */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <sys/types.h>

struct server {
    pid_t pid;
    char directory[32]; /* directory of the socket and the configuration */
};

enum { CLIENT_CPU = 0, SERVER_CPU = 1 };

/** Pins the calling process to a processor; does nothing if the machine has no processor of this
 * number. */
void server_pin(int cpu);

/** Starts mlid with `limits`, a JSON object, in its configuration. Exits on failure. */
void server_start_mlid(struct server *server, const char *limits);

/** Starts an echo, which answers `reply` bytes to every `request` bytes. Exits on failure. */
void server_start_echo(struct server *server, size_t request, size_t reply);

/** Returns a new connection; the caller closes it. Exits if the server accepts none within 5 s. */
int server_connect(const struct server *server);

/** Terminates the server, waits for its end and removes its directory. */
void server_stop(struct server *server);

#endif
