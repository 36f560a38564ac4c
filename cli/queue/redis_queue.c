/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue on a Redis server (5 or later). redis_scripts.h has the keys, and the scripts that change
 * them. The name in braces keeps all keys of a queue on one node of a cluster.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/queue/queue.h"
#include "cli/queue/redis_link.h"
#include "cli/queue/redis_scripts.h"

enum { KEYS = 7, KEY_MAX = QUEUE_NAME_MAX + 32, NUMBER_MAX = 24 };

enum { KEY_CASES, KEY_RESULTS = KEYS - 1 };

struct redis {
    redisContext *context;
    char keys[KEYS][KEY_MAX];
    char worker[QUEUE_WORKER_MAX];
    uint64_t random, tokens; /* of the tokens of this connection */
};

static int unexpected(struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "the keys of this queue have other contents; use another NAME");
}

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
    static const char *const names[KEYS] = {"cases",  "meta",   "waiting", "leased",
                                            "leases", "counts", "results"};
    struct redis *redis = calloc(1, sizeof(*redis));

    if (!redis)
        return fault_no_memory(fault);
    for (size_t i = 0; i < KEYS; i++)
        snprintf(redis->keys[i], KEY_MAX, "mlictl:{%s}:%s", url->name, names[i]);
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

static void begin(const struct redis *redis, struct redis_words *words, const char *script)
{
    *words = (struct redis_words){0};
    redis_text(words, "EVAL");
    redis_text(words, script);
    redis_text(words, "7");
    for (size_t i = 0; i < KEYS; i++)
        redis_text(words, redis->keys[i]);
}

static redisReply *end(struct redis *redis, struct redis_words *words, struct fault *fault)
{
    redisReply *reply = redis_call(redis->context, words, fault);

    redis_words_finish(words);
    return reply;
}

/* Reads `count` whole numbers of a reply, from element `from` on. */
static int numbers(const redisReply *reply, size_t from, uint64_t *out, size_t count,
                   struct fault *fault)
{
    memset(out, 0, count * sizeof(*out));
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements < from + count)
        return unexpected(fault);
    for (size_t i = 0; i < count; i++) {
        const redisReply *element = reply->element[from + i];

        if (element->type != REDIS_REPLY_INTEGER || element->integer < 0)
            return unexpected(fault);
        out[i] = (uint64_t)element->integer;
    }
    return 0;
}

/* Reads a case. Returns 0, or -1 with the fault filled. */
static int read_case(const redisReply *value, struct queue_case *item, struct fault *fault)
{
    const char *rest = NULL;
    size_t rest_length;

    if (value->type != REDIS_REPLY_STRING)
        return unexpected(fault);
    switch (queue_record_read(value->str, value->len, item, &rest, &rest_length)) {
    case RECORD_GOOD:
        return 0;
    case RECORD_NO_MEMORY:
        return fault_no_memory(fault);
    case RECORD_INVALID:
        break;
    }
    return unexpected(fault);
}

/* Adds cases: one script for at most BATCH of them, because the server waits for it. */
enum { BATCH = 200 };

static redisReply *call_cases(struct redis *redis, const char *script,
                              const struct queue_case *cases, size_t count, uint32_t lease_ms,
                              const char *grades, struct fault *fault)
{
    struct redis_words words;
    char lease[NUMBER_MAX], *records[BATCH] = {NULL};

    snprintf(lease, sizeof(lease), "%" PRIu32, lease_ms);
    begin(redis, &words, script);
    redis_text(&words, lease);
    redis_text(&words, grades);
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;

        records[i] = queue_record_write(&cases[i], NULL, &length);
        redis_text(&words, cases[i].name);
        redis_word(&words, records[i], length);
        words.failed = words.failed || !records[i];
    }
    redisReply *reply = end(redis, &words, fault);
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
        status = read_case(reply, &known, fault);
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
    const int status = reply ? numbers(reply, 0, three, 3, fault) : -1;

    freeReplyObject(reply);
    for (size_t i = 0; i < 3 && status == 0; i++)
        sums[i] += three[i];
    return status;
}

