/* SPDX-License-Identifier: BSD-3-Clause */
/* A connection to a Redis server, by hiredis. */
#ifndef CLI_QUEUE_REDIS_LINK_H
#define CLI_QUEUE_REDIS_LINK_H

#include <hiredis.h>
#include <stddef.h>

#include "cli/queue/queue_url.h"
#include "proto/json/fault.h"

enum { REDIS_TIMEOUT_S = 10 };

/** Connects, logs in and selects the database. Returns NULL with the fault filled. */
redisContext *redis_open(const struct queue_url *url, struct fault *fault);

/* The words of a command. */
struct redis_words {
    const char **words;
    size_t *lengths;
    int count, capacity;
    bool failed; /* out of memory */
};

void redis_word(struct redis_words *words, const char *bytes, size_t length);
void redis_text(struct redis_words *words, const char *text);
void redis_words_finish(struct redis_words *words);

/**
 * Sends a command, and returns its reply, which freeReplyObject() frees. Returns NULL with the
 * fault filled: STREAM_ERROR if the connection is lost, or the server is not ready.
 */
redisReply *redis_call(redisContext *redis, const struct redis_words *words, struct fault *fault);

#endif /* CLI_QUEUE_REDIS_LINK_H */
