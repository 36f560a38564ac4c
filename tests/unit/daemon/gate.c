/* SPDX-License-Identifier: BSD-3-Clause */
#include "tests/unit/daemon/gate.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "mli_engine.h"
#include "tests/support/unit.h"

enum { PATIENCE_S = 30 };

static struct gate *closed;

static struct lane {
    pthread_t thread;
    sem_t mail;
    struct mli_work *work; /* the thread's work item; null: the thread must end */
} lanes[MLI_MOV_MAX_CHANNELS];

static void wait_for(sem_t *semaphore)
{
    while (sem_wait(semaphore) < 0)
        ;
}

static void move_row(const struct mli_copy_box *box, const size_t *at)
{
    const uint8_t *src = box->src;
    uint8_t *dst = box->dst;

    for (size_t i = 0; i < box->loops; i++) {
        dst += at[i] * box->loop[i].dst_step;
        if (src)
            src += at[i] * box->loop[i].src_step;
    }
    if (src)
        memcpy(dst, src, box->run);
    else
        memset(dst, 0, box->run);
}

static void move_box(const struct mli_copy_box *box)
{
    size_t at[MLI_MAX_RANK] = {0}, level;

    do {
        move_row(box, at);
        for (level = box->loops; level > 0 && ++at[level - 1] == box->loop[level - 1].count;)
            at[--level] = 0;
    } while (level > 0);
}

static void move(struct mli_work *work)
{
    const struct mli_channel_caps caps = {.loops = MLI_MAX_RANK};
    struct mli_work_end end = {.status = MLI_STATUS_OK};
    struct mli_legaliser legaliser;
    struct mli_descriptor piece;

    mli_legalise_init(&legaliser, work->plan, &caps);
    while (end.status == MLI_STATUS_OK && mli_legalise_next(&legaliser, &piece)) {
        end.descriptor = piece.index;
        end.row = piece.row;
        if (mli_work_cancelled(work)) {
            end.status = MLI_STATUS_CANCELLED;
        } else {
            move_box(&piece.box);
            end.bytes += piece.bytes;
        }
    }
    work->done(work, &end);
}

static void *serve(void *context)
{
    struct lane *lane = context;

    for (;;) {
        struct mli_work *work;

        wait_for(&lane->mail);
        work = lane->work;
        if (!work)
            return NULL;
        sem_post(&closed->entered);
        if (!atomic_load(&closed->open))
            wait_for(&closed->leave);
        move(work);
    }
}

static uint32_t probe(void)
{
    return MLI_MOV_MAX_CHANNELS;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = closed ? closed->flags : 0;
    caps->loops = MLI_MAX_RANK;
}

static bool open_channel(uint32_t channel)
{
    struct lane *lane = &lanes[channel];

    sem_init(&lane->mail, 0, 0);
    return pthread_create(&lane->thread, NULL, serve, lane) == 0;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    lanes[channel].work = work;
    sem_post(&lanes[channel].mail);
}

static void close_channel(uint32_t channel)
{
    submit(channel, NULL);
    pthread_join(lanes[channel].thread, NULL);
    sem_destroy(&lanes[channel].mail);
}

static const struct mli_engine engine = {
    .size = sizeof(struct mli_engine),
    .name = "gate",
    .probe = probe,
    .caps = caps,
    .submit = submit,
    .open = open_channel,
    .close = close_channel,
};

void gate_close(struct gate *gate, struct config *config)
{
    sem_init(&gate->entered, 0, 0);
    sem_init(&gate->leave, 0, 0);
    atomic_init(&gate->open, false);
    closed = gate;
    (void)mli_mov_add_engine(&engine); /* refused if an earlier test has added the engine */
    snprintf(config->engine, sizeof config->engine, "%s", engine.name);
}

void gate_wait(struct gate *gate)
{
    struct timespec until;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += PATIENCE_S;
    while (sem_timedwait(&gate->entered, &until) < 0)
        assert_int_equal(errno, EINTR);
}

void gate_release(struct gate *gate)
{
    sem_post(&gate->leave);
}

void gate_open(struct gate *gate)
{
    atomic_store(&gate->open, true);
    for (int i = 0; i < MLI_MOV_MAX_CHANNELS; i++) /* a channel holds at most one transfer */
        gate_release(gate);
}

void gate_remove(struct gate *gate)
{
    sem_destroy(&gate->entered);
    sem_destroy(&gate->leave);
    closed = NULL;
}
