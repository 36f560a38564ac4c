/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/net/refusal.h"

#include <string.h>

#include "daemon/base/log.h"
#include "daemon/base/numbered.h"
#include "daemon/job/jobs.h"
#include "daemon/job/operands.h"
#include "daemon/job/prepared.h"
#include "daemon/net/client.h"
#include "daemon/net/net.h"
#include "proto/wire/job_ref.h"
#include "proto/wire/rpc.h"

static bool is_text(const struct json *value, const char *text)
{
    const char *string;

    return json_is_string(value) && json_text(value, PROTO_NAME_MAX, &string) == 0 &&
           strcmp(string, text) == 0;
}

/* Uses the first name if the request has several, which is one reason to refuse it. */
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

    root.fault = &ignored; /* keep the fault of the request */
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
