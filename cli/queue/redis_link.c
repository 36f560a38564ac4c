/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/redis_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/queue/queue.h"

static int lost(const redisContext *redis, struct fault *fault)
{
    return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s",
                     redis && *redis->errstr ? redis->errstr : "the connection is lost");
}

static redisContext *open_place(const struct queue_url *url)
{
    const struct timeval limit = {.tv_sec = REDIS_TIMEOUT_S};
    redisContext *redis = url->local ? redisConnectUnixWithTimeout(url->place, limit)
                                     : redisConnectWithTimeout(url->place, url->port, limit);

    if (redis && !redis->err)
        redisSetTimeout(redis, limit);
    return redis;
}

/* Runs a command of at most three words, and drops its reply. */
static int command(redisContext *redis, const char *a, const char *b, const char *c,
                   struct fault *fault)
{
    struct redis_words words = {0};

    redis_text(&words, a);
    if (b)
        redis_text(&words, b);
    if (c)
        redis_text(&words, c);
    redisReply *reply = redis_call(redis, &words, fault);
    redis_words_finish(&words);
    if (!reply)
        return -1;
    freeReplyObject(reply);
    return 0;
}

static int enter(redisContext *redis, const struct queue_url *url, struct fault *fault)
{
    char number[16];

    if (*url->user && command(redis, "AUTH", url->user, url->password, fault))
        return -1;
    if (!*url->user && *url->password && command(redis, "AUTH", url->password, NULL, fault))
        return -1;
    snprintf(number, sizeof(number), "%u", url->db);
    if (url->db && command(redis, "SELECT", number, NULL, fault))
        return -1;
    /* Says clearly that a password is required, unlike the refusal of a long command. */
    return command(redis, "PING", NULL, NULL, fault);
}

redisContext *redis_open(const struct queue_url *url, struct fault *fault)
{
    redisContext *redis = open_place(url);

    if (!redis) {
        fault_no_memory(fault);
        return NULL;
    }
    if (redis->err ? lost(redis, fault) : enter(redis, url, fault)) {
        redisFree(redis);
        return NULL;
    }
    return redis;
}

static int grow(struct redis_words *words)
{
    const int capacity = words->capacity ? 2 * words->capacity : 32;
    const char **list = reallocarray(words->words, (size_t)capacity, sizeof(*list));

    if (!list)
        return -1;
    words->words = list;
    size_t *lengths = reallocarray(words->lengths, (size_t)capacity, sizeof(*lengths));
    if (!lengths)
        return -1;
    words->lengths = lengths;
    words->capacity = capacity;
    return 0;
}

void redis_word(struct redis_words *words, const char *bytes, size_t length)
{
    if (words->count == words->capacity && grow(words)) {
        words->failed = true;
        return;
    }
    words->words[words->count] = bytes;
    words->lengths[words->count++] = length;
}

void redis_text(struct redis_words *words, const char *text)
{
    redis_word(words, text, strlen(text));
}

void redis_words_finish(struct redis_words *words)
{
    free(words->words);
    free(words->lengths);
    *words = (struct redis_words){0};
}

/* Returns whether the server answers otherwise in a moment: it loads its file, runs a script of
 * another client, or is not yet the master. */
static bool is_passing(const char *error)
{
    static const char *const words[] = {"LOADING ",  "BUSY ",       "TRYAGAIN ",  "CLUSTERDOWN ",
                                        "READONLY ", "MASTERDOWN ", "NOREPLICAS "};

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strncmp(error, words[i], strlen(words[i])) == 0)
            return true;
    }
    return false;
}

redisReply *redis_call(redisContext *redis, const struct redis_words *words, struct fault *fault)
{
    if (words->failed) {
        fault_no_memory(fault);
        return NULL;
    }
    redisReply *reply = redisCommandArgv(redis, words->count, words->words, words->lengths);
    if (!reply) {
        lost(redis, fault);
        return NULL;
    }
    if (reply->type != REDIS_REPLY_ERROR)
        return reply;
    fault_set(fault, is_passing(reply->str) ? FAULT_STREAM_ERROR : FAULT_INVALID_PARAMS, NULL,
              "the server says: %s", reply->str);
    freeReplyObject(reply);
    return NULL;
}
