/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A polled engine whose submit is slow, and whose poll returns late after it has reported the last
 * completion. Meanwhile other threads poll all channels, and the owner sees that the transfer is
 * done and starts it again. The pool must never enter submit or poll of a channel while another
 * thread is in one of them.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "mli_engine.h"
#include "tests/support/load.h"
#include "tests/support/unit.h"

enum { STARTS = 2000, POLLERS = 2, YIELDS = 3 };

static struct mli_work *_Atomic held;
static atomic_int inside, meetings;
static atomic_bool over;
/* true: this thread is in poll, so a call of submit comes from inside done */
static _Thread_local bool polling;

static void enter(void)
{
    if (atomic_fetch_add(&inside, 1) > 0)
        atomic_fetch_add(&meetings, 1);
    for (int i = 0; i < YIELDS; i++)
        sched_yield();
}

static void leave(void)
{
    for (int i = 0; i < YIELDS; i++)
        sched_yield();
    atomic_fetch_sub(&inside, 1);
}

static uint32_t probe(void)
{
    return 1;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    caps->flags = MLI_CHANNEL_POLLED;
    caps->loops = MLI_MAX_RANK;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    (void)channel;
    if (!polling)
        enter();
    atomic_store(&held, work);
    if (!polling)
        leave();
}

static uint32_t poll(uint32_t channel, uint32_t budget)
{
    const struct mli_work_end end = {.status = MLI_STATUS_OK};
    struct mli_work *work;

    (void)channel;
    (void)budget;
    enter();
    polling = true;
    work = atomic_exchange(&held, NULL);
    if (work) {
        memcpy(work->plan->box.dst, work->plan->box.src, work->plan->box.run);
        work->done(work, &end);
    }
    polling = false;
    leave();
    return work != NULL;
}

static void *poll_on_and_on(void *unused)
{
    (void)unused;
    for (int i = 1; !atomic_load(&over); i++) {
        (void)mli_mov_poll();
        if (i % 16 == 0) /* lets other threads run, also on one processor */
            nanosleep(&(struct timespec){.tv_nsec = 1000}, NULL);
    }
    return NULL;
}

static void test_submit_and_poll_do_not_meet(void **state)
{
    static const struct mli_engine engine = {
        .size = sizeof(engine),
        .name = "polled",
        .probe = probe,
        .caps = caps,
        .submit = submit,
        .poll = poll,
    };
    pthread_t pollers[POLLERS];
    struct load load;

    (void)state;
    assert_ok(mli_mov_add_engine(&engine));
    assert_ok(mli_mov_set_engine("polled"));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    /* a single row, because one poll of this engine moves no more */
    load_init_flat(&load, 1, 64);
    load_claim(&load, 1);
    for (int i = 0; i < POLLERS; i++)
        assert_int_equal(pthread_create(&pollers[i], NULL, poll_on_and_on, NULL), 0);
    for (int i = 0; i < STARTS; i++) {
        load_start(&load);
        while (!mli_mov_isdone(&load.h))
            sched_yield();
    }
    atomic_store(&over, true);
    for (int i = 0; i < POLLERS; i++)
        assert_int_equal(pthread_join(pollers[i], NULL), 0);
    assert_ok(mli_mov_synchronise(&load.h));
    assert_int_equal(load_calls(1), STARTS);
    assert_int_equal(atomic_load(&meetings), 0);
    assert_true(load_is_moved(&load));
    assert_ok(mli_mov_release_handle(&load.h));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    load_finish(&load);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_submit_and_poll_do_not_meet)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
