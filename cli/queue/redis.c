/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A queue on a Redis server (5 or later), by hiredis: the scripts, the connection, the calls of
 * queue.h. The name in braces keeps all keys of a queue on one node of a cluster.
 */
#include <errno.h>
#include <hiredis.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "cli/queue/queue.h"
#include "cli/term/print.h"
#include "proto/grow.h"

enum {
    TIMEOUT_S = 10,
    KEYS = 7,
    KEY_MAX = QUEUE_NAME_MAX + 32,
    NUMBER_MAX = 24, /* size of a number as text, with a null byte */
    ADD_MAX = 200    /* cases per call of SCRIPT_ADD: a script blocks the server */
};

/* Keys that are read without a script: indices of redis.keys[]. */
enum { KEY_CASES, KEY_RESULTS = KEYS - 1 };

struct redis {
    redisContext *context;
    char keys[KEYS][KEY_MAX];
    char worker[QUEUE_WORKER_MAX];
    uint64_t random, tokens; /* random number and counter for the lease tokens of this connection */
};

/* The words of a command. */
struct words {
    const char **words;
    size_t *lengths;
    int count, capacity;
    bool failed; /* out of memory */
};
/*
 * The scripts. A script runs atomically, and by the clock of the server. Its KEYS are, in this
 * order:
 *
 *     cases    hash    name -> case (queue.h)
 *     meta     hash    lease (ms), first, last (times in ms of the first case taken and of the last
 *                      result), failed (number of results that are not good)
 *     waiting  list    names
 *     leased   sorted  name -> time in ms at which the lease runs out
 *     leases   hash    name -> "TOKEN SINCE WORKER"
 *     counts   hash    "t:name" -> deliveries, "r:name" -> refusals
 *     results  hash    name -> "TOKEN GRADE\nJSON"; GRADE is enum queue_grade
 */

/* The beginning of all scripts. */
#define SCRIPT_HEAD                                                                                \
    "local call = redis.call\n"                                                                    \
    "local cases, meta, waiting, leased, leases, counts, results = unpack(KEYS)\n"                 \
    "local function clock()\n"                                                                     \
    "  local t = call('TIME')\n"                                                                   \
    "  return t[1] * 1000 + math.floor(t[2] / 1000)\n"                                             \
    "end\n"                                                                                        \
    "local function end_lease(name)\n"                                                             \
    "  call('ZREM', leased, name)\n"                                                               \
    "  call('HDEL', leases, name)\n"                                                               \
    "end\n"                                                                                        \
    "local function is_of(text, token, after)\n"                                                   \
    "  return text and text:sub(1, #token + 1) == token .. after\n"                                \
    "end\n"                                                                                        \
    "local function is_bad(result) return result and not result:find('^%S+ 1') end\n"              \
    "local function has_other_path(old, case)\n"                                                   \
    "  return old and old:sub(17) ~= case:sub(17)\n" /* behind INPUTS */                           \
    "end\n"

/* ARGV: 0, 0, name, case, name, case, ... Returns the first case that is known with another path,
 * or nil. */
#define SCRIPT_CHECK                                                                               \
    SCRIPT_HEAD                                                                                    \
    "for i = 3, #ARGV, 2 do\n"                                                                     \
    "  local old = call('HGET', cases, ARGV[i])\n"                                                 \
    "  if has_other_path(old, ARGV[i + 1]) then return old end\n"                                  \
    "end\n"                                                                                        \
    "return nil\n"

/*
 * ARGV: lease, the grades that make an equal case run again (enum queue_grade), name, case, name,
 * case, ... Returns the numbers of added, replaced, known cases. Clears the refusals of a known
 * case: machines that lacked its files may have them now.
 */
