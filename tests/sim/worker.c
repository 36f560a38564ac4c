/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/json/fault.h"
#include "tests/sim/actors.h"
#include "tests/sim/answers.h"
#include "tests/sim/device.h"
#include "tests/sim/server.h"
#include "tests/sim/world.h"

enum {
    ROUNDS_MAX = 60,
    STARTS_MAX = 20,
    SIZE_MAX_LARGE = PLACE_BYTES - 64,
    SIZE_MAX_SMALL = 256,
    CONTEND_BYTES = 8192
};

static const struct excuse none;

/* A job that has no reply yet. */
struct flight {
    struct actor *actor;
    struct errand *errand;
    struct excuse excuse;
    uint64_t number; /* number of the job; later jobs name it in `after` */
    bool ended;
};

static uint32_t some_size(void)
{
    return world_chance(3000) ? SIZE_MAX_LARGE : SIZE_MAX_SMALL;
}

/*
 * Returns whether the transfer of a failed job may still run: its channel is stuck, or the
 * connection was lost.
 */
static bool may_still_write(int code)
{
    return code == FAULT_CHANNEL_STUCK || code == MLI_CLIENT_LOST || code == FAULT_SHUTTING_DOWN ||
           code == FAULT_STREAM_ERROR;
}

static void count(struct actor *actor, const struct errand *errand, int code)
{
    if (code == 0) {
        tally.jobs_done++;
        actor->bytes += errand->bytes;
    } else if (code == MLI_CLIENT_LOST) {
        tally.lost++;
    } else {
        tally.jobs_failed++;
    }
}

static void check_quarantine(const mli_client_error *error)
{
    unsigned channel;
    unsigned long long ms;

    if (sscanf(error->message, "DMA channel %u did not end its transfer within %llu ms", &channel,
               &ms) == 2) /* there is another message if too few channels are left */
        device_quarantined(channel, ms);
}

/* Checks the end of a job, and the memory afterwards. */
static void check_end(struct actor *actor, struct errand *errand, int code,
                      const mli_client_error *error, const struct excuse *excuse)
{
    answer_check("a job", code, error, excuse);
    if (code == FAULT_CHANNEL_STUCK)
        check_quarantine(error);
    count(actor, errand, code);
    world_note((uint64_t)(int64_t)code);
    if (excuse->shrunk)
        ; /* not checked, because a file was truncated */
    else if (code == 0)
        errand_check_done(errand, "a job is done");
    else if (!may_still_write(code))
        errand_check_failed(errand, "a job has failed");
    if (may_still_write(code) || excuse->shrunk)
        errand_close(errand);
}

static struct errand *prepare(struct actor *actor, int i)
{
    struct errand *errand = &actor->errands[i];

    errand_open(errand, &actor->process, world_rates.slow_close > 0 && world_chance(2000));
    errand_prepare(errand, some_size());
    errand->job.channels = world_chance(8000) ? 1 : world_between(1, 4);
    errand->job.priority = (int32_t)world_below(3) - 1;
    return errand;
}

static void submit(struct actor *actor, mli_client *client)
{
    struct errand *errand = prepare(actor, 0);
    struct excuse excuse = {.limited = world_chance(1000)};
    mli_client_error error = {0};
    mli_client_result result;
    int code;

    if (excuse.limited)
        errand->job.timeout_ms = world_between(1, 50);
    code = mli_client_submit(client, &errand->job, &result, &error);
    if (code == 0 && result.bytes != errand->bytes)
        world_fail("a result has %llu bytes, expected %llu", (unsigned long long)result.bytes,
                   (unsigned long long)errand->bytes);
    check_end(actor, errand, code, &error, &excuse);
    if (code == 0)
        mli_client_result_free(&result);
}

static void on_done(mli_client *client, mli_client_ticket ticket, const mli_client_result *result,
                    const mli_client_error *error, void *user)
{
    struct flight *flight = user;

    (void)client;
    (void)ticket;
    if (flight->ended)
        world_fail("a job has ended twice");
    flight->ended = true;
    check_end(flight->actor, flight->errand, result ? 0 : error->code, error, &flight->excuse);
}

static void cancel_one(mli_client *client, struct flight *flight, const char *name)
{
    const mli_client_ref ref = {.name = name};
    mli_client_error error = {0};
    struct excuse excuse = {.cancelled = true};

    if (flight->ended)
        return;
    flight->excuse.cancelled = true;
    answer_check("cancel", mli_client_cancel(client, ref, NULL, &error), &error, &excuse);
}

