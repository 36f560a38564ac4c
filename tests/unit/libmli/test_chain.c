/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A callback prepares and starts its handle again, ten thousand times: every transfer has its
 * callback, the stack does not grow, and the last bytes are those of the last transfer.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "tests/support/load.h"
#include "tests/support/unit.h"

enum { CHAIN = 10000, CHANNELS = 4, CHAINS = 4 };

static struct chain {
    struct load load;
    int left;
    atomic_int calls, errors;
    atomic_uintptr_t depth; /* largest distance from the frame of a thread's first callback */
} chains[CHAINS];

static _Thread_local char *stack_base; /* frame of this thread's first callback */

/* Each thread has its own stack; the depth of the stack must not grow. */
static void note_depth(struct chain *c)
{
    char local;
    const uintptr_t here = (uintptr_t)&local;
    uintptr_t depth;

    if (!stack_base)
        stack_base = &local;
    depth =
        here < (uintptr_t)stack_base ? (uintptr_t)stack_base - here : here - (uintptr_t)stack_base;
    if (depth > atomic_load(&c->depth))
        atomic_store(&c->depth, depth);
}

static void go_on(int32_t number)
{
    struct chain *c = &chains[number];
    struct load *l = &c->load;

    note_depth(c);
    if (!mli_mov_isdone(&l->h))
        atomic_fetch_add(&c->errors, 1);
    atomic_fetch_add(&c->calls, 1);
    if (c->left == 0)
        return;
    c->left--;
    l->in[c->left % l->in_bytes]++;
    if (mli_mov_prepare(&l->h, &l->src, &l->cfg, &l->dst) != MLI_STATUS_OK ||
        mli_mov_start(&l->h, NULL, NULL, NULL) != MLI_STATUS_OK)
        atomic_fetch_add(&c->errors, 1);
}

static void begin_chain(int32_t number, int channels)
{
    struct chain *c = &chains[number];

    memset(c, 0, sizeof(*c));
    load_init_rows(&c->load, number, 16, 64, 0);
    load_claim(&c->load, channels);
    assert_ok(mli_mov_registercallback(&c->load.h, go_on, number));
    c->left = CHAIN;
}

static void end_chain(int32_t number)
{
    struct chain *c = &chains[number];

    assert_ok(mli_mov_synchronise(&c->load.h));
    assert_int_equal(atomic_load(&c->calls), CHAIN + 1);
    assert_int_equal(atomic_load(&c->errors), 0);
    assert_int_equal(c->left, 0);
    assert_true(load_is_moved(&c->load));
    assert_in_range(atomic_load(&c->depth), 0, 4096);
    assert_ok(mli_mov_release_handle(&c->load.h));
    load_finish(&c->load);
}

static void *start_chain(void *load)
{
    return mli_mov_start(&((struct load *)load)->h, NULL, NULL, NULL) == MLI_STATUS_OK ? load
                                                                                       : NULL;
}

/*
 * Starts the transfers from a thread with a small stack. The callbacks run on this stack if the
 * engine moves the data on the starting thread.
 */
static void start_on_a_small_stack(struct load *load)
{
    pthread_attr_t small;
    pthread_t thread;
    void *started;

    assert_int_equal(pthread_attr_init(&small), 0);
    assert_int_equal(pthread_attr_setstacksize(&small, (size_t)256 << 10), 0);
    assert_int_equal(pthread_create(&thread, &small, start_chain, load), 0);
    assert_int_equal(pthread_join(thread, &started), 0);
    pthread_attr_destroy(&small);
    assert_non_null(started);
}

static int begin(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, CHANNELS) != MLI_STATUS_OK;
}

static int end(void **state)
{
    (void)state;
    for (int i = 0; i < CHAINS; i++)
        (void)mli_mov_release_handle(&chains[i].load.h);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static void test_one_channel(void **state)
{
    (void)state;
    begin_chain(0, 1);
    start_on_a_small_stack(&chains[0].load);
    end_chain(0);
}

/* The channel that ends last calls the callback. */
static void test_several_channels(void **state)
{
    (void)state;
    begin_chain(0, CHANNELS);
    start_on_a_small_stack(&chains[0].load);
    end_chain(0);
}

/*
 * The handle has no channel: the thread of the callback also moves the data, after the callback has
 * returned.
 */
static void test_no_channel(void **state)
{
    (void)state;
    begin_chain(0, 0);
    start_on_a_small_stack(&chains[0].load);
    end_chain(0);
}

static void test_several_chains(void **state)
{
    (void)state;
    for (int32_t i = 0; i < CHAINS; i++)
        begin_chain(i, 1);
    for (int32_t i = 0; i < CHAINS; i++)
        start_on_a_small_stack(&chains[i].load);
    for (int32_t i = 0; i < CHAINS; i++)
        end_chain(i);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_one_channel, begin, end),
        cmocka_unit_test_setup_teardown(test_several_channels, begin, end),
        cmocka_unit_test_setup_teardown(test_no_channel, begin, end),
        cmocka_unit_test_setup_teardown(test_several_chains, begin, end),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
