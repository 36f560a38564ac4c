/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/scenario.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/sim/actors.h"
#include "tests/sim/device.h"
#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/server.h"
#include "tests/sim/world.h"

enum {
    ACTORS_MIN = 4,
    ACTORS_MOST = 48,
    USERS = 5,
    FIRST_UID = 2001,
    HOSTILE_UIDS = 1000,
    SERVICE_UID = 900,
    CHECK_STEPS = 64,
    END_STEPS_MAX = 4 * 1000 * 1000,
    END_S_MAX = 10000,
    CONTEST_QUANTUM = 32 * 1024 /* bytes of 4 jobs: less than the 6 queued jobs of a connection */
};

/* The value of CLOCK_REALTIME at the beginning of a run, in ns. */
#define START_OF_TIME (UINT64_C(1700000000) * S)

/*
 * calm     nothing fails: only right answers are allowed
 * rough    calls are short, interrupted, or fail; clients are killed; the clock jumps
 * broken   rough, and the device fails and gets stuck
 * contest  users with one and with many connections, all with queued jobs: the shares are fair
 *
 * A quarter of the runs of the first three moods are quiet: all clients think long, so that timers
 * of seconds expire between their requests.
 */
enum mood { CALM, ROUGH, BROKEN, CONTEST, MOODS };

static const char *const mood_names[MOODS] = {"calm", "rough", "broken", "contest"};

static struct {
    enum mood mood;
    bool quiet;
    struct actor *actors;
    uint32_t count;
    uint64_t without;
    struct config config;
    struct scenario_result *result;
} scenario;

static void choose_rates(enum mood mood)
{
    world_rates.change = world_between(0, 2000);
    if (mood == CALM || mood == CONTEST)
        return;
    world_rates.short_count = world_below(3000);
    world_rates.again = world_below(500);
    world_rates.interrupted = world_below(500);
    world_rates.slow_close = 5000;
    if (world_chance(5000))
        world_rates.memory = world_below(60);
    if (world_chance(5000))
        world_rates.descriptors = world_below(60);
    world_rates.threads = world_below(3000);
    if (mood == BROKEN) {
        world_rates.device = world_below(300);
        world_rates.stuck = world_below(60);
    }
}

static void choose_config(enum mood mood)
{
    struct config *config = &scenario.config;

    config_defaults(config);
    config->log_level = LOG_DEBUG; /* the log is discarded */
    snprintf(config->engine, sizeof config->engine, "sim");
    config->channels = mood == CONTEST ? world_between(1, 3) : world_between(1, 16);
    config->drain_ms = world_between(0, 2000);
    config->watchdog.limit_ms = mood == BROKEN ? world_between(50, 2000) : 30000;
    config->watchdog.quarantine_ms = world_between(10, 5000);
    if (mood == CONTEST) {
        config->scheduling.quantum_bytes = CONTEST_QUANTUM;
        return;
    }
    config->clients = world_between(ACTORS_MOST / 2, ACTORS_MOST + 8);
    config->clients_reserved = world_below(3);
    config->jobs_per_client = world_between(1, 64);
    config->jobs = world_between(8, 256);
    config->buffers_per_client = world_between(1, 16);
    config->prepared_per_client = world_between(1, 16);
    config->mappings = world_between(64, 512);
    config->history = world_below(64);
    config->line_timeout_ms = world_between(50, 5000);
    config->reply_timeout_ms = world_between(50, 5000);
    config->scheduling.ageing_ms = world_between(0, 100);
    config->scheduling.quantum_bytes = UINT64_C(1) << world_between(10, 20);
}

static enum role some_role(void)
{
    const uint32_t choice = world_below(100);

    return choice < 60   ? ROLE_WORKER
           : choice < 75 ? ROLE_HOSTILE
           : choice < 88 ? ROLE_SLOW
                         : ROLE_SPY;
}

/*
 * In a contest, user 0 has one connection and user 1 has all others. In other runs, hostile clients
 * are users of their own, because a user may cancel all of the user's jobs.
 */
static void choose_actor(struct actor *actor, uint32_t number)
{
    const bool contends = scenario.mood == CONTEST;
    uid_t user = FIRST_UID + (contends ? number > 0 : world_below(USERS));

    actor->role = contends ? ROLE_WORKER : some_role();
    if (actor->role == ROLE_HOSTILE || actor->role == ROLE_SLOW)
        user += HOSTILE_UIDS;
    process_init(&actor->process, "client", user);
    actor->contends = contends;
    actor->think_us = contends ? 1 : UINT64_C(1) << world_between(scenario.quiet ? 20 : 4, 22);
}

