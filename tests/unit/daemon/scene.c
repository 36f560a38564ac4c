/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/scene.h"

#include <unistd.h>

struct server server;
struct gate gate;
struct peer peer, other;
int src, dst;

static bool gated;
static int idle_fds;

int scene_setup(void **state)
{
    (void)state;
    idle_fds = count_fds();
    server_config(&server);
    server.config.channels = 1;
    src = memfd_with("abcd", 4);
    dst = memfd_with(NULL, 4);
    gated = false;
    return 0;
}

void scene_start(void)
{
    server_start(&server);
    server_connect(&server, &peer);
    server_connect(&server, &other);
}

void scene_start_gated(void)
{
    gate_close(&gate, &server.config);
    gated = true;
    scene_start();
}

int scene_teardown(void **state)
{
    (void)state;
    if (gated)
        gate_open(&gate);
    peer_finish(&peer);
    peer_finish(&other);
    server_stop(&server);
    if (gated)
        gate_remove(&gate);
    close(src);
    close(dst);
    assert_int_equal(count_fds(), idle_fds);
    return 0;
}

void scene_call(struct peer *who, int id, const char *method, const char *params)
{
    peer_send(who, NULL, 0, "{'jsonrpc':'2.0','id':%d,'method':'%s','params':{%s}}", id, method,
              params);
}
