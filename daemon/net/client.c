/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a connection, in this order: its state; closing its descriptors; the backlog of
 * replies; sending; input; dropping its jobs; closing; the events of the loop; held clients.
 *
 * No function that a handler may call closes a client: after an error it dooms the client, which
 * the loop closes later. So a handler may use the client's structures after it has answered.
 */
#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "daemon/base/log.h"
#include "daemon/base/reaper.h"
#include "daemon/base/seam.h"
#include "daemon/net/net.h"
#include "mli_helpers_api.h"
#include "proto/json/fault.h"
#include "proto/wire/events.h"
#include "proto/wire/frame.h"

enum {
    FLUSH_MS = 5 * 1000,  /* time for the last replies, if limits.line_timeout_ms is 0 */
    WAITING_FDS_MAX = 128 /* maximum received descriptors of one user whose lines are incomplete */
};

enum {
    BACKLOG_HIGH = 256 * 1024,            /* unread bytes above which no input is taken */
    BACKLOG_LOW = 64 * 1024,              /* unread bytes below which input is taken again */
    BACKLOG_EXPECTED = 2 * 1024 * 1024,   /* unread and expected bytes above which new jobs wait */
    BACKLOG_UNREAD_MAX = 16 * 1024 * 1024 /* unread bytes above which the connection is closed */
};

static struct user *user_of(const struct client *client)
{
    return client->session.flow->user;
}

static void log_at(const struct client *client, int level, enum log_kind kind, const char *event,
                   const char *why)
{
    struct log_line line;

    if (!log_begin_rated(&line, level, event, &user_of(client)->log_rates[kind]))
        return;
    flow_log(client->session.flow, &line);
    if (why)
        log_text(&line, "why", why);
    log_end(&line);
}

/* The state. */

static bool is_held(const struct client *client)
{
    return client->state >= CLIENT_HELD_JOBS && client->state <= CLIENT_HELD_FDS;
}

static void start_timer_of_held(struct held *held);

static void begin_waiting(struct held *held)
{
    held->waiting++;
    if (!uv_is_active((uv_handle_t *)&held->timer))
        start_timer_of_held(held);
}

static void end_waiting(struct held *held)
{
    if (--held->waiting == 0)
        uv_timer_stop(&held->timer);
}

/* Removes the client from the lists of its state. */
static void leave_state(struct client *client)
{
    struct held *held = &client->net->held;

    link_remove(&client->place);
    chore_remove(&client->turn);
    if (!is_held(client))
        return;
    if (client->state == CLIENT_HELD_FDS)
        end_waiting(held);
    if (--held->count < held->left)
        held->left = held->count;
}

#define TO(name)   (1U << CLIENT_##name)
#define TO_HELD    (TO(HELD_JOBS) | TO(HELD_REPLIES) | TO(HELD_UNREAD) | TO(HELD_FDS))
#define TO_STOPPED (TO(ENDING) | TO(DOOMED) | TO(CLOSED))

static void enter(struct client *client, enum client_state state)
{
#define CLIENT_STATE(name, followers) [CLIENT_##name] = (followers),
    static const uint32_t allowed[] = {CLIENT_STATES(CLIENT_STATE)};
#undef CLIENT_STATE
    struct net *net = client->net;

    assert(allowed[client->state] >> state & 1);
    (void)allowed;
    leave_state(client);
    client->state = state;
    if (state == CLIENT_TURN)
        chore_add(net->chores, &client->turn);
    else if (state == CLIENT_FULL)
        link_append(&net->full, &client->place);
    if (!is_held(client))
        return;
    net->held.count++;
    link_append(&net->held.clients, &client->place);
    if (state == CLIENT_HELD_FDS)
        begin_waiting(&net->held);
}

void client_hold(struct client *client, enum client_state why)
{
    if (client->state == CLIENT_READING)
        enter(client, why);
}

void client_begin_listing(struct client *client)
{
    if (client->state == CLIENT_READING)
        enter(client, CLIENT_LISTING);
}

