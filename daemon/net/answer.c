/* SPDX-License-Identifier: BSD-3-Clause */
#include "answer.h"

#include <assert.h>
#include <stddef.h>

#include "client.h"
#include "state.h"

struct ended {
    const char *how;
};

static const struct ended replied = {"replied"}, deferred = {"deferred"}, closed = {"closed"};

void answer_init(struct answer *answer, struct client *client, const struct rpc_id *id)
{
    *answer = (struct answer){.client = client, .id = *id, .due = true};
}

/* The writer to put the reply into; null where nobody is there to read it. */
static struct jsonw *open_reply(struct answer *answer)
{
    struct jsonw *w;

    assert(answer->due);
    answer->due = false;
    if (!answer->client)
        return NULL;
    w = &answer->client->service->scratch;
    jsonw_reset(w);
    return w;
}

static const struct ended *send_reply(struct answer *answer, struct jsonw *w)
{
    if (!w)
        return &replied;
    if (!jsonw_text(w)) {
        /* The client would wait for ever for a reply that memory is too short for. */
        client_doom(answer->client, "no memory for a reply");
        jsonw_finish(w);
        jsonw_init(w);
        return &closed;
    }
    client_send(answer->client, w->data, w->length);
    return &replied;
}

const struct ended *answer_fault(struct answer *answer, const struct fault *fault)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_error(w, &answer->id, fault);
    return send_reply(answer, w);
}

const struct ended *answer_result(struct answer *answer, const struct job_result *result)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_job_result(w, &answer->id, result);
    return send_reply(answer, w);
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
    return send_reply(answer, w);
}

const struct ended *answer_pong(struct answer *answer)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_pong(w, &answer->id);
    return send_reply(answer, w);
}

const struct ended *answer_info(struct answer *answer, const struct daemon_info *info)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_info(w, &answer->id, info);
    return send_reply(answer, w);
}

const struct ended *answer_defer(struct answer *from, struct answer *to)
{
    assert(from->due);
    *to = *from;
    from->due = false;
    return &deferred;
}
