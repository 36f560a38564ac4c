/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends requests, and waits for replies. */
#ifndef CLIENT_REQUEST_H
#define CLIENT_REQUEST_H

#include "client/src/client_state.h"
#include "proto/wire/rpc.h"

/* A request to send, and the destination of its reply. */
struct request {
    const char *method;
    const char *params; /* JSON text; null: no params */
    size_t params_length;
    const mli_client_attachment *attachments;
    size_t count;
    enum slot_kind kind;
    mli_client_done_fn *done;
    mli_client_reply_fn *reply_done; /* SLOT_LINE only */
    void *user;
};

/** Queues a request; sends it at once if it has descriptors. Returns 0 or a code. */
int request_send(mli_client *client, const struct request *request, mli_client_ticket *ticket,
                 mli_client_error *error);

/** Refuses calls from callbacks. Returns 0 or MLI_CLIENT_MISUSE. */
int request_may_wait(const mli_client *client, mli_client_error *error);

/** Returns the client's empty writer for params. */
struct jsonw *request_params(mli_client *client);

/**
 * Sends a request, with the params of request_params() if `with_params`, and waits for the reply.
 * Returns 0 with the reply, which call_finish() frees; or a code.
 */
struct call {
    mli_client *client;
    mli_client_ticket ticket;
    struct rpc_reply *reply;
};
int call_begin(struct call *call, mli_client *client, const char *method, bool with_params,
               const mli_client_attachment *attachments, size_t count, mli_client_error *error);
/** Passes the descriptor of the reply to the caller; returns -1 if the reply has no descriptor. */
int call_take_fd(struct call *call);
void call_finish(struct call *call);
/**
 * Like call_finish(), for an invalid reply: also fills the error. Returns MLI_CLIENT_UNREADABLE.
 */
int call_unreadable(struct call *call, mli_client_error *error);

#endif /* CLIENT_REQUEST_H */
