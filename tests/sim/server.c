/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/sim/server.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <uv.h>

#include "daemon/memory/sigbus.h"
#include "daemon/net/net.h"
#include "daemon/ops/descriptors.h"
#include "daemon/service.h"
#include "tests/sim/fiber.h"
#include "tests/sim/kernel.h"
#include "tests/sim/world.h"
#include "tests/sim/wrapped.h"

enum { TURN_CALLS_MAX = 4000, TURN_NS_MAX = 10 * 1000 * 1000 };

struct process server;

static struct {
    struct config config, next;
    struct service *service;
    uv_loop_t loop;
    uv_async_t poke;
    int listener; /* -1: the service does not listen */
    bool reconfigures, shuts_down, ended;
    unsigned fds_idle, mappings_idle; /* the numbers of a service without connections */
    uint64_t longest_turn, most_calls;
} state = {.listener = -1};

static void on_poke(uv_async_t *poke)
{
    if (state.reconfigures)
        service_reconfigure(state.service, &state.next);
    state.reconfigures = false;
    if (state.shuts_down && !uv_is_closing((uv_handle_t *)poke)) {
        service_shutdown(state.service);
        uv_close((uv_handle_t *)poke, NULL);
    }
}

static void must(int error, const char *call)
{
    if (error < 0)
        world_fail("%s: %s", call, uv_strerror(error));
}

/* The start has no faults: with faults the service may refuse to run, which other tests check. */
static void serve(void *argument)
{
    const bool faulty = server.faulty;
    int listener;

    (void)argument;
    server.faulty = false;
    must(uv_loop_init(&state.loop), "uv_loop_init");
    must(uv_async_init(&state.loop, &state.poke, on_poke), "uv_async_init");
    must(descriptors_reserve(&state.loop, server.fd_limit), "descriptors_reserve");
    must(service_create(&state.loop, &state.config, &state.service), "service_create");
    listener = kernel_listen(&server);
    must(service_listen_on(state.service, listener), "service_listen_on");
    (void)uv_run(&state.loop, UV_RUN_NOWAIT);
    state.fds_idle = kernel_descriptors(&server);
    state.mappings_idle = server.mapping_count;
    state.listener = listener;
    server.faulty = faulty;
    while (uv_run(&state.loop, UV_RUN_DEFAULT) != 0)
        ;
    service_destroy(state.service);
    must(uv_loop_close(&state.loop), "uv_loop_close");
    state.ended = true;
}

void server_begin(const struct config *config)
{
    state.config = state.next = *config;
    (void)fiber_start(&server, serve, NULL);
}

bool server_listens(void)
{
    return state.listener >= 0 && !state.shuts_down;
}

int server_connect(struct process *process)
{
    return kernel_connect(process, &server, state.listener);
}

/* Another thread of the service's process calls uv_async_send(). */
static void poke(void *argument)
{
    (void)argument;
    uv_async_send(&state.poke);
}

void server_reconfigure(const struct config *config)
{
    if (!server_listens())
        return;
    state.next = *config;
    state.reconfigures = true;
    (void)fiber_start(&server, poke, NULL);
}

void server_shutdown(void)
{
    state.shuts_down = true;
    (void)fiber_start(&server, poke, NULL);
}

bool server_has_ended(void)
{
    return state.ended;
}

void turn_begins(struct process *process)
{
    process->turn = world_now();
    process->calls = 0;
    process->loop = fiber_number(fiber_current());
}

void turn_ended(struct process *process)
{
    const uint64_t turn = world_now() - process->turn;

    if (!process->service || process->loop == 0)
        return;
    if (turn > state.longest_turn)
        state.longest_turn = turn;
    if (process->calls > state.most_calls)
        state.most_calls = process->calls;
    if (process->calls > TURN_CALLS_MAX)
        world_fail("the loop made %" PRIu64 " system calls in one turn", process->calls);
    if (turn > TURN_NS_MAX)
        world_fail("a turn of the loop took %" PRIu64 " us", turn / US);
    process->loop = 0;
}

static bool loop_waits(void)
{
    return server.loop == 0 && state.listener >= 0 && !state.shuts_down;
}

/* Returns the number of jobs that have not ended. */
static uint64_t live_jobs(const struct daemon_stats *stats)
{
    const uint32_t *queued = stats->jobs.queued;

    return (uint64_t)stats->jobs.waiting + queued[0] + queued[1] + queued[2] + stats->jobs.running;
}

void server_check(void)
{
    static struct daemon_stats stats;
    uint64_t live;

    if (server.fd_count > server.fd_limit)
        world_fail("the service has %u descriptors", server.fd_count);
    if (!loop_waits())
        return;
    service_stats(state.service, &stats);
    live = live_jobs(&stats);
    if (stats.jobs.submitted != stats.jobs.done + stats.jobs.failed + stats.jobs.cancelled + live)
        world_fail("jobs: %" PRIu64 " submitted, %" PRIu64 " done, %" PRIu64 " failed, %" PRIu64
                   " cancelled, %" PRIu64 " live",
                   stats.jobs.submitted, stats.jobs.done, stats.jobs.failed, stats.jobs.cancelled,
                   live);
}

void server_describe(void)
{
    static const char *const kinds[] = {"sockets", "listeners", "epolls", "events", "files"};
    static struct daemon_stats stats;
    unsigned counts[KIND_FILE + 1] = {0};

    for (int fd = FD_FIRST; fd < FDS_MAX; fd++) {
        if (server.fds[fd].object)
            counts[server.fds[fd].object->kind]++;
    }
    fprintf(stderr,
            "the service has %u descriptors (idle %u) and %u mappings (idle %u), loop %s:\n",
            kernel_descriptors(&server), state.fds_idle, server.mapping_count, state.mappings_idle,
            loop_waits() ? "waits" : "runs");
    for (int kind = 0; kind <= KIND_FILE; kind++)
        fprintf(stderr, "  %u %s\n", counts[kind], kinds[kind]);
    if (!state.service || !loop_waits())
        return;
    service_stats(state.service, &stats);
    fprintf(stderr, "  %u clients, %u running and %u waiting jobs, %u buffers, %u prepared jobs\n",
            stats.clients.now, stats.jobs.running, stats.jobs.waiting, stats.buffers.now,
            stats.prepared);
}

bool server_is_idle(void)
{
    static struct daemon_stats stats;

    if (!loop_waits() || kernel_sleeping() > 0 || kernel_descriptors(&server) != state.fds_idle ||
        server.mapping_count != state.mappings_idle)
        return false;
    service_stats(state.service, &stats);
    return stats.clients.now == 0 && live_jobs(&stats) == 0 && stats.buffers.now == 0 &&
           stats.prepared == 0;
}

void server_check_ended(void)
{
    if (server.mapping_count != 0)
        world_fail("the ended service has %u mappings", server.mapping_count);
    if (server.blocks != (long)sigbus_blocks()) {
        allocations_describe();
        world_fail("the ended service has %ld blocks of memory", server.blocks);
    }
}

uint64_t server_longest_turn(void)
{
    return state.longest_turn;
}

uint64_t server_most_calls(void)
{
    return state.most_calls;
}