#define SCRIPT_ADD                                                                                 \
    SCRIPT_HEAD                                                                                    \
    "local added, replaced, known = 0, 0, 0\n"                                                     \
    "call('HSET', meta, 'lease', ARGV[1])\n"                                                       \
    "for i = 3, #ARGV, 2 do\n"                                                                     \
    "  local name, case = ARGV[i], ARGV[i + 1]\n"                                                  \
    "  local old, result = call('HGET', cases, name), call('HGET', results, name)\n"               \
    "  if old == case and not (result and result:find('^%S+ [' .. ARGV[2] .. ']')) then\n"         \
    "    known = known + 1\n"                                                                      \
    "    call('HDEL', counts, 'r:' .. name)\n"                                                     \
    "  else\n"                                                                                     \
    "    if old then\n"                                                                            \
    "      replaced = replaced + 1\n"                                                              \
    "      if is_bad(result) then call('HINCRBY', meta, 'failed', -1) end\n"                       \
    "      call('HDEL', results, name)\n"                                                          \
    "      call('HDEL', counts, 't:' .. name, 'r:' .. name)\n"                                     \
    "      call('LREM', waiting, 0, name)\n"                                                       \
    "      end_lease(name)\n"                                                                      \
    "    else\n"                                                                                   \
    "      added = added + 1\n"                                                                    \
    "    end\n"                                                                                    \
    "    call('HSET', cases, name, case)\n"                                                        \
    "    call('RPUSH', waiting, name)\n"                                                           \
    "  end\n"                                                                                      \
    "end\n"                                                                                        \
    "return {added, replaced, known}\n"

/*
 * ARGV: token, worker. A case whose lease has run out goes first: it has waited longest. Returns
 * {case, lease, deliveries, refusals}, or {number of cases, number of results} if none waits.
 */
#define SCRIPT_TAKE                                                                                \
    SCRIPT_HEAD                                                                                    \
    "local now = clock()\n"                                                                        \
    "for _, name in ipairs(call('ZRANGEBYSCORE', leased, '-inf', now, 'LIMIT', 0, 100)) do\n"      \
    "  end_lease(name)\n"                                                                          \
    "  call('LPUSH', waiting, name)\n"                                                             \
    "end\n"                                                                                        \
    "local name = call('LPOP', waiting)\n"                                                         \
    "if not name then return {call('HLEN', cases), call('HLEN', results)} end\n"                   \
    "local lease = tonumber(call('HGET', meta, 'lease'))\n"                                        \
    "call('ZADD', leased, now + lease, name)\n"                                                    \
    "call('HSET', leases, name, string.format('%s %.0f %s', ARGV[1], now, ARGV[2]))\n"             \
    "call('HSETNX', meta, 'first', string.format('%.0f', now))\n"                                  \
    "local deliveries = call('HINCRBY', counts, 't:' .. name, 1)\n"                                \
    "local refusals = tonumber(call('HGET', counts, 'r:' .. name) or '0')\n"                       \
    "return {call('HGET', cases, name), lease, deliveries, refusals}\n"

/* ARGV: name, token. Does nothing if the lease now belongs to another token. */
#define SCRIPT_RENEW                                                                               \
    SCRIPT_HEAD                                                                                    \
    "if not is_of(call('HGET', leases, ARGV[1]), ARGV[2], ' ') then return 0 end\n"                \
    "call('ZADD', leased, clock() + call('HGET', meta, 'lease'), ARGV[1])\n"                       \
    "return 1\n"

/* ARGV: name, token, case, GRADE, JSON. Returns enum queue_outcome. A worker that has lost the
 * reply may repeat the call: the result is counted once. */
#define SCRIPT_FINISH                                                                              \
    SCRIPT_HEAD                                                                                    \
    "local name, token = ARGV[1], ARGV[2]\n"                                                       \
    "local case = call('HGET', cases, name)\n"                                                     \
    "if not case then return 3 end\n"                                                              \
    "if case ~= ARGV[3] then return 2 end\n"                                                       \
    "local lease, old = call('HGET', leases, name), call('HGET', results, name)\n"                 \
    "if old then\n"                                                                                \
    "  if is_of(lease, token, ' ') then end_lease(name) end\n"                                     \
    "  return is_of(old, token, ' ') and 0 or 1\n"                                                 \
    "end\n"                                                                                        \
    "call('HSET', results, name, token .. ' ' .. ARGV[4] .. '\\n' .. ARGV[5])\n"                   \
    "if ARGV[4] ~= '1' then call('HINCRBY', meta, 'failed', 1) end\n"                              \
    "call('HSET', meta, 'last', string.format('%.0f', clock()))\n"                                 \
    "if lease then end_lease(name) else call('LREM', waiting, 1, name) end\n"                      \
    "return 0\n"

