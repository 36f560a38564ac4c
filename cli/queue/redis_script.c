/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/redis_script.h"

#include <string.h>

#include "cli/queue/redis_scripts.h"

int redis_unexpected(struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "the keys of this queue have other contents; use another NAME");
}

void redis_begin(const struct redis *redis, struct redis_words *words, const char *script)
{
    *words = (struct redis_words){0};
    redis_text(words, "EVAL");
    redis_text(words, script);
    redis_text(words, "7");
    for (size_t i = 0; i < REDIS_KEYS; i++)
        redis_text(words, redis->keys[i]);
}

redisReply *redis_end(struct redis *redis, struct redis_words *words, struct fault *fault)
{
    redisReply *reply = redis_call(redis->context, words, fault);

    redis_words_finish(words);
    return reply;
}

int redis_numbers(const redisReply *reply, size_t from, uint64_t *out, size_t count,
                  struct fault *fault)
{
    memset(out, 0, count * sizeof(*out));
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < from + count)
        return redis_unexpected(fault);
    for (size_t i = 0; i < count; i++) {
        const redisReply *element = reply->element[from + i];

        if (element->type != REDIS_REPLY_INTEGER || element->integer < 0)
            return redis_unexpected(fault);
        out[i] = (uint64_t)element->integer;
    }
    return 0;
}

int redis_read_case(const redisReply *value, struct queue_case *item, struct fault *fault)
{
    const char *rest = NULL;
    size_t rest_length;

    if (value->type != REDIS_REPLY_STRING)
        return redis_unexpected(fault);
    switch (queue_record_read(value->str, value->len, item, &rest, &rest_length)) {
    case RECORD_GOOD:
        return 0;
    case RECORD_NO_MEMORY:
        return fault_no_memory(fault);
    case RECORD_INVALID:
        break;
    }
    return redis_unexpected(fault);
}

int redis_call_number(struct redis *redis, struct redis_words *words, long long *number,
                      struct fault *fault)
{
    redisReply *reply = redis_end(redis, words, fault);
    const bool good = reply && reply->type == REDIS_REPLY_INTEGER;

    if (good)
        *number = reply->integer;
    else if (reply)
        redis_unexpected(fault);
    freeReplyObject(reply);
    return good ? 0 : -1;
}
