/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the handlers of requests share.
 *
 * The duty to answer is done exactly once: by a reply, by passing it on to a task that will reply
 * later, or by closing the connection if there is no memory for a reply. Each of these returns a
 * proof of type `const struct ended *`. Every handler must return a proof, and only this file can
 * make one. So a handler that forgets to answer does not compile, and a handler that answers twice
 * fails an assertion in its first test.
 */
#include <assert.h>
#include <string.h>
#include <unistd.h>

#include "daemon/base/log.h"
#include "daemon/base/numbered.h"
#include "daemon/base/seam.h"
#include "daemon/job/operands.h"
#include "daemon/net/net.h"
#include "proto/wire/job.h"

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
    if (!client_is_open(answer->client))
        return NULL;
    w = &answer->client->net->scratch;
    jsonw_reset(w);
    return w;
}

/* Subtracts a reply from the client's backlog: it is in the outbox, or nobody needs it any more. */
static const struct ended *settle_reply(struct answer *answer, const struct ended *how)
{
    backlog_unexpect(answer->client, answer->expected);
    answer->expected = 0;
    return how;
}

/* Sends the result with `fd`, and takes ownership of the descriptor; -1: no descriptor. */
static const struct ended *send_reply(struct answer *answer, struct jsonw *w, int fd)
{
    const struct ended *how = &replied;

    if (w && !client_send(answer->client, w, fd))
        how = &closed;
    else if (!w && fd >= 0)
        close(fd);
    return settle_reply(answer, how);
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
    return answer_job_fault(answer, fault, 0);
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

const struct ended *answer_info(struct answer *answer, const struct daemon_info *info)
{
    struct jsonw *w = open_reply(answer);

    if (w)
        rpc_write_info(w, &answer->id, info);
    return send_reply(answer, w, -1);
}

const struct ended *answer_text(struct answer *answer, struct jsonw *w)
{
    const bool sent = !open_reply(answer) || client_send_text(answer->client, w);

    return settle_reply(answer, sent ? &replied : &closed);
}

const struct ended *answer_defer(struct answer *from, struct answer *to, uint64_t expected)
{
    assert(from->due);
    *to = *from;
    to->expected = expected;
    backlog_expect(to->client, expected);
    from->due = false;
    return &deferred;
}

/* Pending replies. */

int pending_check(struct call *call)
{
    uint32_t count = 0;

    for (struct link *l = call->client->pending.next; l != &call->client->pending; l = l->next)
        count++;
    if (count < PROTO_WAITS_MAX)
        return 0;
    return fault_set(
        &call->request->fault, FAULT_LIMIT, NULL,
        "this connection has %d unanswered job.wait, job.list and daemon.drain, the most "
        "allowed: wait for a reply first",
        PROTO_WAITS_MAX);
}

const struct ended *pending_add(struct pending *pending, struct call *call, uint64_t expected,
                                void (*drop)(struct pending *pending))
{
    link_append(&call->client->pending, &pending->link);
    pending->drop = drop;
    return answer_defer(&call->answer, &pending->answer, expected);
}

void pending_remove(struct pending *pending)
{
    link_remove(&pending->link);
    client_settle(pending->answer.client);
}

/* Refusals. */

void call_close_fds(struct call *call)
{
    for (size_t i = 0; i < call->fd_count; i++) {
        if (seam.seals(call->fds[i]) >= 0)
            seam.close(call->fds[i]);
        else
            client_close_fds(call->client, &call->fds[i], 1);
    }
    call->fd_count = 0;
}

void call_discard_fds(struct call *call)
{
    client_close_fds(call->client, call->fds, call->fd_count);
    call->fd_count = 0;
}

const struct ended *call_refuse(struct call *call)
{
    call_discard_fds(call);
    return answer_fault(&call->answer, &call->request->fault);
}

void call_complain_fds(struct call *call)
{
    fault_set(&call->request->fault, FAULT_INVALID_REQUEST, "/fds",
              "fds: this method takes no descriptors");
}

const struct ended *call_refuse_fds(struct call *call)
{
    call_complain_fds(call);
    return call_refuse(call);
}

const struct ended *call_refuse_user(struct call *call)
{
    if (client_is_master(call->client))
        return NULL;
    fault_set(&call->request->fault, FAULT_FORBIDDEN, NULL,
              "only root and the user that the service runs as may do that");
    return call_refuse(call);
}

static bool is_text(const struct json *value, const char *text)
{
    const char *string;

    return json_is_string(value) && json_text(value, PROTO_NAME_MAX, &string) == 0 &&
           strcmp(string, text) == 0;
}

/* Records a refused job under its name. A request with two names is refused too: uses the first. */
static void remember_names(struct client *client, const struct json *params,
                           const struct fault *fault)
{
    struct json member = {0};
    const char *name, *first = NULL;

    while (json_next(params, &member)) {
        if (strcmp(member.key, "name") != 0 || !json_is_string(&member) ||
            json_string(&member, PROTO_NAME_MAX, &name) < 0 || !job_name_is_wire(name))
            continue;
        registry_hide_name(&client->net->jobs->registry, client->session.flow->number, name);
        if (!first)
            first = name;
    }
    if (first)
        session_remember_refused(&client->session, first, fault);
}

static void remember_prepared(struct client *client, const struct json *params,
                              const struct fault *fault)
{
    const struct json member = json_member(params, "prepared");
    const struct prepared *prepared = NULL;
    int64_t number;

    if (json_is_int(&member) && json_int(&member, 1, UINT32_MAX, &number) == 0)
        prepared = numbered_find(&client->session.prepared.table, (uint32_t)number);
    if (prepared && prepared->work->job.common.name)
        session_remember_refused(&client->session, prepared->work->job.common.name, fault);
}

void refusal_remember(struct client *client, const struct rpc_request *request)
{
    struct fault ignored;
    struct json root = request->root, method, params;

    root.fault = &ignored; /* do not overwrite the fault of the request */
    if (!json_is_object(&root))
        return;
    method = json_member(&root, "method");
    params = json_member(&root, "params");
    if (!json_is_object(&params))
        return;
    if (is_text(&method, "job.submit"))
        remember_names(client, &params, &request->fault);
    else if (is_text(&method, "job.start"))
        remember_prepared(client, &params, &request->fault);
}

void refusal_log(const struct client *client, const char *event, const struct fault *fault)
{
    struct log_line line;

    if (!log_begin_rated(&line, LOG_NOTICE, event,
                         &client->session.flow->user->log_rates[LOG_KIND_REFUSED]))
        return;
    flow_log(client->session.flow, &line);
    log_text(&line, "error", fault_name(fault->code));
    log_text(&line, "text", fault->text);
    log_end(&line);
}
