/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The duty to answer one request. It is done exactly once: by a reply, by passing it on to a task
 * that will reply later, or by closing the connection if there is no memory for a reply. Each of
 * these returns a proof of type `const struct ended *`. Every handler must return a proof, and only
 * answer.c can make one. So a handler that forgets to answer does not compile, and a handler that
 * answers twice fails an assertion in its first test.
 */
#ifndef DAEMON_ANSWER_H
#define DAEMON_ANSWER_H

#include <stdbool.h>

#include "proto/wire/job_info.h"
#include "proto/wire/rpc.h"

struct client;
struct ended;

struct answer {
    struct client *client; /* null or closing: the reply is not sent */
    struct rpc_id id;
    bool due;
};

void answer_init(struct answer *answer, struct client *client, const struct rpc_id *id);

/** Replies with an error. */
const struct ended *answer_fault(struct answer *answer, const struct fault *fault);
/** Replies with an error that names a job. */
const struct ended *answer_job_fault(struct answer *answer, const struct fault *fault,
                                     uint64_t job);
const struct ended *answer_result(struct answer *answer, const struct job_result *result);
/** Replies to the request of a detached job. */
const struct ended *answer_accepted(struct answer *answer, uint64_t job, enum job_state state);
const struct ended *answer_pong(struct answer *answer);
const struct ended *answer_info(struct answer *answer, const struct daemon_info *info);

/**
 * Begins a result. The caller writes its members, then calls answer_end(). Returns NULL if the
 * client has left: write nothing, but call answer_end() with NULL. `fds` is the number of
 * descriptors.
 */
struct jsonw *answer_begin(struct answer *answer, uint32_t fds);
/** Ends and sends a result. */
const struct ended *answer_end(struct answer *answer, struct jsonw *w);
/** Ends and sends a result with one descriptor, of which it takes ownership. */
const struct ended *answer_end_fd(struct answer *answer, struct jsonw *w, int fd);

/** Passes the duty to answer on to `to`. */
const struct ended *answer_defer(struct answer *from, struct answer *to);

/** Sends a reply that rpc_result_begin() and rpc_result_end() have written into a writer of the
 * caller, for replies that are written in several rounds of the loop. Takes the text from the
 * writer; the caller finishes the writer. */
const struct ended *answer_text(struct answer *answer, struct jsonw *w);

#endif /* DAEMON_ANSWER_H */