/* ARGV: name, token, enum queue_return. A refused case waits behind all other cases. */
#define SCRIPT_GIVE_BACK                                                                           \
    SCRIPT_HEAD                                                                                    \
    "local name = ARGV[1]\n"                                                                       \
    "if not is_of(call('HGET', leases, name), ARGV[2], ' ') then return 0 end\n"                   \
    "end_lease(name)\n"                                                                            \
    "call('HINCRBY', counts, 't:' .. name, -1)\n"                                                  \
    "if ARGV[3] == '1' then call('HINCRBY', counts, 'r:' .. name, 1) end\n"                        \
    "if ARGV[3] ~= '0' then\n"                                                                     \
    "  call('RPUSH', waiting, name)\n"                                                             \
    "else\n"                                                                                       \
    "  call('LPUSH', waiting, name)\n"                                                             \
    "end\n"                                                                                        \
    "return 1\n"

/* Returns {cases, waiting, leased, results, failed, first, last, now}. A lease that has run out
 * counts as waiting. */
#define SCRIPT_COUNT                                                                               \
    SCRIPT_HEAD                                                                                    \
    "local now = clock()\n"                                                                        \
    "local late = call('ZCOUNT', leased, '-inf', now)\n"                                           \
    "local function number(key) return tonumber(call('HGET', meta, key) or '0') end\n"             \
    "return {call('HLEN', cases), call('LLEN', waiting) + late, call('ZCARD', leased) - late,\n"   \
    "        call('HLEN', results), number('failed'), number('first'), number('last'), now}\n"

/* Returns the current time, then name, lease and expiry of each leased case. */
#define SCRIPT_HOLDERS                                                                             \
    SCRIPT_HEAD                                                                                    \
    "local now = clock()\n"                                                                        \
    "local all = {now}\n"                                                                          \
    "local found = call('ZRANGEBYSCORE', leased, string.format('(%.0f', now), '+inf',\n"           \
    "                   'WITHSCORES', 'LIMIT', 0, 10000)\n"                                        \
    "for i = 1, #found, 2 do\n"                                                                    \
    "  all[#all + 1] = found[i]\n"                                                                 \
    "  all[#all + 1] = call('HGET', leases, found[i]) or '- 0 -'\n"                                \
    "  all[#all + 1] = tonumber(found[i + 1])\n"                                                   \
    "end\n"                                                                                        \
    "return all\n"

#define SCRIPT_REMOVE SCRIPT_HEAD "return call('DEL', unpack(KEYS))\n"

static int lost(const redisContext *redis, struct fault *fault)
{
    return fault_set(fault, FAULT_STREAM_ERROR, NULL, "%s",
                     redis && *redis->errstr ? redis->errstr : "the connection is lost");
}

static int grow(struct words *words)
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

static void add_word(struct words *words, const char *bytes, size_t length)
{
    if (words->count == words->capacity && grow(words)) {
        words->failed = true;
        return;
    }
    words->words[words->count] = bytes;
    words->lengths[words->count++] = length;
}

static void add_text(struct words *words, const char *text)
{
    add_word(words, text, strlen(text));
}

static void words_finish(struct words *words)
{
    free(words->words);
    free(words->lengths);
    *words = (struct words){0};
}

/* Returns whether the error is temporary: the server loads its file, runs a script of another
 * client, or is not yet the master. */
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

static redisReply *call_server(redisContext *redis, const struct words *words, struct fault *fault)
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

static redisContext *open_place(const struct queue_url *url)
{
    const struct timeval limit = {.tv_sec = TIMEOUT_S};
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
    struct words words = {0};

    add_text(&words, a);
    if (b)
        add_text(&words, b);
    if (c)
        add_text(&words, c);
    redisReply *reply = call_server(redis, &words, fault);
    words_finish(&words);
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
    /* If a password is required, the reply to PING says so; the reply to a long command does
     * not. */
    return command(redis, "PING", NULL, NULL, fault);
}

static redisContext *open_context(const struct queue_url *url, struct fault *fault)
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

static int unexpected(struct fault *fault)
{
    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "the keys of this queue have other contents; use another NAME");
}

static void begin_script(const struct redis *redis, struct words *words, const char *script)
{
    *words = (struct words){0};
    add_text(words, "EVAL");
    add_text(words, script);
    add_text(words, "7");
    for (size_t i = 0; i < KEYS; i++)
        add_text(words, redis->keys[i]);
}