static size_t batch_of(size_t count, size_t done)
{
    return count - done < BATCH ? count - done : BATCH;
}

static int add(void *state, const struct queue_case *cases, size_t count, uint32_t lease_ms,
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

static enum queue_answer take_none(const redisReply *reply, struct fault *fault)
{
    uint64_t two[2];

    if (numbers(reply, 0, two, 2, fault))
        return QUEUE_LOST;
    return two[0] == 0 ? QUEUE_EMPTY : two[0] == two[1] ? QUEUE_DONE : QUEUE_LATER;
}

static enum queue_answer take_reply(const redisReply *reply, struct queue_lease *lease,
                                    struct fault *fault)
{
    uint64_t three[3];

    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        return take_none(reply, fault);
    if (numbers(reply, 1, three, 3, fault) || read_case(reply->element[0], &lease->item, fault))
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
    begin(redis, &words, SCRIPT_TAKE);
    redis_text(&words, lease->token);
    redis_text(&words, redis->worker);
    redisReply *reply = end(redis, &words, fault);
    const enum queue_answer answer = reply ? take_reply(reply, lease, fault) : QUEUE_LOST;
    freeReplyObject(reply);
    return answer;
}

/* Runs a script that returns a number. */
static int call_number(struct redis *redis, struct redis_words *words, long long *number,
                       struct fault *fault)
{
    redisReply *reply = end(redis, words, fault);
    const bool good = reply && reply->type == REDIS_REPLY_INTEGER;

    if (good)
        *number = reply->integer;
    else if (reply)
        unexpected(fault);
    freeReplyObject(reply);
    return good ? 0 : -1;
}

static int renew(void *state, const struct queue_lease *lease, struct fault *fault)
{
    struct redis_words words;
    long long ignored;

    begin(state, &words, SCRIPT_RENEW);
    redis_text(&words, lease->item.name);
    redis_text(&words, lease->token);
    return call_number(state, &words, &ignored, fault);
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
    begin(state, &words, SCRIPT_FINISH);
    redis_text(&words, lease->item.name);
    redis_text(&words, lease->token);
    redis_word(&words, record, length);
    redis_text(&words, graded);
    redis_text(&words, result);
    words.failed = words.failed || !record;
    const int status = call_number(state, &words, &number, fault);
    free(record);
    if (status == 0 && (number < QUEUE_COUNTED || number > QUEUE_UNKNOWN))
        return unexpected(fault);
    *outcome = (enum queue_outcome)number;
    return status;
}

static int give_back(void *state, const struct queue_lease *lease, enum queue_return how,
                     struct fault *fault)
{
    const char number[] = {(char)('0' + how), 0};
    struct redis_words words;
    long long ignored;

    begin(state, &words, SCRIPT_GIVE_BACK);
    redis_text(&words, lease->item.name);
    redis_text(&words, lease->token);
    redis_text(&words, number);
    return call_number(state, &words, &ignored, fault);
}

/* Reads the counts, and the times of the first case taken and the last result. */
static int count_all(struct redis *redis, struct queue_counts *counts, uint64_t times[2],
                     struct fault *fault)
{
    struct redis_words words;
    uint64_t all[8];

    begin(redis, &words, SCRIPT_COUNT);
    redisReply *reply = end(redis, &words, fault);
    const int status = reply ? numbers(reply, 0, all, 8, fault) : -1;
    freeReplyObject(reply);
    if (status)
        return -1;
    *counts = (struct queue_counts){
        .cases = all[0], .waiting = all[1], .leased = all[2], .done = all[3], .failed = all[4]};
    times[0] = all[5];
    times[1] = all[6];
    return 0;
}

static int count(void *state, struct queue_counts *counts, struct fault *fault)
{
    uint64_t times[2];

    return count_all(state, counts, times, fault);
}

/* Reads "TOKEN SINCE WORKER", and the end of the lease. */
static int add_holder(struct queue_status *status, const redisReply *name, const redisReply *lease,
                      const redisReply *until, uint64_t now, struct fault *fault)
{
    uint64_t since = 0;
    char worker[QUEUE_WORKER_MAX] = "", age[NUMBER_MAX] = "";

    if (name->type != REDIS_REPLY_STRING || lease->type != REDIS_REPLY_STRING ||
        until->type != REDIS_REPLY_INTEGER)
        return unexpected(fault);
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

static int status(void *state, struct queue_status *out, struct fault *fault)
{
    struct redis_words words;
    uint64_t now;

    if (count(state, &out->counts, fault))
        return -1;
    begin(state, &words, SCRIPT_HOLDERS);
    redisReply *reply = end(state, &words, fault);
    int result = reply ? numbers(reply, 0, &now, 1, fault) : -1;
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
    if (read_case(value, &entry.item, fault))
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
        return unexpected(fault);
    const char *line = memchr(value->str, '\n', value->len);
    struct queue_entry *entry = entries->count ? bsearch(name->str, entries->list, entries->count,
                                                         sizeof(*entries->list), compare_name)
                                               : NULL;
    if (!line)
        return unexpected(fault);
    if (!entry || entry->result)
        return 0;
    entry->result = strdup(line + 1);
    return entry->result ? 0 : fault_no_memory(fault);
}

/* Calls `each` for some pairs of a hash. Sets the cursor of the next ones. */
static int scan_some(struct redis *redis, size_t key, char cursor[NUMBER_MAX], take_pair *each,
                     struct queue_entries *entries, struct fault *fault)
{
    struct redis_words words = {0};

    redis_text(&words, "HSCAN");
    redis_text(&words, redis->keys[key]);
    redis_text(&words, cursor);
    redis_text(&words, "COUNT");
    redis_text(&words, "1000");
    redisReply *reply = end(redis, &words, fault);
    if (!reply)
        return -1;
    int result = 0;
    if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        reply->element[0]->type != REDIS_REPLY_STRING ||
        reply->element[1]->type != REDIS_REPLY_ARRAY || reply->element[0]->len >= NUMBER_MAX)
        result = unexpected(fault);
    const redisReply *pairs = result ? NULL : reply->element[1];
    for (size_t i = 0; result == 0 && i + 1 < pairs->elements; i += 2)
        result = each(entries, pairs->element[i], pairs->element[i + 1], fault);
    if (result == 0)
        snprintf(cursor, NUMBER_MAX, "%s", reply->element[0]->str);
    freeReplyObject(reply);
    return result;
}

static int scan(struct redis *redis, size_t key, take_pair *each, struct queue_entries *entries,
                struct fault *fault)
{
    char cursor[NUMBER_MAX] = "0";

    do {
        if (scan_some(redis, key, cursor, each, entries, fault))
            return -1;
    } while (strcmp(cursor, "0") != 0);
    return 0;
}

static int read_all(void *state, struct queue_entries *entries, struct fault *fault)
{
    struct queue_counts counts;
    uint64_t times[2];

    if (count_all(state, &counts, times, fault) ||
        scan(state, KEY_CASES, take_case, entries, fault))
        return -1;
    queue_entries_sort(entries);
    if (times[0] && times[1] > times[0])
        entries->ns = (times[1] - times[0]) * 1000000;
    return scan(state, KEY_RESULTS, take_result, entries, fault);
}

static int remove_all(void *state, struct fault *fault)
{
    struct redis_words words;
    long long ignored;

    begin(state, &words, SCRIPT_REMOVE);
    return call_number(state, &words, &ignored, fault);
}

const struct queue_backend queue_redis = {.connect = open_redis,
                                          .disconnect = close_redis,
                                          .add = add,
                                          .take = take,
                                          .renew = renew,
                                          .finish = finish,
                                          .give_back = give_back,
                                          .count = count,
                                          .status = status,
                                          .read = read_all,
                                          .remove = remove_all};
