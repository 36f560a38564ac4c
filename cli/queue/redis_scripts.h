/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The scripts of a queue on Redis. A script runs atomically, and by the clock of the server. Its
 * KEYS are those of redis_queue.c, in this order:
 *
 *     cases    hash    name -> case (queue_record.h)
 *     meta     hash    lease (ms), first, last (times in ms of the first case taken and of the last
 *                      result), failed (number of results that are not good)
 *     waiting  list    names
 *     leased   sorted  name -> time in ms at which the lease runs out
 *     leases   hash    name -> "TOKEN SINCE WORKER"
 *     counts   hash    "t:name" -> deliveries, "r:name" -> refusals
 *     results  hash    name -> "TOKEN GRADE\nJSON"; GRADE is enum queue_grade
 */
#ifndef CLI_QUEUE_REDIS_SCRIPTS_H
#define CLI_QUEUE_REDIS_SCRIPTS_H

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

/* ARGV: 0, 0, then name and case in turn. Returns the first case that is known with another path,
 * or nil. */
#define SCRIPT_CHECK                                                                               \
    SCRIPT_HEAD                                                                                    \
    "for i = 3, #ARGV, 2 do\n"                                                                     \
    "  local old = call('HGET', cases, ARGV[i])\n"                                                 \
    "  if has_other_path(old, ARGV[i + 1]) then return old end\n"                                  \
    "end\n"                                                                                        \
    "return nil\n"

/*
 * ARGV: lease, the grades that make an equal case run again (enum queue_grade), then name and case
 * in turn. Returns the numbers of added, replaced, known cases. A known case has no refusals any
 * more: its files may be where they were missing.
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

/* ARGV: name, token. Does nothing if the lease is no longer that of the token. */
#define SCRIPT_RENEW                                                                               \
    SCRIPT_HEAD                                                                                    \
    "if not is_of(call('HGET', leases, ARGV[1]), ARGV[2], ' ') then return 0 end\n"                \
    "call('ZADD', leased, clock() + call('HGET', meta, 'lease'), ARGV[1])\n"                       \
    "return 1\n"

/* ARGV: name, token, case, GRADE, JSON. Returns enum queue_outcome. A repeated call of one worker,
 * which has lost the reply, counts as one. */
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

/* ARGV: name, token, enum queue_return. A refused case waits behind all others. */
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

/* Returns name, lease and end of each lease in turn, after the time now. */
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

#endif /* CLI_QUEUE_REDIS_SCRIPTS_H */