/*
 * The reply to a ping comes after the service has accepted the job, and perhaps before the job
 * ends.
 */
static void shrink(mli_client *client, struct flight *flight)
{
    const struct errand *errand = flight->errand;
    const off_t size = world_chance(5000) ? 0 : (off_t)world_below(PLACE_BYTES);
    mli_client_error error = {0};

    if (world_chance(7000))
        answer_check("ping", mli_client_ping(client, &error), &error, &none);
    if (flight->ended)
        return;
    if (ftruncate(world_chance(5000) ? errand->src.fd : errand->dst.fd, size) == 0)
        flight->excuse.shrunk = true;
    else if (errno != EPERM) /* not shortened: the service has sealed the file */
        world_fail("ftruncate of a client's file: %s", strerror(errno));
}

static void submit_one(mli_client *client, struct flight *flight, const char *name,
                       const mli_client_ref *after)
{
    mli_client_error error = {0};
    mli_client_ticket ticket;
    int code;

    flight->errand->job.name = name;
    if (after) {
        flight->errand->job.after = after;
        flight->errand->job.after_count = 1;
        flight->excuse.depends = true;
    }
    code = mli_client_submit_async(client, &flight->errand->job, on_done, flight, &ticket, &error);
    flight->errand->job.after_count = 0;
    if (code == 0)
        return;
    answer_check("submit_async", code, &error, &flight->excuse);
    flight->ended = true;
}

/*
 * Has several jobs at a time: some are cancelled, some depend on each other, and the files of some
 * are shortened.
 */
static void submit_several(struct actor *actor, mli_client *client)
{
    static const char *const names[ERRANDS] = {"a", "b", "c", "d", "e", "f"};
    struct flight flights[ERRANDS] = {0};
    const int jobs = (int)world_between(2, ERRANDS);
    mli_client_error error = {0};
    int code;

    for (int i = 0; i < jobs; i++) {
        const mli_client_ref after = {.name = names[i > 0 ? world_below((uint32_t)i) : 0]};
        const bool waits = i > 0 && world_chance(2000);

        flights[i].actor = actor;
        flights[i].errand = prepare(actor, i);
        submit_one(client, &flights[i], names[i], waits ? &after : NULL);
        if (world_chance(500))
            cancel_one(client, &flights[i], names[i]);
    }
    if (world_rates.slow_close > 0 && world_chance(1000))
        shrink(client, &flights[world_below((uint32_t)jobs)]);
    code = mli_client_wait_pending(client, -1, &error);
    answer_check("wait_pending", code, &error, &none);
    for (int i = 0; i < jobs; i++) {
        if (!flights[i].ended)
            world_fail("a job has not ended, but nothing is pending");
    }
}

static int start_once(mli_client *client, uint32_t prepared, mli_client_error *error)
{
    const mli_client_start_args args = {.prepared = prepared};
    mli_client_ticket ticket;
    mli_client_result result;
    int code = mli_client_start(client, &args, NULL, NULL, &ticket, error);

    if (code == 0)
        code = mli_client_wait(client, ticket, -1, &result, error);
    if (code == 0)
        mli_client_result_free(&result);
    return code;
}

static void start_prepared(struct actor *actor, mli_client *client)
{
    struct errand *errand = prepare(actor, 0);
    const struct excuse excuse = {.has_buffers = true};
    mli_client_error error = {0};
    mli_client_prepared prepared;
    int code = mli_client_prepare(client, &errand->job, &prepared, &error);

    answer_check("prepare", code, &error, &excuse);
    if (code != 0)
        return;
    for (uint32_t i = world_between(1, STARTS_MAX); i > 0 && errand->open; i--) {
        if (i > 1)
            errand_refresh(errand);
        check_end(actor, errand, start_once(client, prepared.id, &error), &error, &excuse);
    }
    code = mli_client_prepared_release(client, &prepared, &error);
    answer_check("release", code, &error, &excuse);
}