void client_end_listing(struct client *client)
{
    if (client->state == CLIENT_LISTING)
        enter(client, client->backlog.unread > BACKLOG_HIGH ? CLIENT_CONGESTED : CLIENT_TURN);
}

static void note_congestion(struct client *client)
{
    const bool congested = client->backlog.unread > BACKLOG_HIGH;

    if (client->state == CLIENT_CONGESTED && !congested)
        enter(client, CLIENT_READING);
    else if (client_is_open(client) && congested && client->state != CLIENT_CONGESTED &&
             client->state != CLIENT_LISTING)
        enter(client, CLIENT_CONGESTED);
}

void client_relieve_all(struct net *net)
{
    while (!link_empty(&net->full))
        enter(LINK_OWNER(net->full.next, struct client, place), CLIENT_TURN);
}

static void on_timer(uv_timer_t *timer);

static void set_timer(struct client *client, uint32_t ms)
{
    uv_timer_start(&client->timer, on_timer, ms, 0);
}

/* Starts the timer within which the client must read some of its last replies. */
static void set_flush_timer(struct client *client)
{
    const uint32_t ms = client->net->config->line_timeout_ms;

    set_timer(client, ms ? ms : FLUSH_MS);
}

static void doom_at(struct client *client, int level, const char *why)
{
    if (client->state == CLIENT_DOOMED || client->state == CLIENT_CLOSED)
        return;
    if (why)
        log_at(client, level, LOG_KIND_STREAM, "client closed", why);
    enter(client, CLIENT_DOOMED);
    set_timer(client, 0);
}

/* Makes the loop close the client in its next round. Logs `why`, unless it is null. */
static void doom(struct client *client, const char *why)
{
    doom_at(client, LOG_NOTICE, why);
}

/* Does what doom() does, but logs an error: the service cannot serve the client, for example
 * because it is out of memory. */
static void abandon(struct client *client, const char *why)
{
    doom_at(client, LOG_ERR, why);
}

/* Descriptors that the client sent. */

void client_close_fds(const struct client *client, const int *fds, size_t count)
{
    /* An embedded service does not use the reaper: it has no other user whom a slow close could
       delay. */
    if (!client->net->config->embedded) {
        reaper_close(user_of(client)->uid, fds, count);
        return;
    }
    for (size_t i = 0; i < count; i++)
        seam.close(fds[i]);
}

/* Updates user->waiting_fds, the count of descriptors that no line has taken. */
static void count_fds(struct client *client)
{
    struct user *user = user_of(client);

    user->waiting_fds += client->in.fd_count - client->counted_fds;
    client->counted_fds = client->in.fd_count;
    if (!user->crowded || user->waiting_fds + PROTO_FDS_MAX > WAITING_FDS_MAX)
        return;
    user->crowded = false;
    uv_async_send(&client->net->relieved);
}

/* Closes the received descriptors that no line uses, and the descriptors of unsent replies. */
static void close_waiting_fds(struct client *client)
{
    int fds[sizeof client->in.fds / sizeof *client->in.fds];
    const size_t count = client->in.fd_count;

    if (frame_take_fds(&client->in, count, fds) == 0)
        client_close_fds(client, fds, count);
    count_fds(client);
    for (size_t i = 0; i < client->out.fd_count; i++)
        client_close_fds(client, &client->out.fds[i].fd, 1);
    client->out.fd_count = 0;
}

/* The backlog. */

/* The longest three parameters of one index, with commas: "-32768,", "-32768,", "-128,". */
enum { BYTES_OF_INDEX = 7 + 7 + 5 };

uint64_t backlog_of_result(uint64_t count)
{
    return count > 1 ? count * BYTES_OF_INDEX : 0;
}

/* Sets the count of unread bytes to the number of bytes in the outbox. */
static void count_unread(struct client *client)
{
    const uint64_t unread = outbox_pending(&client->out);

    user_of(client)->reply_bytes +=
        unread - client->backlog.unread; /* the difference may be negative: modulo 2^64 */
    client->backlog.unread = unread;
}

void backlog_expect(struct client *client, uint64_t bytes)
{
    client->backlog.expected += bytes;
    user_of(client)->reply_bytes += bytes;
}

