/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * JSON-RPC 2.0 on the wire: requests, replies, errors. One object per line, no batches. PROTOCOL.md
 * describes every message. Data flow of a request and its reply:
 *
 *     client: plain data -> *_write() -> request_send() -> struct out -> socket
 *     service: socket -> struct frame (lines, descriptors) -> rpc_request_parse()
 *              -> *_read(params) -> plain data -> daemon/net
 *     service: plain data -> rpc_result_begin/end or rpc_write_error() -> socket
 *     client: socket -> struct frame -> rpc_reply_parse() -> *_read(result) -> plain data
 *
 * To add a method, start here: add it to RPC_METHOD_TABLE and, if it takes no params, to
 * takes_params() in rpc.c. Add a structure for its params, with a read and a write function, to
 * methods.h, and a section to PROTOCOL.md. daemon/net/net.h says how to add the method to the
 * service, client/src/client_state.h how to add it to the C client. If its params or results have
 * a structure of their own, add them to tests/unit/proto/test_calls.c and tests/fuzz/fuzz_rpc.c. To
 * add an event, start in events.h; to add an error, in proto/json/fault.h; to add a member of jobs,
 * in job.h.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/job.h"
#include "proto/wire/methods.h"
#include "proto/wire/wire_limits.h"

/* Every method: X(name in C, name on the wire). */
#define RPC_METHOD_TABLE(X)                                                                        \
    X(JOB_SUBMIT, "job.submit")                                                                    \
    X(JOB_PREPARE, "job.prepare")                                                                  \
    X(JOB_START, "job.start")                                                                      \
    X(JOB_RELEASE, "job.release")                                                                  \
    X(JOB_WAIT, "job.wait")                                                                        \
    X(JOB_STATUS, "job.status")                                                                    \
    X(JOB_LIST, "job.list")                                                                        \
    X(JOB_CANCEL, "job.cancel")                                                                    \
    X(BUFFER_REGISTER, "buffer.register")                                                          \
    X(BUFFER_ALLOC, "buffer.alloc")                                                                \
    X(BUFFER_RELEASE, "buffer.release")                                                            \
    X(BUFFER_LIST, "buffer.list")                                                                  \
    X(EVENTS_SUBSCRIBE, "events.subscribe")                                                        \
    X(DAEMON_PING, "daemon.ping")                                                                  \
    X(DAEMON_INFO, "daemon.info")                                                                  \
    X(DAEMON_STATS, "daemon.stats")                                                                \
    X(DAEMON_DRAIN, "daemon.drain")                                                                \
    X(DAEMON_RESUME, "daemon.resume")

enum rpc_method {
    RPC_NO_METHOD = 0,
#define RPC_METHOD_ENUM(name, text) RPC_##name,
    RPC_METHOD_TABLE(RPC_METHOD_ENUM)
#undef RPC_METHOD_ENUM
        RPC_METHOD_COUNT
};

/* A request's id: an integer or a string. Requests without an id (notifications) are refused. */
struct rpc_id {
    enum { RPC_ID_NULL = 0, RPC_ID_INT, RPC_ID_STRING } kind;
    int64_t number;
    char text[PROTO_NAME_MAX + 1];
};

/* Limits of a request line and of a reply line, for json_parse(). */
extern const struct json_limits rpc_request_limits, rpc_reply_limits;

struct rpc_request {
    struct rpc_id id;
    enum rpc_method method;
    uint32_t fds;       /* number of descriptors of this line ("fds"); 0 if absent */
    struct json root;   /* the root of the line; owned; params points into it */
    struct json params; /* .node is null if absent */
    struct fault fault; /* fault of this line; the getters of `params` fill it too, with pointers
                           relative to params */
};

/**
 * Parses one line. Returns 0, or -1 with request->fault filled. Then `id` and `fds` are set if they
 * could be read, so that the reply has the id and the descriptors can be closed; `fds` is
 * UINT32_MAX if the line is not JSON or "fds" is invalid, and the stream cannot be parsed any
 * further. Call rpc_request_finish() in any case.
 */
int rpc_request_parse(const char *line, size_t length, struct rpc_request *request);
void rpc_request_finish(struct rpc_request *request);

/* To write a reply, call rpc_result_begin(), write the result's members, call rpc_result_end(). */
void rpc_result_begin(struct jsonw *w, const struct rpc_id *id, uint32_t fds);
void rpc_result_end(struct jsonw *w);
/* Each of the functions rpc_write_*() writes a whole line. */
void rpc_write_error(struct jsonw *w, const struct rpc_id *id, const struct fault *fault);
/** Writes an error reply with the number of the job that failed. */
void rpc_write_job_error(struct jsonw *w, const struct rpc_id *id, const struct fault *fault,
                         uint64_t job);
void rpc_write_job_result(struct jsonw *w, const struct rpc_id *id,
                          const struct job_result *result);
void rpc_write_pong(struct jsonw *w, const struct rpc_id *id);

void rpc_write_info(struct jsonw *w, const struct rpc_id *id, const struct daemon_info *info);

/*
 * A line from the service: a reply, or a notification ("hello", "event"). Unknown members are
 * skipped, as PROTOCOL.md requires.
 */
enum rpc_notification { RPC_NOT_A_NOTIFICATION = 0, RPC_HELLO, RPC_EVENT, RPC_OTHER_NOTIFICATION };

struct rpc_reply {
    struct rpc_id id;
    enum rpc_notification notification;
    struct json params;             /* params of a notification, for hello_read() or event_read() */
    uint32_t fds;                   /* number of descriptors of this line */
    struct inline_payload *inlines; /* the member "inline"; owned; null if absent */
    bool ok;
    struct json root;   /* the root of the line; owned; result and params point into it */
    struct json result; /* if ok */
    struct fault error; /* the error of the reply, if the reply is not ok */
    uint64_t error_job; /* number of the job that failed; 0: no job */
    struct fault fault; /* fault of this line; the getters of `result` fill it too */
};

/**
 * Parses one line. Returns 0, or -1 with reply->fault filled. Call rpc_reply_finish() in any case.
 */
int rpc_reply_parse(const char *line, size_t length, struct rpc_reply *reply);
void rpc_reply_finish(struct rpc_reply *reply);
