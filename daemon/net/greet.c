/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/greet.h"

#include <stdio.h>

#include "daemon/base/reaper.h"
#include "daemon/net/client.h"
#include "daemon/net/net.h"
#include "mli_helpers_api.h"
#include "proto/wire/fdpass.h"
#include "proto/wire/hello.h"
#include "proto/wire/rpc.h"

void greet(struct client *client)
{
    const struct config *config = client->net->config;
    struct hello hello = {
        .client = client->session.flow->number,
        .jobs = config->jobs_per_client,
        .job_bytes = config->job_bytes,
        .buffers = config->buffers_per_client,
        .buffer_bytes = config->buffer_bytes_per_client,
        .prepared = config->prepared_per_client,
    };
    struct jsonw w;

    snprintf(hello.version, sizeof hello.version, "%s", mli_version());
    jsonw_init(&w);
    hello_write_line(&w, &hello);
    if (jsonw_text(&w))
        client_send(client, w.data, w.length);
    else
        client_doom(client, "no memory for the greeting");
    jsonw_finish(&w);
}

void greet_turn_away(int fd, const struct fault *fault)
{
    struct rpc_id id = {.kind = RPC_ID_NULL};
    struct jsonw w;

    jsonw_init(&w);
    rpc_write_error(&w, &id, fault);
    if (jsonw_text(&w))
        fd_send(fd, w.data, w.length, NULL, 0); /* a courtesy: if it fails, it fails */
    jsonw_finish(&w);
    reaper_close_connection(fd);
}