void backlog_unexpect(struct client *client, uint64_t bytes)
{
    client->backlog.expected -= bytes;
    user_of(client)->reply_bytes -= bytes;
}

static bool user_is_over(const struct client *client)
{
    const struct user *user = user_of(client);

    return user->reply_bytes > config_quota(client->net->config, user->uid)->reply_bytes;
}

bool backlog_has_room(const struct client *client)
{
    return client->backlog.unread == 0 || !user_is_over(client);
}

bool backlog_has_room_for_jobs(const struct client *client)
{
    const uint64_t bytes = client->backlog.unread + client->backlog.expected;

    return bytes == 0 || (bytes <= BACKLOG_EXPECTED && !user_is_over(client));
}

/* Returns whether requests of this client wait until the client reads replies. */
static bool is_awaited(const struct client *client)
{
    switch (client->state) {
    case CLIENT_HELD_FDS:
        return true;
    case CLIENT_CONGESTED:
    case CLIENT_HELD_REPLIES:
    case CLIENT_HELD_UNREAD:
        return client->backlog.unread > 0;
    default:
        return false;
    }
}

static void watch_backlog(struct client *client);

static void on_backlog_timer(uv_timer_t *timer)
{
    struct client *client = timer->data;

    if (is_awaited(client) && client->out.sent == client->backlog.sent)
        doom(client, "has not read its replies for limits.reply_timeout_ms");
    else
        watch_backlog(client);
}

/* Starts the timer within which the client must read some bytes of replies, or stops it. */
static void watch_backlog(struct client *client)
{
    const uint32_t ms = client->net->config->reply_timeout_ms;
    uv_timer_t *timer = &client->backlog.timer;

    if (ms == 0 || !is_awaited(client)) {
        uv_timer_stop(timer);
    } else if (!uv_is_active((uv_handle_t *)timer)) {
        client->backlog.sent = client->out.sent;
        uv_timer_start(timer, on_backlog_timer, ms, 0);
    }
}

/* Sending. */

/* Makes the timer of `held` flush the client again, because the system refused a descriptor. */
static void begin_retrying(struct client *client)
{
    struct held *held = &client->net->held;

    if (!link_empty(&client->refused_link))
        return;
    link_append(&held->refused, &client->refused_link);
    begin_waiting(held);
}

static void stop_retrying(struct client *client)
{
    if (link_empty(&client->refused_link))
        return;
    link_remove(&client->refused_link);
    end_waiting(&client->net->held);
}

static bool is_silent(const struct client *client)
{
    return client->state == CLIENT_DOOMED || client->state == CLIENT_CLOSED;
}

void client_flush(struct client *client)
{
    int error;

    link_remove(&client->unsent_link);
    if (is_silent(client))
        return;
    error = outbox_flush(&client->out, client->fd);
    count_unread(client);
    if (client->out.refused)
        begin_retrying(client);
    else
        stop_retrying(client);
    if (error < 0)
        doom(client, strerror(-error));
    else if (client->backlog.unread > BACKLOG_UNREAD_MAX)
        doom(client, "does not read its replies");
    note_congestion(client);
    client_settle(client);
}

/* Sends what was appended to the outbox, at the end of the round or earlier. */
static bool appended(struct client *client, int error)
{
    if (error < 0) {
        abandon(client, "no memory for a reply");
        return false;
    }
    if (link_empty(&client->unsent_link) && !(client->events & UV_WRITABLE))
        link_append(&client->net->unsent, &client->unsent_link);
    count_unread(client);
    if (client->backlog.unread > BACKLOG_LOW)
        client_flush(client);
    return true;
}

/* Returns whether the writer has a text. If there was no memory for it, abandons the client. */
static bool has_text(struct client *client, struct jsonw *w)
{
    if (jsonw_text(w))
        return true;
    abandon(client, "no memory for a reply");
    jsonw_finish(w);
    jsonw_init(w);
    return false;
}

