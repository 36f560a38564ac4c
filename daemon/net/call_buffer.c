/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers of the methods buffer.*. */
#include <inttypes.h>

#include "daemon/net/net.h"
#include "proto/wire/methods.h"

static struct buffer_limits limits_of(const struct client *client)
{
    const struct config *config = client->net->config;

    return (struct buffer_limits){
        .count = config->buffers_per_client,
        .bytes = config->buffer_bytes_per_client,
        .bytes_of_user = config_quota(config, client->session.flow->user->uid)->buffer_bytes,
    };
}

/* Sends `fd`, which may be -1, with the reply. */
static const struct ended *answer_buffer(struct call *call, const struct buffer *buffer, int fd)
{
    struct jsonw *w = answer_begin(&call->answer, fd >= 0 ? 1 : 0);
    struct buffer_info info;

    buffer_info_fill(&info, buffer);
    if (w)
        buffer_info_write_members(w, &info);
    return answer_end_fd(&call->answer, w, fd);
}

const struct ended *buffer_register_call(struct call *call)
{
    struct client *client = call->client;
    struct rpc_request *request = call->request;
    const struct buffer_limits limits = limits_of(client);
    struct buffer_register registered;
    struct buffer *buffer;

    if (buffer_register_read(&request->params, (uint32_t)call->fd_count, &registered) < 0)
        return call_refuse(call);
    if (call->fd_count != 1) {
        fault_set(&request->fault, FAULT_INVALID_PARAMS, NULL,
                  "fds: %zu descriptors came, but a buffer needs exactly one", call->fd_count);
        return call_refuse(call);
    }
    buffer = buffer_register(&client->session.buffers, call->fds[0], &registered, &limits,
                             &request->fault);
    if (!buffer)
        return call_refuse(call);
    call_close_fds(call);
    return answer_buffer(call, buffer, -1);
}

const struct ended *buffer_alloc_call(struct call *call)
{
    struct client *client = call->client;
    struct fault *fault = &call->request->fault;
    const struct buffer_limits limits = limits_of(client);
    struct buffer_alloc params;
    struct board_use use;
    struct buffer *buffer;
    int fd;

    if (buffer_alloc_read(&call->request->params, &params) < 0)
        return call_refuse(call);
    buffer = buffer_alloc(&client->session.buffers, &params,
                          session_use_board(&client->session, BOARD_BUFFER, 0, &use), &limits, &fd,
                          fault);
    return buffer ? answer_buffer(call, buffer, fd) : call_refuse(call);
}

const struct ended *buffer_release_call(struct call *call)
{
    struct jsonw *w;
    uint32_t number;

    if (number_param_read(&call->request->params, "buffer", &number) < 0)
        return call_refuse(call);
    if (buffer_release(&call->client->session.buffers, number) < 0) {
        fault_set(&call->request->fault, FAULT_NOT_FOUND, "/buffer",
                  "buffer: this connection has no buffer %" PRIu32, number);
        return call_refuse(call);
    }
    w = answer_begin(&call->answer, 0);
    if (w)
        jsonw_uint(w, "buffer", number);
    return answer_end(&call->answer, w);
}

const struct ended *buffer_list_call(struct call *call)
{
    const struct numbered *table = &call->client->session.buffers.table;
    struct jsonw *w = answer_begin(&call->answer, 0);

    if (!w)
        return answer_end(&call->answer, w);
    jsonw_array_begin(w, "buffers");
    for (uint32_t i = 0; i < table->count; i++) {
        struct buffer_info info;

        buffer_info_fill(&info, table->entries[i].thing);
        buffer_info_write_item(w, &info);
    }
    jsonw_array_end(w);
    return answer_end(&call->answer, w);
}
