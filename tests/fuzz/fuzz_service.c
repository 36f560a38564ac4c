/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service in this process, in one thread: the bytes choose what up to four clients do, when the
 * engine ends or fails transfers, and when the loop turns. The engine "spy" holds transfers, so
 * that any order of events can occur without a clock.
 *
 * After each input all transfers end, and then: every request of a client that sent only correct
 * lines has one reply; a new client is served; all jobs have ended and all channels are idle;
 * counters add up; metrics are well-formed; all descriptors are closed.
 */
#include <sys/socket.h>
#include <syslog.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/service.h"
#include "proto/wire/methods.h"
#include "proto/wire/prometheus.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/fuzz_clients.h"
#include "tests/fuzz/fuzz_reader.h"
#include "tests/fuzz/fuzz_scratch.h"
#include "tests/fuzz/well_formed.h"
#include "tests/support/spy.h"

enum {
    CLIENTS = 4,
    CHANNELS = 3,
    OPERATIONS_MAX = 200,
    TURNS_MAX = 20000,
    MOMENT_US = 3500,
    HELD = (1 << CHANNELS) - 1
};

static uv_loop_t loop;
static struct service *service;
static struct fuzz_client clients[CLIENTS];

static void configure(struct config *config, struct fuzz_reader *reader)
{
    const uint8_t limits = fuzz_u8(reader);

    config_defaults(config);
    strcpy(config->engine, "spy");
    config->channels = CHANNELS;
    config->log_level = LOG_CRIT - 1;
    config->drain_ms = 0;
    config->watchdog.limit_ms = 0;
    config->line_timeout_ms = config->reply_timeout_ms = 0;
    if (limits & 1)
        config->jobs_per_client = 3;
    if (limits & 2)
        config->jobs = 6;
    if (limits & 4)
        config->history = 4;
    if (limits & 8)
        config->buffers_per_client = config->prepared_per_client = 2;
    if (limits & 16)
        config->refuse_sparse = true;
    if (limits & 32)
        strcpy(config->profile, "vpx5-nsim");
    config->scheduling.ageing_ms = limits & 64 ? 1 : 0;
    config->clients = limits & 128 ? 5 : 64;
}

static void begin(struct fuzz_reader *reader)
{
    static struct config config;

    spy_init();
    configure(&config, reader);
    FUZZ_ASSERT(uv_loop_init(&loop) == 0);
    FUZZ_ASSERT(service_create(&loop, &config, &service) == 0);
}

static void turn(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        (void)uv_run(&loop, UV_RUN_NOWAIT);
}

static void connect_client(struct fuzz_client *client)
{
    int ends[2];

    if (client->fd >= 0)
        return;
    FUZZ_ASSERT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends) == 0);
    fuzz_client_init(client, ends[0]);
    if (service_adopt(service, ends[1]) < 0)
        client->exact = false; /* turned away */
}

/*
 * Ends the transfer of a channel, successfully or with an error, or changes which channels hold
 * their transfers.
 */
static void act_as_engine(struct fuzz_reader *reader)
{
    const uint32_t channel = fuzz_below(reader, CHANNELS);

    switch (fuzz_below(reader, 4)) {
    case 0:
        spy_hold(fuzz_u8(reader) & HELD);
        break;
    case 1:
        spy_end(channel, MLI_STATUS_DMA_ERROR, 0, 0);
        break;
    default:
        spy_end(channel, spy_is_cancelled(channel) ? MLI_STATUS_CANCELLED : MLI_STATUS_OK, 0, 0);
    }
}

static void operate(struct fuzz_reader *reader)
{
    struct fuzz_client *client = &clients[fuzz_below(reader, CLIENTS)];
    const uint8_t what = fuzz_u8(reader) & 15;

    if (what == 0) {
        fuzz_client_close(client);
    } else if (what <= 2) {
        act_as_engine(reader);
    } else if (what <= 4) {
        if (what == 4) /* sleeps longer than the timeouts of jobs */
            usleep(MOMENT_US);
        turn(1 + fuzz_below(reader, 4));
    } else if (what == 5) {
        fuzz_client_receive(client);
    } else {
        connect_client(client);
        fuzz_client_request(client, reader);
    }
}

