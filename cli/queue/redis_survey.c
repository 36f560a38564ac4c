/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads counts, holders of leases, cases and results of a queue on a Redis server. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/queue/redis_script.h"
#include "cli/queue/redis_scripts.h"

/* Reads the counts, and the times of the first case taken and the last result. */
static int count_all(struct redis *redis, struct queue_counts *counts, uint64_t times[2],
                     struct fault *fault)
{
    struct redis_words words;
    uint64_t all[8];

    redis_begin(redis, &words, SCRIPT_COUNT);
    redisReply *reply = redis_end(redis, &words, fault);
    const int status = reply ? redis_numbers(reply, 0, all, 8, fault) : -1;
    freeReplyObject(reply);
    if (status)
        return -1;
    *counts = (struct queue_counts){
        .cases = all[0], .waiting = all[1], .leased = all[2], .done = all[3], .failed = all[4]};
    times[0] = all[5];
    times[1] = all[6];
    return 0;
}

int redis_count(void *state, struct queue_counts *counts, struct fault *fault)
{
    uint64_t times[2];

    return count_all(state, counts, times, fault);
}

/* Reads "TOKEN SINCE WORKER", and the end of the lease. */
static int add_holder(struct queue_status *status, const redisReply *name, const redisReply *lease,
                      const redisReply *until, uint64_t now, struct fault *fault)
{
    uint64_t since = 0;
    char worker[QUEUE_WORKER_MAX] = "", age[REDIS_NUMBER_MAX] = "";

    if (name->type != REDIS_REPLY_STRING || lease->type != REDIS_REPLY_STRING ||
        until->type != REDIS_REPLY_INTEGER)
        return redis_unexpected(fault);
    if (sscanf(lease->str, "%*s %20s %127s", age, worker) > 0)
        since = strtoull(age, NULL, 10);
    struct queue_holder holder = {.name = strdup(name->str), .worker = strdup(worker)};
    if (since && since < now)
        holder.age_ms = now - since;
    if (until->integer > 0 && (uint64_t)until->integer > now)
        holder.left_ms = (uint64_t)until->integer - now;
    if (holder.name && holder.worker && queue_status_add(status, &holder) == 0)
        return 0;
    free(holder.name);
    free(holder.worker);
    return fault_no_memory(fault);
}

int redis_status(void *state, struct queue_status *out, struct fault *fault)
{
    struct redis_words words;
    uint64_t now;

    if (redis_count(state, &out->counts, fault))
        return -1;
    redis_begin(state, &words, SCRIPT_HOLDERS);
    redisReply *reply = redis_end(state, &words, fault);
    int result = reply ? redis_numbers(reply, 0, &now, 1, fault) : -1;
    for (size_t i = 1; result == 0 && i + 2 < reply->elements; i += 3)
        result = add_holder(out, reply->element[i], reply->element[i + 1], reply->element[i + 2],
                            now, fault);
    freeReplyObject(reply);
    return result;
}

/* Reading all cases and results. */

typedef int take_pair(struct queue_entries *entries, const redisReply *name,
                      const redisReply *value, struct fault *fault);

static int take_case(struct queue_entries *entries, const redisReply *name, const redisReply *value,
                     struct fault *fault)
{
    struct queue_entry entry = {0};

    (void)name; /* The case has it too. */
    if (redis_read_case(value, &entry.item, fault))
        return -1;
    if (queue_entries_add(entries, &entry) == 0)
        return 0;
    queue_case_finish(&entry.item);
    return fault_no_memory(fault);
}

static int compare_name(const void *name, const void *entry)
{
    return strcmp(name, ((const struct queue_entry *)entry)->item.name);
}

static int take_result(struct queue_entries *entries, const redisReply *name,
                       const redisReply *value, struct fault *fault)
{
    if (name->type != REDIS_REPLY_STRING || value->type != REDIS_REPLY_STRING)
        return redis_unexpected(fault);
    const char *line = memchr(value->str, '\n', value->len);
    struct queue_entry *entry = entries->count ? bsearch(name->str, entries->list, entries->count,
                                                         sizeof(*entries->list), compare_name)
                                               : NULL;
    if (!line)
        return redis_unexpected(fault);
    if (!entry || entry->result)
        return 0;
    entry->result = strdup(line + 1);
    return entry->result ? 0 : fault_no_memory(fault);
}

/* Calls `each` for some pairs of a hash. Sets the cursor of the next ones. */
static int scan_some(struct redis *redis, size_t key, char cursor[REDIS_NUMBER_MAX],
                     take_pair *each, struct queue_entries *entries, struct fault *fault)
{
    struct redis_words words = {0};

    redis_text(&words, "HSCAN");
    redis_text(&words, redis->keys[key]);
    redis_text(&words, cursor);
    redis_text(&words, "COUNT");
    redis_text(&words, "1000");
    redisReply *reply = redis_end(redis, &words, fault);
    if (!reply)
        return -1;
    int result = 0;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[1]->type != REDIS_REPLY_ARRAY || reply->element[0]->len >= REDIS_NUMBER_MAX)
        result = redis_unexpected(fault);
    const redisReply *pairs = result ? NULL : reply->element[1];
    for (size_t i = 0; result == 0 && i + 1 < pairs->elements; i += 2)
        result = each(entries, pairs->element[i], pairs->element[i + 1], fault);
    if (result == 0)
        snprintf(cursor, REDIS_NUMBER_MAX, "%s", reply->element[0]->str);
    freeReplyObject(reply);
    return result;
}

static int scan(struct redis *redis, size_t key, take_pair *each, struct queue_entries *entries,
                struct fault *fault)
{
    char cursor[REDIS_NUMBER_MAX] = "0";

    do {
        if (scan_some(redis, key, cursor, each, entries, fault))
            return -1;
    } while (strcmp(cursor, "0") != 0);
    return 0;
}

int redis_read_all(void *state, struct queue_entries *entries, struct fault *fault)
{
    struct queue_counts counts;
    uint64_t times[2];

    if (count_all(state, &counts, times, fault) ||
        scan(state, REDIS_CASES, take_case, entries, fault))
        return -1;
    queue_entries_sort(entries);
    if (times[0] && times[1] > times[0])
        entries->ns = (times[1] - times[0]) * 1000000;
    return scan(state, REDIS_RESULTS, take_result, entries, fault);
}
