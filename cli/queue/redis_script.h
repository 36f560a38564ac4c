/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the scripts of redis_scripts.h on the keys of a queue, and reads their replies. A function
 * that returns int returns 0, or -1 with the fault.
 */
#ifndef CLI_QUEUE_REDIS_SCRIPT_H
#define CLI_QUEUE_REDIS_SCRIPT_H

#include <stdint.h>

#include "cli/queue/queue.h"
#include "cli/queue/redis_link.h"

enum {
    REDIS_KEYS = 7,
    REDIS_KEY_MAX = QUEUE_NAME_MAX + 32,
    REDIS_NUMBER_MAX = 24 /* characters of a number, and a null byte */
};

/* Keys that are read without a script: indices of redis.keys[]. */
enum { REDIS_CASES, REDIS_RESULTS = REDIS_KEYS - 1 };

/** A connection to a queue. */
struct redis {
    redisContext *context;
    char keys[REDIS_KEYS][REDIS_KEY_MAX];
    char worker[QUEUE_WORKER_MAX];
    uint64_t random, tokens; /* of the tokens of this connection */
};

/** Sets the fault for a reply that no script of ours gives. Returns -1. */
int redis_unexpected(struct fault *fault);

/** Begins a call of a script with all keys. The caller adds the arguments. */
void redis_begin(const struct redis *redis, struct redis_words *words, const char *script);

/** Makes the call and frees the words. Returns the reply, which the caller frees, or null. */
redisReply *redis_end(struct redis *redis, struct redis_words *words, struct fault *fault);

/** Makes the call of a script that returns a number, and frees the words. */
int redis_call_number(struct redis *redis, struct redis_words *words, long long *number,
                      struct fault *fault);

/** Reads `count` whole numbers of a reply, from element `from` on. */
int redis_numbers(const redisReply *reply, size_t from, uint64_t *out, size_t count,
                  struct fault *fault);

/** Reads a case, which the caller finishes. */
int redis_read_case(const redisReply *value, struct queue_case *item, struct fault *fault);

/* Functions of the backend: see queue.h. `state` is a struct redis. */

int redis_add(void *state, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault);
int redis_count(void *state, struct queue_counts *counts, struct fault *fault);
int redis_status(void *state, struct queue_status *out, struct fault *fault);
int redis_read_all(void *state, struct queue_entries *entries, struct fault *fault);

#endif /* CLI_QUEUE_REDIS_SCRIPT_H */
