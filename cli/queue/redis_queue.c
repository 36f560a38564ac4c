/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue on a Redis server (5 or later). redis_scripts.h has the keys, and the scripts that change
 * them. The name in braces keeps all keys of a queue on one node of a cluster.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "cli/queue/redis_script.h"
#include "cli/queue/redis_scripts.h"

static bool draw(uint64_t *number)
{
    ssize_t got;

    do
        got = getrandom(number, sizeof(*number), 0);
    while (got < 0 && errno == EINTR);
    return got == sizeof(*number);
}

static int open_redis(const struct queue_url *url, const char *worker, void **state,
                      struct fault *fault)
{
    static const char *const names[REDIS_KEYS] = {"cases",  "meta",   "waiting", "leased",
                                                  "leases", "counts", "results"};
    struct redis *redis = calloc(1, sizeof(*redis));

    if (!redis)
        return fault_no_memory(fault);
    for (size_t i = 0; i < REDIS_KEYS; i++)
        snprintf(redis->keys[i], REDIS_KEY_MAX, "mlictl:{%s}:%s", url->name, names[i]);
    snprintf(redis->worker, sizeof(redis->worker), "%s", worker);
    redis->context = redis_open(url, fault);
    if (redis->context && draw(&redis->random)) {
        *state = redis;
        return 0;
    }
    if (redis->context) {
        redisFree(redis->context);
        fault_set(fault, FAULT_INTERNAL, NULL, "no random numbers");
    }
    free(redis);
    return -1;
}

static void close_redis(void *state)
{
    struct redis *redis = state;

    redisFree(redis->context);
    free(redis);
}

static enum queue_answer take_none(const redisReply *reply, struct fault *fault)
{
    uint64_t two[2];

    if (redis_numbers(reply, 0, two, 2, fault))
        return QUEUE_LOST;
    return two[0] == 0 ? QUEUE_EMPTY : two[0] == two[1] ? QUEUE_DONE : QUEUE_LATER;
}

static enum queue_answer take_reply(const redisReply *reply, struct queue_lease *lease,
                                    struct fault *fault)
{
    uint64_t three[3];

    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        return take_none(reply, fault);
    if (redis_numbers(reply, 1, three, 3, fault) ||
        redis_read_case(reply->element[0], &lease->item, fault))
        return QUEUE_LOST;
    lease->lease_ms = (uint32_t)three[0];
    lease->deliveries = (uint32_t)three[1];
    lease->refusals = (uint32_t)three[2];
    return QUEUE_CASE;
}

static enum queue_answer take(void *state, struct queue_lease *lease, struct fault *fault)
{
    struct redis *redis = state;
    struct redis_words words;

    snprintf(lease->token, sizeof(lease->token), "%016" PRIx64 "%08" PRIx64, redis->random,
             ++redis->tokens & UINT32_MAX);
    redis_begin(redis, &words, SCRIPT_TAKE);
    redis_text(&words, lease->token);
    redis_text(&words, redis->worker);
    redisReply *reply = redis_end(redis, &words, fault);
    const enum queue_answer answer = reply ? take_reply(reply, lease, fault) : QUEUE_LOST;
    freeReplyObject(reply);
    return answer;
}

static int renew(void *state, const struct queue_lease *lease, struct fault *fault)
{
    struct redis_words words;
    long long ignored;

    redis_begin(state, &words, SCRIPT_RENEW);
    redis_text(&words, lease->item.name);
    redis_text(&words, lease->token);
    return redis_call_number(state, &words, &ignored, fault);
}

static int finish(void *state, const struct queue_lease *lease, const char *result,
                  const char *brief, enum queue_grade grade, enum queue_outcome *outcome,
                  struct fault *fault)
{
    const char graded[] = {(char)grade, 0};
    struct redis_words words;
    long long number = 0;
    size_t length = 0;
    char *record = queue_record_write(&lease->item, NULL, &length);

    (void)brief; /* Redis takes strings of 512 MiB. */
    redis_begin(state, &words, SCRIPT_FINISH);
    redis_text(&words, lease->item.name);
    redis_text(&words, lease->token);
    redis_word(&words, record, length);
    redis_text(&words, graded);
    redis_text(&words, result);
    words.failed = words.failed || !record;
    const int status = redis_call_number(state, &words, &number, fault);
    free(record);
    if (status == 0 && (number < QUEUE_COUNTED || number > QUEUE_UNKNOWN))
        return redis_unexpected(fault);
    *outcome = (enum queue_outcome)number;
    return status;
}

static int give_back(void *state, const struct queue_lease *lease, enum queue_return how,
                     struct fault *fault)
{
    const char number[] = {(char)('0' + how), 0};
    struct redis_words words;
    long long ignored;

    redis_begin(state, &words, SCRIPT_GIVE_BACK);
    redis_text(&words, lease->item.name);
    redis_text(&words, lease->token);
    redis_text(&words, number);
    return redis_call_number(state, &words, &ignored, fault);
}

static int remove_all(void *state, struct fault *fault)
{
    struct redis_words words;
    long long ignored;

    redis_begin(state, &words, SCRIPT_REMOVE);
    return redis_call_number(state, &words, &ignored, fault);
}

const struct queue_backend queue_redis = {.connect = open_redis,
                                          .disconnect = close_redis,
                                          .add = redis_add,
                                          .take = take,
                                          .renew = renew,
                                          .finish = finish,
                                          .give_back = give_back,
                                          .count = redis_count,
                                          .status = redis_status,
                                          .read = redis_read_all,
                                          .remove = remove_all};