bool client_send(struct client *client, struct jsonw *w, int fd)
{
    if (is_silent(client) || !has_text(client, w)) {
        if (fd >= 0)
            client_close_fds(client, &fd, 1);
        return false;
    }
    if (fd >= 0)
        outbox_attach(&client->out, fd);
    return appended(client, outbox_append(&client->out, w->data, w->length));
}

bool client_send_text(struct client *client, struct jsonw *w)
{
    int error;

    if (is_silent(client) || !has_text(client, w))
        return false;
    error = outbox_adopt(&client->out, w->data, w->length);
    if (error == 0)
        jsonw_init(w); /* do not free the text: the outbox owns it */
    return appended(client, error);
}

bool client_send_event(struct client *client, struct jsonw *w)
{
    if (client->state == CLIENT_DOOMED || client->backlog.unread + w->length > BACKLOG_HIGH ||
        !backlog_has_room(client))
        return false;
    client_send(client, w, -1);
    return true;
}

bool client_has_room_for_fd(struct client *client)
{
    return outbox_has_room_for_fd(&client->out, client->fd);
}

void client_send_all(struct net *net)
{
    while (!link_empty(&net->unsent))
        client_flush(LINK_OWNER(net->unsent.next, struct client, unsent_link));
}

static void greet(struct client *client)
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
        client_send(client, &w, -1);
    else
        abandon(client, "no memory for the greeting");
    jsonw_finish(&w);
}

/* Input. */

/*
 * Replies with an error without id, and ends the client: the beginning of the next line cannot be
 * found.
 */
static void stream_fault(struct client *client, const char *pointer, const char *text)
{
    const struct rpc_id none = {.kind = RPC_ID_NULL};
    struct jsonw *w = &client->net->scratch;
    struct fault fault;

    log_at(client, LOG_NOTICE, LOG_KIND_STREAM, "protocol error", text);
    if (client_is_open(client)) {
        fault_set(&fault, FAULT_STREAM_ERROR, pointer, "%s", text);
        jsonw_reset(w);
        rpc_write_error(w, &none, &fault);
        client_send(client, w, -1);
    }
    client_end(client);
}

/*
 * Returns whether the client waits because unfinished lines of its user hold too many descriptors.
 * The time limit of its own unfinished line goes on meanwhile.
 */
static bool is_crowded(const struct client *client)
{
    return client->state == CLIENT_FULL && user_of(client)->crowded;
}

/* Returns why no more descriptors are taken from this user now, or NULL. */
static const char *reason_to_wait(const struct client *client)
{
    struct user *user = user_of(client);

    if (reaper_full(user->uid))
        return "descriptors of this user are not closed yet";
    if (user->waiting_fds + PROTO_FDS_MAX <= WAITING_FDS_MAX)
        return NULL;
    user->crowded = true;
    return "incomplete and unhandled requests of this user hold too many file descriptors";
}

static bool must_wait(struct client *client)
{
    const char *why = reason_to_wait(client);

    if (!why)
        return false;
    enter(client, CLIENT_FULL);
    log_at(client, LOG_NOTICE, LOG_KIND_STREAM, "client waits for descriptors", why);
    return true;
}

/*
 * Takes ownership of the descriptors. Returns 0, or -1 if more descriptors wait than two messages
 * may carry.
 */
static int take_fds(struct client *client, const int *fds, size_t count)
{
    const size_t room = sizeof client->in.fds / sizeof *client->in.fds - client->in.fd_count;

    if (count <= room)
        return frame_push_fds(&client->in, fds, count);
    client_close_fds(client, fds, count);
    return -1;
}

/* Receives bytes and descriptors once. Returns 0 or -errno. */
static int receive(struct client *client)
{
    int fds[FD_RECV_MAX];
    size_t room, count = 0;
    char *bytes = frame_room(&client->in, &room);
    ssize_t got;

    if (must_wait(client))
        return 0;
    if (!bytes) {
        stream_fault(client, NULL, "the line is longer than a request may be (64 KiB)");
        return 0;
    }
    got = fd_recv_all(client->fd, bytes, room, fds, &count);
    if (got == -EAGAIN || got == -EWOULDBLOCK)
        return 0;
    if (got == -EMSGSIZE || count > PROTO_FDS_MAX) {
        client_close_fds(client, fds, count);
        stream_fault(client, "/fds",
                     "fds: descriptors were lost: a message carried more than 16, or the service "
                     "has too few left");
        return 0;
    }
    if (got <= 0) {
        client->input_ended = true;
        return (int)got;
    }
    if (take_fds(client, fds, count) < 0) {
        stream_fault(client, "/fds", "fds: more descriptors wait than two messages may carry");
        return 0;
    }
    count_fds(client);
    frame_commit(&client->in, (size_t)got);
    return 0;
}