static void begin(uint64_t seed)
{
    world_begin(seed);
    scenario.mood = (enum mood)world_below(MOODS);
    scenario.quiet = scenario.mood != CONTEST && world_chance(2500);
    world_name = mood_names[scenario.mood];
    world_jump = (int64_t)START_OF_TIME;
    choose_rates(scenario.mood);
    world_excuses = world_rates;
    choose_config(scenario.mood);
    scenario.count =
        scenario.mood == CONTEST ? world_between(3, 9) : world_between(ACTORS_MIN, ACTORS_MOST);
    scenario.result->actors = scenario.count;
    snprintf(scenario.result->name, sizeof scenario.result->name, "%s", mood_names[scenario.mood]);
    process_init(&server, "service", SERVICE_UID);
    server.service = true;
    server.faulty = scenario.mood == ROUGH || scenario.mood == BROKEN;
    if (server.faulty && world_chance(3000)) {
        server.fd_limit = world_between(64, 200);
        world_excuses.descriptors++;
    }
    device_begin(&server, world_chance(5000) ? 0 : 4096,
                 (uint64_t)scenario.config.watchdog.quarantine_ms * MS);
    server_begin(&scenario.config);
    scenario.actors = calloc(scenario.count, sizeof *scenario.actors);
    if (!scenario.actors)
        abort();
    for (uint32_t i = 0; i < scenario.count; i++) {
        choose_actor(&scenario.actors[i], i);
        scenario.actors[i].idle = scenario.without >> i & 1;
        if (!scenario.actors[i].idle)
            actor_start(&scenario.actors[i]);
    }
}

/*
 * Between two steps, a client may die, the clock may jump, or the service may read its
 * configuration again.
 */
static void disturb(void)
{
    const bool wild = scenario.mood == ROUGH || scenario.mood == BROKEN;

    if (!wild)
        return;
    if (world_chance(4)) {
        const uint32_t i = world_below(scenario.count);

        if (!(scenario.without >> i & 1)) {
            actor_kill(&scenario.actors[i]);
            actor_start(&scenario.actors[i]);
            scenario.result->kills++;
        }
    }
    if (world_chance(2))
        world_jump = (int64_t)(START_OF_TIME + world_random() % (1000 * S));
    if (world_chance(2)) {
        scenario.config.jobs_per_client = world_between(1, 64);
        scenario.config.history = world_below(64);
        server_reconfigure(&scenario.config);
    }
}

/* Returns the number of clients that have not ended. */
static uint32_t live_clients(void)
{
    uint32_t live = 0;

    for (uint32_t i = 0; i < scenario.count; i++)
        live += !scenario.actors[i].idle;
    return live;
}

static bool step(void)
{
    const uint64_t before = world_now();

    world_step++;
    scenario.result->step = world_step;
    if (!fiber_step())
        return false;
    scenario.result->client_ns += (world_now() - before) * live_clients();
    if (world_step % CHECK_STEPS == 0)
        server_check();
    return true;
}

/*
 * Runs steps until `reached` returns true. The rates of faults are 0, so everything must come to an
 * end.
 */
static void step_until(bool (*reached)(void), const char *what)
{
    const uint64_t deadline = world_now() + END_S_MAX * S;

    for (uint64_t i = 0; !reached(); i++) {
        const bool stepped = step();

        if (stepped && i <= END_STEPS_MAX && world_now() <= deadline)
            continue;
        server_describe();
        world_fail("%s: %s", stepped ? "no end" : "deadlock", what);
    }
}

static bool actors_have_ended(void)
{
    return live_clients() == 0;
}

/* User 0 has one connection and user 1 has several; both users always had jobs in the queue. */
static void check_shares(void)
{
    uint64_t one = scenario.actors[0].bytes, others = 0;

    for (uint32_t i = 1; i < scenario.count; i++)
        others += scenario.actors[i].bytes;
    if (scenario.without || one + others < 400 * 1024)
        return;
    if (one * 3 < others * 2 || others * 3 < one * 2)
        world_fail("unfair: a user with one connection moved %" PRIu64 " bytes, one with %u "
                   "connections %" PRIu64,
                   one, scenario.count - 1, others);
}

static void end(void)
{
    if (scenario.mood == CONTEST)
        check_shares();
    world_rates = (struct fault_rates){.change = world_rates.change};
    device_repair();
    actors_stop();
    step_until(actors_have_ended, "the clients do not end");
    step_until(server_is_idle, "the service keeps something of clients that ended");
    server_shutdown();
    step_until(server_has_ended, "the service does not end");
    server_check_ended();
}

void scenario_run(const struct scenario_options *options, struct scenario_result *result)
{
    scenario.without = options->without;
    world_log = options->log;
    scenario.result = result;
    begin(options->seed);
    while (world_step < options->steps && step())
        disturb();
    end();
    result->checksum = world_checksum();
    result->steps = world_step;
    result->quiet_ns = scenario.quiet ? result->client_ns : 0;
    result->jobs_done = tally.jobs_done;
    result->jobs_failed = tally.jobs_failed;
    result->connections = tally.connections;
    result->longest_turn = server_longest_turn();
    result->most_calls = server_most_calls();
}
