/* SPDX-License-Identifier: BSD-3-Clause */
/* A process on the other processor that serves a socket: mlid, or an echo. */
#ifndef BENCH_SERVER_H
#define BENCH_SERVER_H

#include <sys/types.h>

struct server {
    pid_t pid;
    char directory[32]; /* holds the socket and nothing else; empty: there is none */
};

enum { CLIENT_CPU = 0, SERVER_CPU = 1 };

/** Pins the calling process, where there is a processor of that number. */
void server_pin(int cpu);

/** Starts mlid with `limits`, a JSON object, in its configuration. Exits on failure. */
void server_start_mlid(struct server *server, const char *limits);

/** Starts an echo: whenever `request` bytes have come it answers `reply` bytes. */
void server_start_echo(struct server *server, size_t request, size_t reply);

/** A new connection. */
int server_connect(const struct server *server);

/** SIGTERM, and waits. */
void server_stop(struct server *server);

#endif
