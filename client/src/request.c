/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends requests and waits for replies; also has the functions for event loops. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "client/src/client_state.h"
#include "proto/wire/inline_payload.h"

int mli_client_fd(const mli_client *client)
{
    return client->socket;
}

short mli_client_poll_events(const mli_client *client)
{
    return out_empty(&client->out) ? POLLIN : POLLIN | POLLOUT;
}

size_t mli_client_pending(const mli_client *client)
{
    return client->table.waiting;
}

enum { CROWDED_NS = 1000 * 1000 };

/*
 * ETOOMANYREFS: the kernel holds too many descriptors that processes of this user have sent and
 * services have not received yet. The request stays queued until they have.
 */
int mli_client_flush(mli_client *client, mli_client_error *error)
{
    int status;

    if (client->socket < 0)
        return error_give(error, &client->lost);
    do {
        client->out.cut = 0;
        status = out_flush(&client->out, client->socket);
        struct slot *slot = client->out.cut ? table_find(&client->table, client->out.cut) : NULL;
        if (slot) {
            slot->suspect = true;
            slot->suspect_error = client->out.cut_error;
        }
    } while (status == 0 && client->out.cut);
    if (status == -ETOOMANYREFS) {
        /* The socket stays writable: without a pause, a loop that polls it would not sleep. */
        nanosleep(&(struct timespec){.tv_nsec = CROWDED_NS}, NULL);
        return 0;
    }
    if (status == 0)
        return 0;
    connection_hang_up(client);
    return error_set(error, MLI_CLIENT_SYSTEM, "cannot send the request: %s", strerror(-status));
}

int request_may_wait(const mli_client *client, mli_client_error *error)
{
    if (client->depth == 0)
        return 0;
    return error_set(error, MLI_CLIENT_MISUSE, "a callback must not call a function that waits");
}

int mli_client_dispatch(mli_client *client, mli_client_error *error)
{
    int status = request_may_wait(client, error);

    if (status)
        return status;
    status = mli_client_flush(client, error);
    if (status == 0 && receive(client))
        return error_give(error, &client->lost);
    if (status == 0 && !out_empty(&client->out))
        status = mli_client_flush(client, error);
    return status;
}

/* Waits until the socket is ready, the deadline has passed or the interrupt is readable. */
static int wait_for_socket(const mli_client *client, int64_t deadline, mli_client_error *error)
{
    struct pollfd polled[] = {{.fd = client->socket, .events = mli_client_poll_events(client)},
                              {.fd = client->interrupt, .events = POLLIN}};
    int64_t left = deadline < 0 ? -1 : deadline - clock_ms();

    if (deadline >= 0 && left < 0)
        left = 0;
    int ready = poll(polled, 2, left > 60000 ? 60000 : (int)left);
    if (ready < 0 && errno != EINTR)
        return error_set(error, MLI_CLIENT_SYSTEM, "poll: %s", strerror(errno));
    if (ready > 0 && polled[1].revents)
        return error_set(error, MLI_CLIENT_INTERRUPTED, "interrupted");
    if (ready == 0 && deadline >= 0 && clock_ms() >= deadline)
        return error_set(error, MLI_CLIENT_WAITED, "the daemon does not answer");
    return 0;
}

int wait_round(mli_client *client, int64_t deadline, mli_client_error *error)
{
    int status = mli_client_flush(client, error);

    if (status == 0)
        status = wait_for_socket(client, deadline, error);
    return status ? status : mli_client_dispatch(client, error);
}

int wait_for_answer(mli_client *client, mli_client_ticket ticket, int timeout_ms,
                    mli_client_error *error)
{
    int64_t deadline = clock_deadline(timeout_ms);

    for (;;) {
        mli_client_error why;
        struct slot *slot = table_find(&client->table, ticket);
        if (slot->state == SLOT_DONE)
            return 0;
        if (slot->state == SLOT_FAILED) {
            int code = error_give(error, slot->error);
            table_release(&client->table, slot);
            return code;
        }
        /* If the connection is lost in this round, this request fails too; the next loop sees that.
         */
        int status = wait_round(client, deadline, &why);
        if (status == MLI_CLIENT_WAITED || status == MLI_CLIENT_INTERRUPTED)
            return error_give(error, &why);
        if (status && client->socket >= 0)
            connection_lost(client, "%s", why.message);
    }
}