static redisReply *end_script(struct redis *redis, struct words *words, struct fault *fault)
{
    redisReply *reply = call_server(redis->context, words, fault);

    words_finish(words);
    return reply;
}

static int read_numbers(const redisReply *reply, size_t from, uint64_t *out, size_t count,
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

static int read_case(const redisReply *value, struct queue_case *item, struct fault *fault)
{
    if (value->type != REDIS_REPLY_STRING)
        return unexpected(fault);
    switch (queue_record_read(value->str, value->len, item)) {
    case RECORD_GOOD:
        return 0;
    case RECORD_NO_MEMORY:
        return fault_no_memory(fault);
    case RECORD_INVALID:
        break;
    }
    return unexpected(fault);
}

static int call_number(struct redis *redis, struct words *words, long long *number,
                       struct fault *fault)
{
    redisReply *reply = end_script(redis, words, fault);
    const bool good = reply && reply->type == REDIS_REPLY_INTEGER;

    if (good)
        *number = reply->integer;
    else if (reply)
        unexpected(fault);
    freeReplyObject(reply);
    return good ? 0 : -1;
}

static bool draw(uint64_t *number)
{
    ssize_t got;

    do
        got = getrandom(number, sizeof(*number), 0);
    while (got < 0 && errno == EINTR);
    return got == sizeof(*number);
}

struct redis *redis_open(const struct queue_url *url, const char *worker, struct fault *fault)
{
    static const char *const names[KEYS] = {"cases",  "meta",   "waiting", "leased",
                                            "leases", "counts", "results"};
    struct redis *redis = calloc(1, sizeof(*redis));

    if (!redis) {
        fault_no_memory(fault);
        return NULL;
    }
    for (size_t i = 0; i < KEYS; i++)
        snprintf(redis->keys[i], KEY_MAX, "mlictl:{%s}:%s", url->name, names[i]);
    snprintf(redis->worker, sizeof(redis->worker), "%s", worker);
    redis->context = open_context(url, fault);
    if (redis->context && draw(&redis->random))
        return redis;
    if (redis->context) {
        redisFree(redis->context);
        fault_set(fault, FAULT_INTERNAL, NULL, "the system gives no random numbers");
    }
    free(redis);
    return NULL;
}

void redis_close(struct redis *redis)
{
    if (!redis)
        return;
    redisFree(redis->context);
    free(redis);
}

static enum queue_answer take_none(const redisReply *reply, struct fault *fault)
{
    uint64_t two[2];

    if (read_numbers(reply, 0, two, 2, fault))
        return QUEUE_LOST;
    return two[0] == 0 ? QUEUE_EMPTY : two[0] == two[1] ? QUEUE_DONE : QUEUE_LATER;
}

static enum queue_answer take_reply(const redisReply *reply, struct queue_lease *lease,
                                    struct fault *fault)
{
    uint64_t three[3];

    if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2)
        return take_none(reply, fault);
    if (read_numbers(reply, 1, three, 3, fault) ||
        read_case(reply->element[0], &lease->item, fault))
        return QUEUE_LOST;
    lease->lease_ms = (uint32_t)three[0];
    lease->deliveries = (uint32_t)three[1];
    lease->refusals = (uint32_t)three[2];
    return QUEUE_CASE;
}

enum queue_answer redis_take(struct redis *redis, struct queue_lease *lease, struct fault *fault)
{
    struct words words;

    snprintf(lease->token, sizeof(lease->token), "%016" PRIx64 "%08" PRIx64, redis->random,
             ++redis->tokens & UINT32_MAX);
    begin_script(redis, &words, SCRIPT_TAKE);
    add_text(&words, lease->token);
    add_text(&words, redis->worker);
    redisReply *reply = end_script(redis, &words, fault);
    const enum queue_answer answer = reply ? take_reply(reply, lease, fault) : QUEUE_LOST;
    freeReplyObject(reply);
    return answer;
}

int redis_renew(struct redis *redis, const struct queue_lease *lease, struct fault *fault)
{
    struct words words;
    long long ignored;

    begin_script(redis, &words, SCRIPT_RENEW);
    add_text(&words, lease->item.name);
    add_text(&words, lease->token);
    return call_number(redis, &words, &ignored, fault);
}