/* Starts the timer within which the client must finish its line, unless the service has stopped
 * reading from it. */
static void watch_line(struct client *client, bool progress)
{
    const bool begun = client->in.end > client->in.begin && !client->input_ended;
    const uint32_t ms = client->net->config->line_timeout_ms;

    if (!client_is_open(client))
        return;
    if (!begun || ms == 0 || !(client->state == CLIENT_READING || is_crowded(client)))
        uv_timer_stop(&client->timer);
    else if (progress || !uv_is_active((uv_handle_t *)&client->timer))
        set_timer(client, ms);
}

/* Handles complete lines until CHORE_TURN_NS after `began`, but at least one. The next turn handles
 * the remaining lines. */
static void handle_lines(struct client *client, uint64_t began)
{
    struct net *net = client->net;
    const char *line;
    size_t length;
    uint64_t now;
    bool progress = false;

    net->handling = client;
    while (client->state == CLIENT_READING && frame_next(&client->in, &line, &length)) {
        const uint64_t before = net->jobs->clock;

        net->handle(client, line, length);
        progress = true;
        /* Saves a call of uv_hrtime() if the handler has just set jobs->clock. That time may even
         * be before `began`; then the turn of the client ends one line later. */
        now = net->jobs->clock != before ? net->jobs->clock : uv_hrtime();
        if (client->state == CLIENT_READING && now > began + CHORE_TURN_NS)
            enter(client, CLIENT_TURN);
    }
    count_fds(client);
    if (client->state == CLIENT_READING && frame_leftover(&client->in))
        stream_fault(client, "/fds", "fds: more descriptors came than were announced");
    watch_line(client, progress);
    net->handling = NULL;
}

/* Handles lines until the input of this round of the loop has taken CHORE_TURN_NS. */
static void handle_lines_of_round(struct client *client)
{
    struct net *net = client->net;

    if (net->intake_began == 0)
        net->intake_began = uv_hrtime();
    handle_lines(client, net->intake_began);
}

static void on_turn(struct chore *chore)
{
    struct client *client = LINK_OWNER(chore, struct client, turn);

    enter(client, CLIENT_READING);
    handle_lines(client, uv_hrtime());
    client_settle(client);
}

/* Dropping the jobs, prepared jobs and buffers of a client that has left. */

/* Drops the duty to answer: the reply is not sent any more. */
static void drop_answer(struct answer *answer)
{
    if (answer->due)
        backlog_unexpect(answer->client, answer->expected);
    answer->due = false;
}

static void drop_pending(struct client *client)
{
    while (!link_empty(&client->pending)) {
        struct pending *pending = LINK_OWNER(client->pending.next, struct pending, link);

        link_remove(&pending->link);
        drop_answer(&pending->answer);
        pending->drop(pending);
    }
}

static void leave_task(struct task *task)
{
    drop_answer(
        &((struct submission *)(void *)task /* the task is the first member of its submission */)
             ->answer);
    task_leave_session(task);
}

/* Cancels all running jobs of the client in one call, because other jobs wait for their channels.
 */
static void cancel_running(struct client *client)
{
    struct link *running = &client->net->jobs->running_tasks;

    for (struct link *l = running->next; l != running; l = l->next) {
        struct task *task = LINK_OWNER(l, struct task, place);

        if (task->session != &client->session)
            continue;
        leave_task(task);
        if (!task->ended) /* if the task has ended, its transfer is cancelled already */
            task_stop(task);
    }
}