/* Runs a job between two places that are registered as buffers. */
static void use_buffers(struct actor *actor, mli_client *client)
{
    struct errand *errand = prepare(actor, 0);
    mli_client_buffer src = {0}, dst = {0};
    mli_client_error error = {0};
    mli_client_result result;
    int code = mli_client_buffer_register(client, errand->src.fd, 0, MLI_CLIENT_READ, &src, &error);

    answer_check("register", code, &error, &none);
    if (code == 0) {
        code = mli_client_buffer_register(client, errand->dst.fd, 0, MLI_CLIENT_ANY_ACCESS, &dst,
                                          &error);
        answer_check("register", code, &error, &none);
    }
    if (code == 0) {
        errand->job.src_memory = (mli_client_memory){.buffer = src.id, .fd = -1};
        errand->job.dst_memory = (mli_client_memory){.buffer = dst.id, .fd = -1};
        code = mli_client_submit(client, &errand->job, &result, &error);
        check_end(actor, errand, code, &error, &none);
        if (code == 0)
            mli_client_result_free(&result);
    }
    if (src.id != 0)
        answer_check("release", mli_client_buffer_release(client, &src, &error), &error, &none);
    if (dst.id != 0)
        answer_check("release", mli_client_buffer_release(client, &dst, &error), &error, &none);
}

static void allocate_buffer(mli_client *client)
{
    mli_client_buffer buffer = {.fd = -1};
    mli_client_error error = {0};
    const uint64_t size = world_between(1, 3 * 4096);
    int code = mli_client_buffer_alloc(client, size, &buffer, &error);

    if (code == MLI_CLIENT_SYSTEM || code == MLI_CLIENT_UNREADABLE)
        return;
    answer_check("alloc", code, &error, &none);
    if (code != 0)
        return;
    for (uint64_t i = 0; i < size; i++) {
        if (((unsigned char *)buffer.address)[i] != 0)
            world_fail("byte %llu of a new buffer is not zero", (unsigned long long)i);
    }
    memset(buffer.address, 0xA5, size);
    answer_check("release", mli_client_buffer_release(client, &buffer, &error), &error, &none);
}

static void look_around(mli_client *client)
{
    mli_client_error error = {0};
    mli_client_stats stats;

    if (world_chance(5000))
        answer_check("ping", mli_client_ping(client, &error), &error, &none);
    else
        answer_check("stats", mli_client_get_stats(client, &stats, &error), &error, &none);
}

static void act_once(struct actor *actor, mli_client *client)
{
    const uint32_t choice = world_below(100);

    if (choice < 40)
        submit(actor, client);
    else if (choice < 70)
        submit_several(actor, client);
    else if (choice < 85)
        start_prepared(actor, client);
    else if (choice < 93)
        use_buffers(actor, client);
    else if (choice < 96)
        allocate_buffer(client);
    else
        look_around(client);
}

static bool any_ended(const struct flight flights[ERRANDS])
{
    for (int i = 0; i < ERRANDS; i++) {
        if (flights[i].ended)
            return true;
    }
    return false;
}

/* Keeps ERRANDS jobs in the queue of the service: submits a new job when one ends. */
static void contend(struct actor *actor, mli_client *client)
{
    struct flight flights[ERRANDS];
    mli_client_error error = {0};

    for (int i = 0; i < ERRANDS; i++)
        flights[i] = (struct flight){.ended = true};
    while (!actors_are_stopping() && mli_client_connected(client)) {
        struct pollfd entry = {.fd = mli_client_fd(client)};

        for (int i = 0; i < ERRANDS; i++) {
            if (!flights[i].ended)
                continue;
            flights[i] = (struct flight){.actor = actor, .errand = &actor->errands[i]};
            errand_open(flights[i].errand, &actor->process, false);
            errand_prepare_copy(flights[i].errand, CONTEND_BYTES);
            submit_one(client, &flights[i], NULL, NULL);
        }
        answer_check("dispatch", mli_client_dispatch(client, &error), &error, &none);
        entry.events = mli_client_poll_events(client);
        if (!any_ended(flights)) /* after the end of the last job, no further event may come */
            (void)poll(&entry, 1, -1);
    }
    answer_check("wait_pending", mli_client_wait_pending(client, -1, &error), &error, &none);
}

void worker_run(struct actor *actor, mli_client *client)
{
    if (actor->contends) {
        contend(actor, client);
        return;
    }
    for (uint32_t i = world_between(1, ROUNDS_MAX); i > 0 && !actors_are_stopping(); i--) {
        if (!mli_client_connected(client))
            return;
        act_once(actor, client);
        actor_think(actor);
    }
}
