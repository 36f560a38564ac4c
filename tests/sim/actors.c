/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/actors.h"

#include <errno.h>
#include <unistd.h>

#include "proto/json/fault.h"
#include "tests/sim/fiber.h"
#include "tests/sim/server.h"
#include "tests/sim/world.h"

enum { RETRY_US = 500, LONG_THINKS = 100 /* chances in 10 000 calls */, LONG_FACTOR = 500 };

struct tally tally;
static bool stopping;

void actors_stop(void)
{
    stopping = true;
}

bool actors_are_stopping(void)
{
    return stopping;
}

void actor_think(const struct actor *actor)
{
    const uint64_t factor = world_chance(LONG_THINKS) && !stopping ? LONG_FACTOR : 1;

    fiber_sleep((world_below((uint32_t)actor->think_us) + 1) * US * factor);
}

int actor_connect(struct actor *actor)
{
    while (!stopping) {
        const int fd = server_listens() ? server_connect(&actor->process) : -EAGAIN;

        if (fd >= 0) {
            tally.connections++;
            return fd;
        }
        fiber_sleep(RETRY_US * US);
    }
    return -1;
}

/*
 * A connection that the service refuses gets an error instead of the greeting; the error may be
 * lost.
 */
static bool is_greeted(mli_client *client)
{
    mli_client_greeting greeting;
    mli_client_error error;
    const int code = mli_client_greet(client, &greeting, &error);

    if (code != 0 && code != FAULT_LIMIT &&
        (code != MLI_CLIENT_LOST || (!server.faulty && server_listens())))
        world_fail("greet: %d (%s): %s", code, error.name, error.message);
    tally.turned_away += code != 0;
    return code == 0;
}

static void run_with_library(struct actor *actor, void (*run)(struct actor *, mli_client *))
{
    mli_client_error error;
    mli_client *client;
    const int fd = actor_connect(actor);

    if (fd < 0)
        return;
    if (mli_client_adopt(fd, 0, &client, &error) < 0)
        world_fail("mli_client_adopt: %s", error.message);
    if (is_greeted(client))
        run(actor, client);
    mli_client_close(client);
}

static void act(void *argument)
{
    struct actor *actor = argument;

    while (!stopping) {
        switch (actor->role) {
        case ROLE_WORKER:
            run_with_library(actor, worker_run);
            break;
        case ROLE_SLOW:
            slow_run(actor);
            break;
        case ROLE_HOSTILE:
            hostile_run(actor);
            break;
        default:
            run_with_library(actor, spy_run);
        }
        actor_think(actor);
    }
    actor->idle = true;
}

void actor_start(struct actor *actor)
{
    actor->idle = false;
    (void)fiber_start(&actor->process, act, actor);
}

void actor_kill(struct actor *actor)
{
    process_kill(&actor->process);
    for (int i = 0; i < ERRANDS; i++)
        errand_close(&actor->errands[i]);
    actor->process.blocks = 0;
    actor->idle = true;
}
