/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/answer.h"

#include <assert.h>
#include <stddef.h>
#include <unistd.h>

#include "daemon/net/client.h"
#include "daemon/net/net.h"

struct ended {
    const char *how;
};

static const struct ended replied = {"replied"}, deferred = {"deferred"}, closed = {"closed"};

void answer_init(struct answer *answer, struct client *client, const struct rpc_id *id)
{
    *answer = (struct answer){.client = client, .id = *id, .due = true};
}

/* Returns the writer for the reply, or NULL if the client has left. */
static struct jsonw *open_reply(struct answer *answer)
{
    struct jsonw *w;

    assert(answer->due);
    answer->due = false;
    if (!answer->client || answer->client->state != CLIENT_OPEN)
        return NULL;
    w = &answer->client->net->scratch;
    jsonw_reset(w);
    return w;
}

/* Sends the result with `fd`, of which it takes ownership; -1: no descriptor. */
static const struct ended *send_reply(struct answer *answer, struct jsonw *w, int fd)
{
    const bool written = w && jsonw_text(w);

    if (written && fd >= 0)
        client_send_fd(answer->client, w->data, w->length, fd);
    else if (written)
        client_send(answer->client, w->data, w->length);
    else if (fd >= 0)
        close(fd);
    if (written || !w)
        return &replied;
    /* If out of memory for the reply, close the connection: the client would wait for ever. */
    client_abandon(answer->client, "no memory for a reply");
    jsonw_finish(w);
    jsonw_init(w);
    return &closed;
}

struct jsonw *answer_begin(struct answer *answer, uint32_t fds)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_result_begin(w, &answer->id, fds);
    return w;
}

const struct ended *answer_end(struct answer *answer, struct jsonw *w)
{
    return answer_end_fd(answer, w, -1);
}

const struct ended *answer_end_fd(struct answer *answer, struct jsonw *w, int fd)
{
    if (w)
        rpc_result_end(w);
    return send_reply(answer, w, fd);
}

const struct ended *answer_fault(struct answer *answer, const struct fault *fault)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_error(w, &answer->id, fault);
    return send_reply(answer, w, -1);
}

const struct ended *answer_job_fault(struct answer *answer, const struct fault *fault, uint64_t job)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_job_error(w, &answer->id, fault, job);
    return send_reply(answer, w, -1);
}

const struct ended *answer_result(struct answer *answer, const struct job_result *result)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_job_result(w, &answer->id, result);
    return send_reply(answer, w, -1);
}

const struct ended *answer_accepted(struct answer *answer, uint64_t job, enum job_state state)
{
    struct jsonw *w = open_reply(answer);

    if (w) {
        rpc_result_begin(w, &answer->id, 0);
        jsonw_uint(w, "job", job);
        jsonw_string(w, "state", job_state_name(state));
        rpc_result_end(w);
    }
    return send_reply(answer, w, -1);
}

const struct ended *answer_pong(struct answer *answer)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_pong(w, &answer->id);
    return send_reply(answer, w, -1);
}

const struct ended *answer_info(struct answer *answer, const struct daemon_info *info)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_info(w, &answer->id, info);
    return send_reply(answer, w, -1);
}

const struct ended *answer_text(struct answer *answer, struct jsonw *w)
{
    if (!open_reply(answer))
        return &replied;
    if (!jsonw_text(w))
        return send_reply(answer, w, -1);
    client_send_text(answer->client, w);
    return &replied;
}

const struct ended *answer_defer(struct answer *from, struct answer *to)
{
    assert(from->due);
    *to = *from;
    from->due = false;
    return &deferred;
}
