/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as they go out. */
#ifndef CLIENT_REQUEST_H
#define CLIENT_REQUEST_H

#include "client/src/client_state.h"
#include "proto/wire/rpc.h"

/* What is to be sent, and what becomes of the answer. */
struct request {
    const char *method;
    const char *params; /* JSON text; null: none */
    size_t params_length;
    const mli_client_attachment *attachments;
    size_t count;
    enum slot_kind kind;
    mli_client_done_fn *done;
    void *user;
};

/** Queues a request, and sends it where descriptors are to go with it. Returns 0 or a code. */
int request_send(mli_client *client, const struct request *request, mli_client_ticket *ticket,
                 mli_client_error *error);

/** Refuses what may not be called from a callback. Returns 0 or MLI_CLIENT_MISUSE. */
int request_may_wait(const mli_client *client, mli_client_error *error);

/** Begins params anew. */
struct jsonw *request_params(mli_client *client);

/**
 * Sends a request whose params are the client's (`with_params`) or none, and waits. Returns 0 with
 * the reply, which call_finish() ends; or a code.
 */
struct call {
    mli_client *client;
    mli_client_ticket ticket;
    struct rpc_reply *reply;
};
int call_begin(struct call *call, mli_client *client, const char *method, bool with_params,
               const mli_client_attachment *attachments, size_t count, mli_client_error *error);
/** The descriptor that came with the reply, now the caller's; -1: none. */
int call_take_fd(struct call *call);
void call_finish(struct call *call);
/** The same, for a reply that cannot be read: fills the error. Returns MLI_CLIENT_UNREADABLE. */
int call_unreadable(struct call *call, mli_client_error *error);

#endif /* CLIENT_REQUEST_H */
