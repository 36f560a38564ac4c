/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/service_thread.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

void server_config(struct server *server)
{
    memset(server, 0, sizeof *server);
    fixture_config(&server->config);
}

static void on_poke(uv_async_t *poke)
{
    struct server *server = poke->data;
    const uint64_t begin = uv_hrtime();

    if (atomic_load(&server->reconfigure)) {
        service_reconfigure(server->service, &server->config);
        atomic_store(&server->reconfigure, false);
        return;
    }
    service_shutdown(server->service);
    if (server->shutdown_ns == 0)
        server->shutdown_ns = uv_hrtime() - begin;
    if (!uv_is_closing((uv_handle_t *)poke))
        uv_close((uv_handle_t *)poke, NULL);
}

static void *serve(void *context)
{
    struct server *server = context;

    server->first_run = uv_run(&server->loop, UV_RUN_DEFAULT);
    while (uv_run(&server->loop, UV_RUN_DEFAULT) != 0)
        ;
    return NULL;
}

void server_start(struct server *server)
{
    strcpy(server->directory, "/tmp/mlid-server-XXXXXX");
    assert_non_null(mkdtemp(server->directory));
    snprintf(server->config.socket, sizeof server->config.socket, "%s/sock", server->directory);
    assert_int_equal(uv_loop_init(&server->loop), 0);
    assert_int_equal(uv_async_init(&server->loop, &server->poke, on_poke), 0);
    server->poke.data = server;
    assert_int_equal(service_create(&server->loop, &server->config, &server->service), 0);
    if (server->reconfigures)
        service_reconfigure(server->service, &server->config);
    assert_int_equal(service_listen(server->service), 0);
    assert_int_equal(pthread_create(&server->thread, NULL, serve, server), 0);
}

void server_shutdown(struct server *server)
{
    uv_async_send(&server->poke);
}

void server_reconfigure(struct server *server)
{
    atomic_store(&server->reconfigure, true);
    uv_async_send(&server->poke);
    while (atomic_load(&server->reconfigure))
        sched_yield();
}

int server_join(struct server *server)
{
    if (!server->joined)
        pthread_join(server->thread, NULL);
    server->joined = true;
    return server->first_run;
}

void server_stop(struct server *server)
{
    if (!server->joined)
        server_shutdown(server);
    server_join(server);
    service_destroy(server->service);
    assert_int_equal(uv_loop_close(&server->loop), 0);
    assert_int_equal(rmdir(server->directory), 0); /* fails if the socket is still there */
}

void server_connect(struct server *server, struct peer *peer)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    strcpy(address.sun_path, server->config.socket);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    peer_init(peer, fd);
}
