/* SPDX-License-Identifier: BSD-3-Clause */
#include "cli/queue/beanstalk_tubes.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>

/* Commands sent before their replies are read. */
enum { AHEAD = 64 };

int tubes_open(struct tubes *tubes, const struct queue_url *url, struct fault *fault)
{
    static const char *const ends[TUBES] = {"", "-enqueued", "-results"};
    static atomic_uint connections;

    *tubes = (struct tubes){.url = *url, .watched = -1, .used = -1};
    tubes->connection = ++connections;
    for (int i = 0; i < TUBES; i++)
        snprintf(tubes->names[i], TUBE_NAME_MAX, "%s%s", url->name, ends[i]);
    return beanstalk_open(&tubes->link, url, fault);
}

void tubes_close(struct tubes *tubes)
{
    beanstalk_close(&tubes->link);
}

int tubes_reopen(struct tubes *tubes, struct fault *fault)
{
    const struct queue_url url = tubes->url;

    tubes_close(tubes);
    return tubes_open(tubes, &url, fault);
}

/* Reads a reply that must have this word. */
static int expect(struct tubes *tubes, enum beanstalk_word word, struct fault *fault)
{
    struct beanstalk_reply reply;

    if (beanstalk_receive(&tubes->link, &reply, fault))
        return -1;
    return reply.word == word ? 0 : beanstalk_unexpected(&reply, fault);
}

int tubes_watch(struct tubes *tubes, enum tube tube, struct fault *fault)
{
    const char *old = tubes->watched < 0 ? "default" : tubes->names[tubes->watched];

    if (tubes->watched == (int)tube)
        return 0;
    if (beanstalk_send(&tubes->link, fault, "watch %s", tubes->names[tube]) ||
        expect(tubes, BEANSTALK_WATCHING, fault) ||
        beanstalk_send(&tubes->link, fault, "ignore %s", old) ||
        expect(tubes, BEANSTALK_WATCHING, fault))
        return -1;
    tubes->watched = (int)tube;
    return 0;
}

int tubes_use(struct tubes *tubes, enum tube tube, struct fault *fault)
{
    if (tubes->used == (int)tube)
        return 0;
    if (beanstalk_send(&tubes->link, fault, "use %s", tubes->names[tube]) ||
        expect(tubes, BEANSTALK_USING, fault))
        return -1;
    tubes->used = (int)tube;
    return 0;
}

int tubes_count(struct tubes *tubes, enum tube tube, struct tube_counts *counts,
                struct fault *fault)
{
    struct beanstalk_reply reply;

    *counts = (struct tube_counts){0};
    if (beanstalk_send(&tubes->link, fault, "stats-tube %s", tubes->names[tube]) ||
        beanstalk_receive(&tubes->link, &reply, fault))
        return -1;
    if (reply.word == BEANSTALK_NOT_FOUND)
        return 0;
    if (reply.word != BEANSTALK_OK)
        return beanstalk_unexpected(&reply, fault);
    counts->ready = beanstalk_stat(&reply, "current-jobs-ready");
    counts->reserved = beanstalk_stat(&reply, "current-jobs-reserved");
    counts->others = beanstalk_stat(&reply, "current-jobs-delayed") +
                     beanstalk_stat(&reply, "current-jobs-buried");
    return 0;
}

int tubes_ask(struct tubes *tubes, const char *command, uint64_t number,
              struct beanstalk_reply *reply, struct fault *fault)
{
    return beanstalk_send(&tubes->link, fault, "%s %" PRIu64, command, number) ||
                   beanstalk_receive(&tubes->link, reply, fault)
               ? -1
               : 0;
}

/* Reserves some jobs. *more becomes false if no job is left. */
static int reserve_some(struct tubes *tubes, tube_each *each, void *context, uint64_t *reserved,
                        bool *more, struct fault *fault)
{
    struct beanstalk_reply reply;
    int status = 0;

    for (int i = 0; i < AHEAD; i++) {
        if (beanstalk_send(&tubes->link, fault, "reserve-with-timeout 0"))
            return -1;
    }
    for (int i = 0; i < AHEAD; i++) {
        if (beanstalk_receive(&tubes->link, &reply, fault))
            return -1;
        if (reply.word == BEANSTALK_TIMED_OUT)
            *more = false;
        else if (reply.word != BEANSTALK_RESERVED)
            return beanstalk_unexpected(&reply, fault);
        else if (status == 0)
            status = each(context, reply.id, reply.body, reply.length, fault);
        *reserved += reply.word == BEANSTALK_RESERVED;
    }
    return status;
}

int tubes_read(struct tubes *tubes, enum tube tube, tube_each *each, void *context,
               struct fault *fault)
{
    struct tube_counts counts;
    uint64_t reserved = 0;

    if (tubes_watch(tubes, tube, fault))
        return -1;
    /* Workers may put further jobs meanwhile. */
    do {
        bool more = true;

        while (more) {
            if (reserve_some(tubes, each, context, &reserved, &more, fault))
                return -1;
        }
        if (tubes_count(tubes, tube, &counts, fault))
            return -1;
        if (counts.reserved != reserved)
            return fault_set(fault, FAULT_STREAM_ERROR, NULL, "another mlictl reads the tube %s",
                             tubes->names[tube]);
    } while (counts.ready > 0);
    return 0;
}