int mli_client_wait(mli_client *client, mli_client_ticket ticket, int timeout_ms,
                    mli_client_result *result, mli_client_error *error)
{
    int status = request_may_wait(client, error);

    if (status)
        return status;
    struct slot *slot = table_find(&client->table, ticket);
    if (!slot || slot->done || slot->forgotten || slot->kind != SLOT_RESULT)
        return error_set(error, MLI_CLIENT_MISUSE,
                         "ticket: belongs to no request that can be waited for");
    status = wait_for_answer(client, ticket, timeout_ms, error);
    if (status)
        return status;
    slot = table_find(&client->table, ticket);
    if (result) {
        *result = slot->result;
        slot->result.owned = NULL;
    }
    table_release(&client->table, slot);
    return 0;
}

bool mli_client_done(const mli_client *client, mli_client_ticket ticket)
{
    const struct slot *slot = table_find(&client->table, ticket);

    return slot && slot->state != SLOT_WAITING;
}

void mli_client_forget(mli_client *client, mli_client_ticket ticket)
{
    struct slot *slot = table_find(&client->table, ticket);

    if (!slot)
        return;
    slot->done = NULL;
    slot->reply_done = NULL;
    slot->forgotten = true;
    if (slot->state != SLOT_WAITING)
        table_release(&client->table, slot);
}

int mli_client_wait_pending(mli_client *client, int timeout_ms, mli_client_error *error)
{
    int64_t deadline = clock_deadline(timeout_ms);
    int status = request_may_wait(client, error);

    while (status == 0 && client->table.waiting > 0)
        status = wait_round(client, deadline, error);
    return status;
}

/* ENVELOPE_MAX: the line without the params, with sixteen inline items. */
enum { ENVELOPE_MAX = 2048, METHOD_MAX = 64 };

static int no_memory(mli_client_error *error)
{
    return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
}

/* Files on an inline connection, which sends their bytes instead of descriptors. */

struct inlined {
    uint32_t count;
    uint64_t bytes[PROTO_FDS_MAX], sizes[PROTO_FDS_MAX];
    bool back[PROTO_FDS_MAX];
};

/* Sets the sizes of the files. Returns 0 or an error code. */
static int inlined_init(struct inlined *inlined, const mli_client_attachment *attachments,
                        size_t count, mli_client_error *error)
{
    uint64_t total = 0;

    *inlined = (struct inlined){.count = (uint32_t)count};
    for (size_t i = 0; i < count; i++) {
        struct stat stat;
        if (fstat(attachments[i].fd, &stat))
            return error_set(error, MLI_CLIENT_SYSTEM, "descriptor %zu: %s", i, strerror(errno));
        if (!S_ISREG(stat.st_mode))
            return error_set(error, MLI_CLIENT_MISUSE, "descriptor %zu is not a regular file", i);
        inlined->sizes[i] = (uint64_t)stat.st_size;
        inlined->bytes[i] = attachments[i].send ? (uint64_t)stat.st_size : 0;
        inlined->back[i] = attachments[i].back;
        if (inlined->sizes[i] > INLINE_BYTES_MAX - total)
            return error_set(error, MLI_CLIENT_MISUSE,
                             "the files have more than the %" PRIu64
                             " B that one request may have over this connection",
                             (uint64_t)INLINE_BYTES_MAX);
        total += inlined->sizes[i];
    }
    return 0;
}

/* Writes the member "inline" with a comma before it. Returns its length, below 1280. */
static int inlined_write(const struct inlined *inlined, char *text)
{
    int length = sprintf(text, ",\"inline\":[");

    for (uint32_t i = 0; i < inlined->count; i++) {
        length +=
            sprintf(text + length, "%s{\"bytes\":%" PRIu64 ",\"size\":%" PRIu64 "%s}", i ? "," : "",
                    inlined->bytes[i], inlined->sizes[i], inlined->back[i] ? ",\"back\":true" : "");
    }
    return length + sprintf(text + length, "]");
}

/* Duplicates the descriptors that results are written to. Returns 0 or a code. */
static int inlined_keep_backs(const struct inlined *inlined, struct slot *slot,
                              const mli_client_attachment *attachments, mli_client_error *error)
{
    slot->backs = calloc(PROTO_FDS_MAX, sizeof(*slot->backs));
    if (!slot->backs)
        return error_set(error, MLI_CLIENT_NO_MEMORY, "out of memory");
    for (uint32_t i = 0; i < inlined->count; i++) {
        struct slot_back *back = &slot->backs[slot->back_count++];
        *back = (struct slot_back){.fd = -1, .size = inlined->sizes[i]};
        if (!inlined->back[i])
            continue;
        back->fd = fcntl(attachments[i].fd, F_DUPFD_CLOEXEC, 0);
        if (back->fd < 0)
            return error_set(error, MLI_CLIENT_SYSTEM, "a descriptor cannot be duplicated: %s",
                             strerror(errno));
    }
    return 0;
}