/* Drops a job, else a prepared job, else a buffer. Returns false if the client has nothing left. */
static bool drop_one(struct client *client, const struct fault *fault)
{
    struct task *task;

    if (link_empty(&client->session.tasks))
        return prepared_release_last(&client->session) ||
               buffer_release_last(&client->session.buffers);
    task = LINK_OWNER(client->session.tasks.next, struct task, session_link);
    leave_task(task);
    if (!task->ended)
        task_abort(task, fault);
    return true;
}

/* Drops jobs, prepared jobs and buffers for a slice of time. Returns whether the client has nothing
 * left. */
static bool drop_slice(struct client *client)
{
    const uint64_t begin = uv_hrtime();
    bool more;
    struct fault fault;

    fault_set(&fault, FAULT_CANCELLED, NULL, "the client has left");
    do
        more = drop_one(client, &fault);
    while (more && uv_hrtime() - begin < CHORE_SLICE_NS);
    dispatch_run(
        client->net->jobs); /* starts other jobs, and ends dependents of the dropped jobs */
    return !more;
}

static void release(struct client *client);

static void on_dropping(struct chore *chore)
{
    struct client *client = LINK_OWNER(chore, struct client, dropping);

    if (!drop_slice(client))
        chore_add(client->net->chores, chore);
    else if (client->state == CLIENT_CLOSED)
        release(client);
}

/* Drops everything in slices. Running jobs keep their memory until they end. */
static void drop_all(struct client *client)
{
    client->net->unsubscribe(client);
    drop_pending(client);
    if (chore_queued(&client->dropping))
        return;
    cancel_running(client);
    if (!drop_slice(client))
        chore_add(client->net->chores, &client->dropping);
}

/* Closing. */

static void destroy(struct client *client)
{
    assert(client->backlog.expected == 0); /* the client's jobs and waits have ended */
    user_of(client)->reply_bytes -= client->backlog.unread;
    frame_finish(&client->in);
    outbox_finish(&client->out);
    session_finish(&client->session);
    free(client);
}

/* Counts down the handles of a closed client. The last call frees the client. */
static void release(struct client *client)
{
    struct net *net = client->net;

    if (--client->handles > 0)
        return;
    link_remove(&client->link);
    link_remove(&client->of_user);
    net->slots[client->slot]--;
    user_of(client)->clients--;
    destroy(client);
    net->settled(net->context);
}

static void on_closed(uv_handle_t *handle)
{
    release(handle->data);
}

static void client_close(struct client *client, const char *why)
{
    if (client->state == CLIENT_CLOSED)
        return;
    log_at(client, LOG_INFO, LOG_KIND_DISCONNECTED, "client disconnected", why);
    enter(client, CLIENT_CLOSED);
    client->session.closing = true;
    stop_retrying(client);
    link_remove(&client->unsent_link);
    drop_all(client);
    client->handles += chore_queued(&client->dropping);
    uv_close((uv_handle_t *)&client->poll, on_closed);
    uv_close((uv_handle_t *)&client->timer, on_closed);
    uv_close((uv_handle_t *)&client->backlog.timer, on_closed);
    close_waiting_fds(client);
    reaper_close_connection(client->fd);
}

void client_end(struct client *client)
{
    if (!client_is_open(client))
        return;
    enter(client, CLIENT_ENDING);
    client->session.closing = true;
    drop_all(client);
    if (client->state == CLIENT_ENDING)
        set_flush_timer(client);
    client_settle(client);
}

/* The events of the loop. */

static void on_timer(uv_timer_t *timer)
{
    struct client *client = timer->data;

    if (client->state == CLIENT_DOOMED)
        client_close(client, NULL);
    else if (client->state == CLIENT_ENDING)
        client_close(client, "does not read its replies");
    else if (client->input_ended)
        client_close(client, "does not read its last replies");
    else if (client->state == CLIENT_READING || is_crowded(client))
        stream_fault(client, NULL, "the line was not finished in time");
}

static bool hung_up(int fd)
{
    struct pollfd poller = {.fd = fd};

    return poll(&poller, 1, 0) > 0 && (poller.revents & (POLLHUP | POLLERR | POLLNVAL));
}

