/* SPDX-License-Identifier: BSD-3-Clause */
/* JSON-RPC 2.0 envelopes: requests, replies, errors. One object per line, no batches. */
#ifndef PROTO_RPC_H
#define PROTO_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/json/fault.h"
#include "proto/json/json.h"
#include "proto/json/jsonw.h"
#include "proto/wire/daemon_calls.h"
#include "proto/wire/job_result.h"
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

/* A request's id: an integer or a string. A request without one (a notification) is refused. */
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
    uint32_t fds;       /* "fds": descriptors that belong to this line; absent: 0 */
    struct json root;   /* keep while params is used; rpc_request_finish() frees */
    struct json params; /* .node null where absent; a root of its own: faults below it point
                           into the params, those of the envelope into the line */
    struct fault fault; /* json getters below params complain here */
};

/**
 * Parses one line. Returns 0; or -1 with request->fault filled, and `id` and `fds` set as far as
 * they could be read (so that the answer carries the id and the descriptors can be dropped).
 * Where even "fds" cannot be trusted (the line is not JSON at all, or "fds" itself is malformed)
 * `fds` is UINT32_MAX and the stream cannot be followed. Always call rpc_request_finish().
 */
int rpc_request_parse(const char *line, size_t length, struct rpc_request *request);
void rpc_request_finish(struct rpc_request *request);

/*
 * Requests (client side): begin, the params' members by whoever knows them, end. `inlines` is the
 * member "inline", or null.
 */
struct inline_payload;
void rpc_request_begin(struct jsonw *w, int64_t id, enum rpc_method method, uint32_t fds,
                       const struct inline_payload *inlines);
void rpc_request_end(struct jsonw *w);

/*
 * Replies (service side): begin, the result's members by whoever knows them, end.
 */
void rpc_result_begin(struct jsonw *w, const struct rpc_id *id, uint32_t fds);
void rpc_result_end(struct jsonw *w);
/* Whole lines. */
void rpc_write_error(struct jsonw *w, const struct rpc_id *id, const struct fault *fault);
/** The same with the job whose error it is. */
void rpc_write_job_error(struct jsonw *w, const struct rpc_id *id, const struct fault *fault,
                         uint64_t job);
void rpc_write_job_result(struct jsonw *w, const struct rpc_id *id,
                          const struct job_result *result);
void rpc_write_pong(struct jsonw *w, const struct rpc_id *id);

void rpc_write_info(struct jsonw *w, const struct rpc_id *id, const struct daemon_info *info);

/*
 * The object "error" of a reply and of a job that failed. `job` is the number of the failed job,
 * 0 if the error belongs to no job.
 */
void rpc_error_write(struct jsonw *w, const char *key, const struct fault *fault, uint64_t job);
/** Returns 0, or -1 with error's fault filled. Skips unknown members. */
int rpc_error_read(const struct json *error, struct fault *fault, uint64_t *job);

/*
 * A line as the client sees it: a reply, or a notification (the greeting, an event). Members that
 * the client does not know are skipped, as PROTOCOL.md asks for.
 */
enum rpc_notification { RPC_NOT_A_NOTIFICATION = 0, RPC_HELLO, RPC_EVENT, RPC_OTHER_NOTIFICATION };

struct rpc_reply {
    struct rpc_id id;
    enum rpc_notification notification;
    struct json params; /* of a notification; "hello" is read by hello_read() and so on */
    uint32_t fds;       /* descriptors that came with the line */
    struct inline_payload *inlines; /* owned; null where there is no member "inline" */
    bool ok;
    struct json root;   /* rpc_reply_finish() frees */
    struct json result; /* where ok */
    struct fault error; /* where not ok: what the service said */
    uint64_t error_job; /* "job" of its data; 0: none */
    struct fault fault; /* getters below result complain here */
};

/** Returns 0, or -1 (reply->fault) where the line is no reply. Always call rpc_reply_finish(). */
int rpc_reply_parse(const char *line, size_t length, struct rpc_reply *reply);
void rpc_reply_finish(struct rpc_reply *reply);

#endif /* PROTO_RPC_H */
