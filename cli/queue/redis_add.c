/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds cases to a queue on a Redis server. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/queue/redis_script.h"
#include "cli/queue/redis_scripts.h"

/* Adds cases: one script for at most BATCH of them, because the server waits for it. */
enum { BATCH = 200 };

static redisReply *call_cases(struct redis *redis, const char *script,
                              const struct queue_case *cases, size_t count, uint32_t lease_ms,
                              const char *grades, struct fault *fault)
{
    struct redis_words words;
    char lease[REDIS_NUMBER_MAX], *records[BATCH] = {NULL};

    snprintf(lease, sizeof(lease), "%" PRIu32, lease_ms);
    redis_begin(redis, &words, script);
    redis_text(&words, lease);
    redis_text(&words, grades);
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;

        records[i] = queue_record_write(&cases[i], NULL, &length);
        redis_text(&words, cases[i].name);
        redis_word(&words, records[i], length);
        words.failed = words.failed || !records[i];
    }
    redisReply *reply = redis_end(redis, &words, fault);
    for (size_t i = 0; i < count; i++)
        free(records[i]);
    return reply;
}

static int check_some(struct redis *redis, const struct queue_case *cases, size_t count,
                      struct fault *fault)
{
    redisReply *reply = call_cases(redis, SCRIPT_CHECK, cases, count, 0, "0", fault);
    struct queue_case known;
    int status = reply ? 0 : -1;

    if (reply && reply->type != REDIS_REPLY_NIL) {
        status = redis_read_case(reply, &known, fault);
        if (status == 0) {
            status = queue_refuse_path(&known, fault);
            queue_case_finish(&known);
        }
    }
    freeReplyObject(reply);
    return status;
}

static int add_some(struct redis *redis, const struct queue_case *cases, size_t count,
                    uint32_t lease_ms, bool again, uint64_t sums[3], struct fault *fault)
{
    static const char untried[] = {QUEUE_UNTRIED, 0}, bad[] = {QUEUE_UNTRIED, QUEUE_BAD, 0};
    redisReply *reply =
        call_cases(redis, SCRIPT_ADD, cases, count, lease_ms, again ? bad : untried, fault);
    uint64_t three[3];
    const int status = reply ? redis_numbers(reply, 0, three, 3, fault) : -1;

    freeReplyObject(reply);
    for (size_t i = 0; i < 3 && status == 0; i++)
        sums[i] += three[i];
    return status;
}

static size_t batch_of(size_t count, size_t done)
{
    return count - done < BATCH ? count - done : BATCH;
}

int redis_add(void *state, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault)
{
    uint64_t sums[3] = {0};

    for (size_t done = 0; done < count; done += BATCH) {
        if (check_some(state, cases + done, batch_of(count, done), fault))
            return -1;
    }
    for (size_t done = 0; done < count; done += BATCH) {
        if (add_some(state, cases + done, batch_of(count, done), lease_ms, again, sums, fault))
            return -1;
    }
    *added = (struct queue_added){.added = sums[0], .replaced = sums[1], .known = sums[2]};
    return 0;
}
