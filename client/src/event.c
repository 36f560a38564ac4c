/* SPDX-License-Identifier: BSD-3-Clause */
#include "client/src/event.h"

#include "client/src/client_request.h"
#include "client/src/client_result.h"
#include "proto/wire/events.h"

_Static_assert((int)MLI_CLIENT_EVENT_QUEUED == (int)EVENT_QUEUED &&
                   (int)MLI_CLIENT_EVENT_STARTED == (int)EVENT_STARTED &&
                   (int)MLI_CLIENT_EVENT_PROGRESS == (int)EVENT_PROGRESS &&
                   (int)MLI_CLIENT_EVENT_DONE == (int)EVENT_DONE &&
                   (int)MLI_CLIENT_SCOPE_USER == (int)EVENT_SCOPE_USER &&
                   (int)MLI_CLIENT_SCOPE_ALL == (int)EVENT_SCOPE_ALL,
               "one order of events");

void event_deliver(mli_client *client, const struct json *params)
{
    struct event read;
    mli_client_event event;

    if (event_read(params, &read))
        return;
    event.kind = (enum mli_client_event_kind)read.kind;
    event.time_ns = read.time_ns;
    event.dropped = read.dropped;
    info_convert(&event.job, &read.job);
    client->depth++;
    client->on_event(client, &event, client->event_user);
    client->depth--;
}

int mli_client_subscribe(mli_client *client, uint32_t events, enum mli_client_scope scope,
                         uint32_t interval_ms, mli_client_event_fn *callback, void *user,
                         mli_client_error *error)
{
    struct call call;
    int status = request_may_wait(client, error);

    if (status)
        return status;
    if (events >> EVENT_COUNT || (unsigned)scope > MLI_CLIENT_SCOPE_ALL)
        return error_set(error, MLI_CLIENT_MISUSE, "events or scope: unknown value");
    struct events_subscribe params = {.events = events,
                                      .scope = (enum event_scope)scope,
                                      .interval_ms = interval_ms ? interval_ms : 250};
    struct jsonw *w = request_params(client);
    jsonw_object_begin(w, NULL);
    events_subscribe_write(w, &params);
    jsonw_object_end(w);
    /* Sets the callback first, because events may arrive before the reply. */
    mli_client_event_fn *before = client->on_event;
    void *user_before = client->event_user;
    client->on_event = callback;
    client->event_user = user;
    status = call_begin(&call, client, "events.subscribe", true, NULL, 0, error);
    if (status) {
        client->on_event = before;
        client->event_user = user_before;
        return status;
    }
    call_finish(&call);
    return 0;
}

void mli_client_set_notify(mli_client *client, mli_client_notify_fn *notify, void *user)
{
    client->on_notify = notify;
    client->notify_user = user;
}