static bool any_pending(void)
{
    for (int i = 0; i < CLIENTS; i++) {
        if (clients[i].fd >= 0 && clients[i].exact && clients[i].pending > 0)
            return true;
    }
    return false;
}

/* Ends all transfers until no reply is missing. */
static void settle(void)
{
    uint64_t until = 0;

    spy_hold(0);
    for (int i = 0; i < TURNS_MAX; i++) {
        for (uint32_t channel = 0; channel < CHANNELS; channel++)
            spy_end(channel, MLI_STATUS_OK, 0, 0);
        turn(4);
        for (int k = 0; k < CLIENTS; k++)
            fuzz_client_receive(&clients[k]);
        if (!any_pending() && i > 4)
            return;
        if (until == 0)
            until = uv_hrtime() + UINT64_C(20) * 1000 * 1000 * 1000;
        if (i > 50) /* other threads close the files */
            usleep(100);
        FUZZ_ASSERT(uv_hrtime() < until);
    }
    FUZZ_ASSERT(!any_pending());
}

static void check_metrics(const struct daemon_stats *stats)
{
    struct textw w;

    textw_init(&w);
    prometheus_write(&w, stats);
    FUZZ_ASSERT(!w.failed);
    well_formed_prometheus(w.data, w.length);
    textw_finish(&w);
}

/* Requires that counters add up, and that nothing is left after all clients have gone. */
static void check_stats(void)
{
    static struct daemon_stats stats;

    service_stats(service, &stats);
    check_metrics(&stats);
    for (int i = 0; i < TURNS_MAX && (stats.clients.now > 0 || stats.buffers.now > 0); i++) {
        turn(1);
        usleep(i > 50 ? 100 : 0);
        service_stats(service, &stats);
    }
    FUZZ_ASSERT(stats.clients.now == 0 && stats.buffers.now == 0 && stats.buffers.bytes == 0);
    FUZZ_ASSERT(stats.jobs.running == 0 && stats.jobs.waiting == 0 && stats.prepared == 0);
    FUZZ_ASSERT(stats.jobs.queued[0] + stats.jobs.queued[1] + stats.jobs.queued[2] == 0);
    FUZZ_ASSERT(stats.jobs.submitted == stats.jobs.done + stats.jobs.failed + stats.jobs.cancelled);
    for (uint32_t i = 0; i < stats.channel_count; i++)
        FUZZ_ASSERT(stats.channels[i].submitted == stats.channels[i].completed +
                                                       stats.channels[i].failed +
                                                       stats.channels[i].cancelled);
    for (uint32_t i = 0; i < stats.memory_count; i++)
        FUZZ_ASSERT(stats.memories[i].used == 0 && stats.memories[i].ranges == 0);
}

static void serve_another(void)
{
    struct fuzz_client *client = &clients[0];

    fuzz_client_close(client);
    turn(8); /* if the limit of connections is low, the old connection must be closed first */
    connect_client(client);
    if (!client->exact)
        return;
    fuzz_client_call(client, "daemon.ping", "{}");
    settle();
}

static void end(void)
{
    for (int i = 0; i < CLIENTS; i++)
        fuzz_client_close(&clients[i]);
    spy_hold(0);
    settle();
    check_stats();
    service_shutdown(service);
    (void)uv_run(&loop, UV_RUN_DEFAULT);
    service_destroy(service);
    FUZZ_ASSERT(uv_loop_close(&loop) == 0);
}

static void run(const uint8_t *data, size_t size)
{
    struct fuzz_reader reader = fuzz_reader_init(data, size);

    for (int i = 0; i < CLIENTS; i++)
        clients[i] = (struct fuzz_client){.fd = -1};
    begin(&reader);
    for (int i = 0; i < OPERATIONS_MAX && fuzz_left(&reader) > 0; i++)
        operate(&reader);
    settle();
    serve_another();
    end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool warm;
    int open_before;

    if (!warm)
        run(NULL, 0); /* the first run opens descriptors that libuv never closes */
    warm = true;
    open_before = scratch_count_fds();
    run(data, size);
    FUZZ_ASSERT(scratch_count_fds() == open_before);
    return 0;
}