int redis_finish(struct redis *redis, const struct queue_lease *lease, const char *result,
                 enum queue_grade grade, enum queue_outcome *outcome, struct fault *fault)
{
    const char graded[] = {(char)grade, 0};
    struct words words;
    long long number = 0;
    size_t length = 0;
    char *record = queue_record_write(&lease->item, &length);

    begin_script(redis, &words, SCRIPT_FINISH);
    add_text(&words, lease->item.name);
    add_text(&words, lease->token);
    add_word(&words, record, length);
    add_text(&words, graded);
    add_text(&words, result);
    words.failed = words.failed || !record;
    const int status = call_number(redis, &words, &number, fault);
    free(record);
    if (status == 0 && (number < QUEUE_COUNTED || number > QUEUE_UNKNOWN))
        return unexpected(fault);
    *outcome = (enum queue_outcome)number;
    return status;
}

int redis_give_back(struct redis *redis, const struct queue_lease *lease, enum queue_return how,
                    struct fault *fault)
{
    const char number[] = {(char)('0' + how), 0};
    struct words words;
    long long ignored;

    begin_script(redis, &words, SCRIPT_GIVE_BACK);
    add_text(&words, lease->item.name);
    add_text(&words, lease->token);
    add_text(&words, number);
    return call_number(redis, &words, &ignored, fault);
}

int redis_remove(struct redis *redis, struct fault *fault)
{
    struct words words;
    long long ignored;

    begin_script(redis, &words, SCRIPT_REMOVE);
    return call_number(redis, &words, &ignored, fault);
}

static redisReply *call_cases(struct redis *redis, const char *script,
                              const struct queue_case *cases, size_t count, uint32_t lease_ms,
                              const char *grades, struct fault *fault)
{
    struct words words;
    char lease[NUMBER_MAX], *records[ADD_MAX] = {NULL};

    snprintf(lease, sizeof(lease), "%" PRIu32, lease_ms);
    begin_script(redis, &words, script);
    add_text(&words, lease);
    add_text(&words, grades);
    for (size_t i = 0; i < count; i++) {
        size_t length = 0;

        records[i] = queue_record_write(&cases[i], &length);
        add_text(&words, cases[i].name);
        add_word(&words, records[i], length);
        words.failed = words.failed || !records[i];
    }
    redisReply *reply = end_script(redis, &words, fault);
    for (size_t i = 0; i < count; i++)
        free(records[i]);
    return reply;
}

/* Fills the fault: the queue has a case of this name with another path. Returns -1. */
static int refuse_path(const struct queue_case *known, struct fault *fault)
{
    char shown[2][PRINT_PATH_MAX];

    return fault_set(fault, FAULT_INVALID_PARAMS, NULL,
                     "the queue has a case %s already, with the job file %s: use another NAME for "
                     "other cases, or remove the queue with mlictl batch collect --remove",
                     print_path(shown[0], known->name), print_path(shown[1], known->path));
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
            status = refuse_path(&known, fault);
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
    const int status = reply ? read_numbers(reply, 0, three, 3, fault) : -1;

    freeReplyObject(reply);
    for (size_t i = 0; i < 3 && status == 0; i++)
        sums[i] += three[i];
    return status;
}

static size_t batch_of(size_t count, size_t done)
{
    return count - done < ADD_MAX ? count - done : ADD_MAX;
}

int redis_add(struct redis *redis, const struct queue_case *cases, size_t count, uint32_t lease_ms,
              bool again, struct queue_added *added, struct fault *fault)
{
    uint64_t sums[3] = {0};

    for (size_t done = 0; done < count; done += ADD_MAX) {
        if (check_some(redis, cases + done, batch_of(count, done), fault))
            return -1;
    }
    for (size_t done = 0; done < count; done += ADD_MAX) {
        if (add_some(redis, cases + done, batch_of(count, done), lease_ms, again, sums, fault))
            return -1;
    }
    *added = (struct queue_added){.added = sums[0], .replaced = sums[1], .known = sums[2]};
    return 0;
}

/* Reads the counts, and the times of the first case taken and the last result. */
static int count_all(struct redis *redis, struct queue_counts *counts, uint64_t times[2],
                     struct fault *fault)
{
    struct words words;
    uint64_t all[8];