/* Requests. */

/* sendmsg() would fail, and the connection would be lost with all requests that are queued after
 * this one. */
static int check_descriptors(const struct request *request, mli_client_error *error)
{
    for (size_t i = 0; i < request->count; i++) {
        const int fd = request->attachments[i].fd;

        if (fcntl(fd, F_GETFD) < 0)
            return error_set(error, MLI_CLIENT_MISUSE, "descriptor %zu: %d given; %s", i, fd,
                             "an open descriptor is required");
    }
    return 0;
}

static int check(const struct request *request, mli_client_error *error)
{
    if (strlen(request->method) > METHOD_MAX ||
        request->method[strspn(request->method, "abcdefghijklmnopqrstuvwxyz_.")] != '\0')
        return error_set(error, MLI_CLIENT_MISUSE,
                         "method: 1 to %d characters of a-z _ . are required", METHOD_MAX);
    if (request->count > PROTO_FDS_MAX)
        return error_set(error, MLI_CLIENT_MISUSE, "%zu descriptors given; at most %d are allowed",
                         request->count, PROTO_FDS_MAX);
    if (request->params && memchr(request->params, '\n', request->params_length))
        return error_set(error, MLI_CLIENT_MISUSE, "params: must not contain a newline");
    return check_descriptors(request, error);
}

/* Queues the whole line. Returns the length of the line, or -1 if out of memory. */
static int write_line(mli_client *client, const struct request *request, mli_client_ticket ticket,
                      const struct inlined *inlined)
{
    char *text = out_room(&client->out, ENVELOPE_MAX + request->params_length);

    if (!text)
        return -1;
    int length = sprintf(text, "{\"jsonrpc\":\"2.0\",\"id\":%" PRIu64 ",\"method\":\"%s\"", ticket,
                         request->method);
    if (request->count > 0)
        length += sprintf(text + length, ",\"fds\":%zu", request->count);
    if (request->count > 0 && client->inlined)
        length += inlined_write(inlined, text + length);
    if (request->params) {
        length += sprintf(text + length, ",\"params\":");
        memcpy(text + length, request->params, request->params_length);
        length += (int)request->params_length;
    }
    length += sprintf(text + length, "}\n");
    out_commit(&client->out, (size_t)length);
    return length;
}

static int attach(mli_client *client, const struct request *request)
{
    int fds[PROTO_FDS_MAX];

    if (client->inlined || request->count == 0)
        return 0;
    for (size_t i = 0; i < request->count; i++)
        fds[i] = request->attachments[i].fd;
    return out_attach(&client->out, fds, request->count);
}

/* Queues line, descriptors and bytes. Returns 0, or a code with nothing queued. */
static int queue(mli_client *client, const struct request *request, mli_client_ticket ticket,
                 const struct inlined *inlined, mli_client_error *error)
{
    out_line_begin(&client->out);
    int length = attach(client, request) ? -1 : write_line(client, request, ticket, inlined);
    if (length > PROTO_LINE_MAX) {
        out_line_drop(&client->out);
        return error_set(error, MLI_CLIENT_MISUSE,
                         "the request is %d bytes on the wire; at most %d are allowed", length,
                         PROTO_LINE_MAX);
    }
    for (size_t i = 0; length >= 0 && client->inlined && i < request->count; i++) {
        if (inlined->bytes[i] > 0 &&
            out_file(&client->out, request->attachments[i].fd, inlined->bytes[i], ticket))
            length = -1;
    }
    if (length < 0) {
        out_line_drop(&client->out);
        return no_memory(error);
    }
    return 0;
}

/*
 * Sends descriptors now; duplicates the descriptors that remain queued, so that the caller may
 * close its own.
 */
static int send_descriptors(mli_client *client, mli_client_error *error)
{
    uint64_t before = client->out.position + client->out.line_text - client->out.begin;
    int status = mli_client_flush(client, error);

    if (status)
        return status;
    int failure = out_keep(&client->out);
    if (failure == 0)
        return 0;
    if (client->out.position > before)
        connection_hang_up(client);
    else
        out_line_drop(&client->out);
    return error_set(error, MLI_CLIENT_SYSTEM, "a descriptor cannot be duplicated: %s",
                     strerror(-failure));
}

