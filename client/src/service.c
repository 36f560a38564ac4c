/* SPDX-License-Identifier: BSD-3-Clause */
/* The methods daemon.* of the service, and events. */
#include <stdlib.h>
#include <string.h>

#include "client/src/client_state.h"
#include "proto/wire/events.h"

_Static_assert((int)MLI_CLIENT_SERVING == (int)PHASE_SERVING &&
                   (int)MLI_CLIENT_DRAINING == (int)PHASE_DRAINING &&
                   (int)MLI_CLIENT_DRAINED == (int)PHASE_DRAINED,
               "one order of phases");

int mli_client_ping(mli_client *client, mli_client_error *error)
{
    struct call call;
    int status = call_begin(&call, client, "daemon.ping", false, NULL, 0, error);

    if (status == 0)
        call_finish(&call);
    return status;
}

int mli_client_get_info(mli_client *client, mli_client_info *info, mli_client_error *error)
{
    struct call call;
    struct daemon_info read;
    int status = call_begin(&call, client, "daemon.info", false, NULL, 0, error);

    if (status)
        return status;
    if (daemon_info_read(&call.reply->result, &read))
        return call_unreadable(&call, error);
    call_finish(&call);
    *info = (mli_client_info){.protocol = read.protocol,
                              .phase = (enum mli_client_phase)read.phase,
                              .pid = read.pid,
                              .uptime_ms = read.uptime_ms,
                              .channels = read.channels,
                              .channels_busy = read.channels_busy,
                              .channels_quarantined = read.channels_quarantined,
                              .channel_offset = read.channel_offset,
                              .clients = read.clients,
                              .clients_max = read.clients_max,
                              .jobs_queued = read.jobs_queued,
                              .jobs_running = read.jobs_running,
                              .jobs_per_client_max = read.jobs_per_client_max,
                              .jobs_done = read.jobs_done,
                              .jobs_failed = read.jobs_failed,
                              .bytes_moved = read.bytes_moved};
    memcpy(info->version, read.version, sizeof(info->version));
    memcpy(info->engine, read.engine, sizeof(info->engine));
    return 0;
}

static void convert_histogram(mli_client_histogram *to, const struct histogram *from)
{
    _Static_assert((int)MLI_CLIENT_BUCKETS == (int)HISTOGRAM_BUCKETS, "one number of buckets");
    to->count = from->count;
    to->sum_ns = from->sum_ns;
    memcpy(to->buckets, from->buckets, sizeof(to->buckets));
}

static void convert_channel(mli_client_channel *to, const struct channel_stats *from)
{
    *to = (mli_client_channel){.channel = from->channel,
                               .busy = from->state == CHANNEL_BUSY,
                               .quarantined = from->state == CHANNEL_QUARANTINED,
                               .submitted = from->submitted,
                               .completed = from->completed,
                               .failed = from->failed,
                               .cancelled = from->cancelled,
                               .bytes = from->bytes,
                               .rows = from->rows,
                               .busy_ns = from->busy_ns,
                               .job = from->job};
}

static void convert_stats(mli_client_stats *to, const struct daemon_stats *from)
{
    _Static_assert(sizeof(to->channels) / sizeof(to->channels[0]) == MLI_MOV_MAX_CHANNELS, "");
    *to = (mli_client_stats){.phase = (enum mli_client_phase)from->phase,
                             .uptime_ms = from->uptime_ms,
                             .submitted = from->jobs.submitted,
                             .done = from->jobs.done,
                             .failed = from->jobs.failed,
                             .cancelled = from->jobs.cancelled,
                             .refused = from->jobs.refused,
                             .waiting = from->jobs.waiting,
                             .running = from->jobs.running,
                             .bytes_moved = from->bytes_moved,
                             .clients = from->clients.now,
                             .buffers = from->buffers.now,
                             .prepared = from->prepared,
                             .clients_accepted = from->clients.accepted,
                             .clients_turned_away = from->clients.turned_away,
                             .buffer_bytes = from->buffers.bytes,
                             .events_dropped = from->events_dropped,
                             .channel_count = from->channel_count};
    memcpy(to->queued, from->jobs.queued, sizeof(to->queued));
    convert_histogram(&to->times_queued, &from->queued);
    convert_histogram(&to->times_moving, &from->moving);
    for (uint32_t i = 0; i < from->channel_count; i++)
        convert_channel(&to->channels[i], &from->channels[i]);
}

int mli_client_get_stats(mli_client *client, mli_client_stats *stats, mli_client_error *error)
{
    struct call call;
    int status = call_begin(&call, client, "daemon.stats", false, NULL, 0, error);

    if (status)
        return status;
    struct daemon_stats *read = malloc(sizeof(*read));
    if (!read)
        status = error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    else if (daemon_stats_read(&call.reply->result, read))
        status = error_set(error, MLI_CLIENT_UNREADABLE, "the service's answer cannot be read: %s",
                           call.reply->fault.text);
    else
        convert_stats(stats, read);
    free(read);
    call_finish(&call);
    return status;
}

static int change_phase(mli_client *client, const char *method, bool with_params,
                        enum mli_client_phase *phase, mli_client_error *error)
{
    struct call call;
    enum service_phase read;
    int status = call_begin(&call, client, method, with_params, NULL, 0, error);

    if (status)
        return status;
    struct json state = json_member(&call.reply->result, "state");
    if (service_phase_read(&state, &read))
        return call_unreadable(&call, error);
    call_finish(&call);
    if (phase)
        *phase = (enum mli_client_phase)read;
    return 0;
}

int mli_client_drain(mli_client *client, bool wait, enum mli_client_phase *phase,
                     mli_client_error *error)
{
    struct jsonw *w = request_params(client);

    jsonw_bool(w, "wait", wait);
    return change_phase(client, "daemon.drain", true, phase, error);
}

int mli_client_resume(mli_client *client, enum mli_client_phase *phase, mli_client_error *error)
{
    return change_phase(client, "daemon.resume", false, phase, error);
}

int mli_client_subscribe(mli_client *client, uint32_t events, enum mli_client_scope scope,
                         uint32_t interval_ms, mli_client_event_fn *callback, void *user,
                         mli_client_error *error)
{
    struct call call;

    if (events >> EVENT_COUNT || (unsigned)scope > MLI_CLIENT_SCOPE_ALL)
        return error_set(error, MLI_CLIENT_MISUSE, "events or scope: unknown value");
    struct events_subscribe params = {.events = events,
                                      .scope = (enum event_scope)scope,
                                      .interval_ms = interval_ms ? interval_ms : 250};
    struct jsonw *w = request_params(client);
    events_subscribe_write(w, &params);
    /* Sets the callback first, because events may arrive before the reply. */
    mli_client_event_fn *before = client->on_event;
    void *user_before = client->event_user;
    client->on_event = callback;
    client->event_user = user;
    int status = call_begin(&call, client, "events.subscribe", true, NULL, 0, error);
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