/* Returns whether a complete line waits in the frame. */
static bool has_line(const struct frame *in)
{
    return memchr(in->buffer + in->scanned, '\n', in->end - in->scanned) != NULL;
}

/* Returns whether all requests of the client are answered, and no more will come. */
static bool is_at_end(const struct client *client)
{
    if (!client->input_ended || client->session.task_count > 0 || !link_empty(&client->pending))
        return false;
    return (client->state == CLIENT_READING || client->state == CLIENT_CONGESTED) &&
           !has_line(&client->in);
}

static bool finished(const struct client *client)
{
    if (outbox_pending(&client->out) > 0)
        return false;
    return client->state == CLIENT_ENDING || is_at_end(client);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct client *client = poll->data;
    int error = 0;

    /* A negative status is a socket error: the peer has closed the connection before it had read
     * all replies. */
    if (status < 0 || ((events & UV_DISCONNECT) && hung_up(client->fd))) {
        client_close(client, NULL);
        return;
    }
    if (events & UV_DISCONNECT)
        client->peer_shut = true;
    if (events & UV_WRITABLE)
        error = outbox_flush(&client->out, client->fd);
    if (client->out.refused)
        begin_retrying(client);
    count_unread(client);
    if (client->state == CLIENT_CONGESTED && client->backlog.unread < BACKLOG_LOW)
        enter(client, CLIENT_READING);
    handle_lines_of_round(client); /* handle lines that waited for the congestion to end */
    if (error == 0 && (events & UV_READABLE) && client->state == CLIENT_READING) {
        error = receive(client);
        handle_lines_of_round(client);
    }
    if (error < 0)
        client_close(client, strerror(-error));
    else
        client_settle(client);
}

void client_settle(struct client *client)
{
    int events = 0;

    held_check_again(&client->net->held);
    if (is_silent(client) || client->net->handling == client)
        return;
    if (finished(client)) {
        doom(client, NULL);
        return;
    }
    watch_backlog(client);
    if (is_at_end(client) && !uv_is_active((uv_handle_t *)&client->timer))
        set_flush_timer(client);
    if (client->state == CLIENT_READING && !client->input_ended)
        events |= UV_READABLE;
    if (outbox_pending(&client->out) > 0 && link_empty(&client->unsent_link) &&
        link_empty(&client->refused_link))
        events |= UV_WRITABLE;
    if (!client->peer_shut)
        events |= UV_DISCONNECT;
    if (events == client->events)
        return;
    client->events = events;
    if (events == 0)
        uv_poll_stop(&client->poll);
    else if (uv_poll_start(&client->poll, events, on_poll) < 0)
        abandon(client, "cannot be polled");
}

/* Allocates a client; its libuv handles are not initialised yet. Returns NULL if out of memory. */
static struct client *allocate(struct net *net, int fd)
{
    struct ucred ucred = {.uid = (uid_t)-1};
    socklen_t length = sizeof ucred;
    struct client *client = seam.calloc(1, sizeof *client);

    if (!client)
        return NULL;
    client->net = net;
    client->fd = fd;
    link_init(&client->link);
    link_init(&client->of_user);
    link_init(&client->place);
    link_init(&client->unsent_link);
    link_init(&client->refused_link);
    chore_init(&client->turn, on_turn);
    chore_init(&client->dropping, on_dropping);
    link_init(&client->pending);
    link_init(&client->subscription.link);
    link_init(&client->subscription.in_scope);
    outbox_init(&client->out);
    getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &ucred, &length);
    if (session_init(&client->session, net->jobs, net->last_client + 1,
                     &(struct credentials){.pid = ucred.pid, .uid = ucred.uid}) == 0) {
        if (frame_init(&client->in, PROTO_LINE_MAX) == 0)
            return client;
        session_finish(&client->session);
    }
    free(client);
    return NULL;
}