int request_send(mli_client *client, const struct request *request, mli_client_ticket *ticket,
                 mli_client_error *error)
{
    struct inlined inlined = {0};

    if (client->socket < 0)
        return error_give(error, &client->lost);
    int status = check(request, error);
    if (status == 0 && client->inlined && request->count > 0)
        status = inlined_init(&inlined, request->attachments, request->count, error);
    if (status)
        return status;
    struct slot *slot = table_take(&client->table, ticket);
    if (!slot)
        return no_memory(error);
    slot->kind = request->kind;
    slot->done = request->done;
    slot->reply_done = request->reply_done;
    slot->user = request->user;
    if (client->inlined && request->count > 0)
        status = inlined_keep_backs(&inlined, slot, request->attachments, error);
    if (status == 0)
        status = queue(client, request, *ticket, &inlined, error);
    if (status == 0 && request->count > 0)
        status = send_descriptors(client, error);
    else if (status == 0 && out_waiting(&client->out) > OUT_ENOUGH)
        status = mli_client_flush(client, error);
    if (status) {
        slot = table_find(&client->table, *ticket);
        if (slot)
            table_release(&client->table, slot);
    }
    return status;
}

/* Requests that wait for their reply. */

int call_begin(struct call *call, mli_client *client, const char *method, bool with_params,
               const mli_client_attachment *attachments, size_t count, mli_client_error *error)
{
    *call = (struct call){.client = client};
    struct request request = {
        .method = method, .attachments = attachments, .count = count, .kind = SLOT_REPLY};
    int status = request_may_wait(client, error);
    if (status)
        return status;
    if (with_params) {
        request.params = request_params_end(client);
        request.params_length = client->params.length;
        if (!request.params)
            return no_memory(error);
    }
    status = request_send(client, &request, &call->ticket, error);
    if (status == 0)
        status = wait_for_answer(client, call->ticket, client->timeout_ms, error);
    if (status == MLI_CLIENT_WAITED || status == MLI_CLIENT_INTERRUPTED)
        mli_client_forget(client, call->ticket);
    if (status)
        return status;
    call->reply = table_find(&client->table, call->ticket)->reply;
    return 0;
}

int call_take_fd(struct call *call)
{
    struct slot *slot = table_find(&call->client->table, call->ticket);
    int fd = slot->fd;

    slot->fd = -1;
    return fd;
}

void call_finish(struct call *call)
{
    table_release(&call->client->table, table_find(&call->client->table, call->ticket));
}

int call_unreadable(struct call *call, mli_client_error *error)
{
    int code = error_set(error, MLI_CLIENT_UNREADABLE, "the service's answer cannot be read: %s",
                         call->reply->fault.text);

    call_finish(call);
    return code;
}

int mli_client_call(mli_client *client, const char *method, const char *params,
                    const mli_client_attachment *attachments, size_t count, int timeout_ms,
                    char **line, size_t *length, mli_client_error *error)
{
    mli_client_ticket ticket = 0;
    struct request request = {.method = method,
                              .params = params,
                              .params_length = params ? strlen(params) : 0,
                              .attachments = attachments,
                              .count = count,
                              .kind = SLOT_LINE};
    int status = request_may_wait(client, error);

    if (status == 0)
        status = request_send(client, &request, &ticket, error);
    if (status)
        return status;
    status = wait_for_answer(client, ticket, timeout_ms, error);
    if (status == MLI_CLIENT_WAITED || status == MLI_CLIENT_INTERRUPTED)
        mli_client_forget(client, ticket);
    if (status)
        return status;
    struct slot *slot = table_find(&client->table, ticket);
    *line = slot->line;
    *length = slot->length;
    slot->line = NULL;
    table_release(&client->table, slot);
    return 0;
}

int mli_client_call_async(mli_client *client, const char *method, const char *params,
                          const mli_client_attachment *attachments, size_t count,
                          mli_client_reply_fn *done, void *user, mli_client_ticket *ticket,
                          mli_client_error *error)
{
    const struct request request = {.method = method,
                                    .params = params,
                                    .params_length = params ? strlen(params) : 0,
                                    .attachments = attachments,
                                    .count = count,
                                    .kind = SLOT_LINE,
                                    .reply_done = done,
                                    .user = user};

    return request_send(client, &request, ticket, error);
}
