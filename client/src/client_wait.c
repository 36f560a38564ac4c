/* SPDX-License-Identifier: BSD-3-Clause */
/* Waits for replies; also has the functions for event loops. */
#include "client/src/client_wait.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <time.h>

#include "client/src/client_request.h"
#include "client/src/client_result.h"
#include "client/src/receive.h"

int64_t clock_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_deadline(int timeout_ms)
{
    return timeout_ms < 0 ? -1 : clock_ms() + timeout_ms;
}

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
    return error_set(error, MLI_CLIENT_SYSTEM, "sending failed: %s", strerror(-status));
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
