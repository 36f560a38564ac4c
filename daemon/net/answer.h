/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The duty to answer one request. It is discharged exactly once: by a reply, by handing it on to a
 * task that will reply later, or, where there is no memory for a reply, by closing the connection.
 * Each of these returns a proof of type `const struct ended *`, which nothing outside answer.c can
 * make and every request handler must return: a handler that forgets to answer does not compile,
 * and one that answers twice fails an assertion on its first test.
 */
#ifndef DAEMON_ANSWER_H
#define DAEMON_ANSWER_H

#include <stdbool.h>

#include "proto/wire/job_info.h"
#include "proto/wire/rpc.h"

struct client;
struct ended;

struct answer {
    struct client *client; /* null, or not open any more: the answer is not sent */
    struct rpc_id id;
    bool due;
};

void answer_init(struct answer *answer, struct client *client, const struct rpc_id *id);

const struct ended *answer_fault(struct answer *answer, const struct fault *fault);
/** The same with the number of the job whose fault it is. */
const struct ended *answer_job_fault(struct answer *answer, const struct fault *fault,
                                     uint64_t job);
const struct ended *answer_result(struct answer *answer, const struct job_result *result);
/** To a detached job's submit. */
const struct ended *answer_accepted(struct answer *answer, uint64_t job, enum job_state state);
const struct ended *answer_pong(struct answer *answer);
const struct ended *answer_info(struct answer *answer, const struct daemon_info *info);

/**
 * A result in two steps: its members are written between them. Null: nobody is there to read it,
 * and the second step is all that is left to do.
 */
struct jsonw *answer_begin(struct answer *answer, uint32_t fds);
const struct ended *answer_end(struct answer *answer, struct jsonw *w);
/** The same with the one descriptor that was announced, which is taken over. */
const struct ended *answer_end_fd(struct answer *answer, struct jsonw *w, int fd);

/** `to` now has the duty. */
const struct ended *answer_defer(struct answer *from, struct answer *to);

#endif /* DAEMON_ANSWER_H */
