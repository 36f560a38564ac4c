/* SPDX-License-Identifier: BSD-3-Clause */
/* A service that listens, on its own thread, for tests with several clients. */
#ifndef TEST_SERVER_H
#define TEST_SERVER_H

#include <pthread.h>
#include <stdatomic.h>
#include <uv.h>

#include "tests/unit/daemon/test_peer.h"

struct server {
    struct config config; /* server_config() fills it in; server_start() sets its socket */
    uv_loop_t loop;
    uv_async_t poke;
    struct service *service;
    pthread_t thread;
    bool reconfigures;       /* server_start() applies the configuration a second time */
    atomic_bool reconfigure; /* true: the next poke applies the configuration */
    bool joined;
    int first_run;        /* the result of the first uv_run() */
    uint64_t shutdown_ns; /* duration of service_shutdown() */
    char directory[32];
};

void server_config(struct server *server);
void server_start(struct server *server);
/** Begins to shut down. May be called again. */
void server_shutdown(struct server *server);
/** Lets the loop apply the changed configuration, and waits for that. */
void server_reconfigure(struct server *server);
/** Waits for the end of a shutdown. Returns the first result of uv_run(). */
int server_join(struct server *server);
/** Shuts down, waits for the end, and frees everything. */
void server_stop(struct server *server);

/** Makes a new connection. */
void server_connect(struct server *server, struct peer *peer);

#endif /* TEST_SERVER_H */