int client_create(struct net *net, int fd, enum slot slot)
{
    struct client *client = allocate(net, fd);
    int error;

    if (!client) {
        reaper_close_connection(fd);
        return -ENOMEM;
    }
    error = uv_poll_init(net->loop, &client->poll,
                         fd); /* this call also makes the socket non-blocking */
    if (error < 0) {
        destroy(client);
        reaper_close_connection(fd);
        return error;
    }
    uv_timer_init(net->loop, &client->timer); /* cannot fail */
    uv_timer_init(net->loop, &client->backlog.timer);
    client->poll.data = client->timer.data = client->backlog.timer.data = client;
    client->handles = 3;
    link_append(&net->clients, &client->link);
    link_append(&user_of(client)->connections, &client->of_user);
    client->slot = slot;
    net->slots[slot]++;
    net->last_client++;
    user_of(client)->clients++;
    log_at(client, LOG_INFO, LOG_KIND_CONNECTED, "client connected", NULL);
    greet(client);
    client_settle(client);
    return 0;
}

/* Held clients. */

enum {
    LOOKS_MAX = 64,      /* maximum number of clients that are checked in one round of the loop */
    PAUSE_MIN_MS = 2,    /* pause of the timer while only one client waits */
    CLIENTS_PER_MS = 16, /* the pause is 1 ms longer for each 16 waiting clients */
};

/*
 * The chore has nothing to do: it only makes the loop run another round, which ends with
 * held_check().
 */
static void do_nothing(struct chore *chore)
{
    (void)chore;
}

void held_init(struct held *held, uv_loop_t *loop)
{
    link_init(&held->clients);
    link_init(&held->refused);
    held->count = held->left = held->waiting = 0;
    chore_init(&held->again, do_nothing);
    uv_timer_init(loop, &held->timer); /* cannot fail */
    held->timer.data = held;
}

void held_close(struct held *held)
{
    chore_remove(&held->again);
    uv_close((uv_handle_t *)&held->timer, NULL);
}

static void flush_refused(struct held *held)
{
    struct link now = {&now, &now};

    if (!link_empty(&held->refused))
        link_replace(&held->refused, &now);
    for (int i = 0; i < LOOKS_MAX && !link_empty(&now); i++) {
        struct client *client = LINK_OWNER(now.next, struct client, refused_link);

        stop_retrying(client);
        client_flush(client); /* calls begin_retrying() if the system still refuses */
    }
    while (!link_empty(&now)) { /* put the remaining clients first for the next call */
        struct link *last = now.prev;

        link_remove(last);
        link_append(held->refused.next, last);
    }
}

static void on_timer_of_held(uv_timer_t *timer)
{
    struct held *held = timer->data;

    flush_refused(held);
    held_check_again(held);
    if (held->waiting > 0)
        start_timer_of_held(held);
}

static void start_timer_of_held(struct held *held)
{
    uv_timer_start(&held->timer, on_timer_of_held, PAUSE_MIN_MS + held->waiting / CLIENTS_PER_MS,
                   0);
}

void held_check_again(struct held *held)
{
    held->left = held->count;
}

static bool may_go_on(struct client *client)
{
    switch (client->state) {
    case CLIENT_HELD_JOBS:
        return jobs_have_room(client->net->jobs, client->session.flow);
    case CLIENT_HELD_REPLIES:
        return backlog_has_room_for_jobs(client);
    case CLIENT_HELD_UNREAD:
        return backlog_has_room(client);
    default:
        return client_has_room_for_fd(client);
    }
}

/* Looks at the first client in the list of those that wait. Handles the client's lines if its next
 * request need not wait any longer; else moves the client to the end of the list. */
static void look(struct held *held)
{
    struct client *client = LINK_OWNER(held->clients.next, struct client, place);

    held->left--;
    if (!may_go_on(client)) {
        link_remove(&client->place);
        link_append(&held->clients, &client->place);
        return;
    }
    enter(client, CLIENT_READING);
    handle_lines_of_round(client);
    client_settle(client);
}

void held_check(struct net *net)
{
    struct held *held = &net->held;

    for (int i = 0; i < LOOKS_MAX && held->left > 0; i++)
        look(held);
    if (held->left > 0 && !chore_queued(&held->again))
        chore_add(net->chores, &held->again);
}