    begin_script(redis, &words, SCRIPT_COUNT);
    redisReply *reply = end_script(redis, &words, fault);
    const int status = reply ? read_numbers(reply, 0, all, 8, fault) : -1;
    freeReplyObject(reply);
    if (status)
        return -1;
    *counts = (struct queue_counts){
        .cases = all[0], .waiting = all[1], .leased = all[2], .done = all[3], .failed = all[4]};
    times[0] = all[5];
    times[1] = all[6];
    return 0;
}

int redis_count(struct redis *redis, struct queue_counts *counts, struct fault *fault)
{
    uint64_t times[2];

    return count_all(redis, counts, times, fault);
}

/* Adds a holder, which `status` owns. Returns 0, or -1 if out of memory. */
static int add_to_status(struct queue_status *status, const struct queue_holder *holder)
{
    if (list_grow(&status->holders, status->count, &status->capacity, sizeof(*holder)))
        return -1;
    status->holders[status->count++] = *holder;
    return 0;
}

/* Reads "TOKEN SINCE WORKER", and the expiry of the lease. */
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
    if (holder.name && holder.worker && add_to_status(status, &holder) == 0)
        return 0;
    free(holder.name);
    free(holder.worker);
    return fault_no_memory(fault);
}

int redis_status(struct redis *redis, struct queue_status *out, struct fault *fault)
{
    struct words words;
    uint64_t now;

    if (redis_count(redis, &out->counts, fault))
        return -1;
    begin_script(redis, &words, SCRIPT_HOLDERS);
    redisReply *reply = end_script(redis, &words, fault);
    int result = reply ? read_numbers(reply, 0, &now, 1, fault) : -1;
    for (size_t i = 1; result == 0 && i + 2 < reply->elements; i += 3)
        result = add_holder(out, reply->element[i], reply->element[i + 1], reply->element[i + 2],
                            now, fault);
    freeReplyObject(reply);
    return result;
}

/* Reading all cases and results. */

/* Adds an entry, which `entries` owns. Returns 0, or -1 if out of memory. */
static int add_entry(struct queue_entries *entries, const struct queue_entry *entry)
{
    if (list_grow(&entries->list, entries->count, &entries->capacity, sizeof(*entry)))
        return -1;
    entries->list[entries->count++] = *entry;
    return 0;
}

static int compare_entries(const void *a, const void *b)
{
    return strcmp(((const struct queue_entry *)a)->item.name,
                  ((const struct queue_entry *)b)->item.name);
}

/* Sorts the entries by name, and drops duplicates, which HSCAN may return. The entries have no
 * results yet. */
static void sort_entries(struct queue_entries *entries)
{
    size_t kept = 0;

    if (entries->count > 1)
        qsort(entries->list, entries->count, sizeof(*entries->list), compare_entries);
    for (size_t i = 0; i < entries->count; i++) {
        if (kept > 0 && compare_entries(&entries->list[kept - 1], &entries->list[i]) == 0)
            queue_case_finish(&entries->list[i].item);
        else
            entries->list[kept++] = entries->list[i];
    }
    entries->count = kept;
}

typedef int take_pair(struct queue_entries *entries, const redisReply *name,
                      const redisReply *value, struct fault *fault);

static int take_case(struct queue_entries *entries, const redisReply *name, const redisReply *value,
                     struct fault *fault)
{
    struct queue_entry entry = {0};

    (void)name; /* `value` has the name too */
    if (read_case(value, &entry.item, fault))
        return -1;
    if (add_entry(entries, &entry) == 0)
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

/* Calls `each` for some pairs of a hash. Moves the cursor to the next pairs. */
static int scan_some(struct redis *redis, size_t key, char cursor[NUMBER_MAX], take_pair *each,
                     struct queue_entries *entries, struct fault *fault)
{
    struct words words = {0};

    add_text(&words, "HSCAN");
    add_text(&words, redis->keys[key]);
    add_text(&words, cursor);
    add_text(&words, "COUNT");
    add_text(&words, "1000");
    redisReply *reply = end_script(redis, &words, fault);
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

int redis_read(struct redis *redis, struct queue_entries *entries, struct fault *fault)
{
    struct queue_counts counts;
    uint64_t times[2];

    if (count_all(redis, &counts, times, fault) ||
        scan(redis, KEY_CASES, take_case, entries, fault))
        return -1;
    sort_entries(entries);
    if (times[0] && times[1] > times[0])
        entries->ns = (times[1] - times[0]) * 1000000;
    return scan(redis, KEY_RESULTS, take_result, entries, fault);
}
