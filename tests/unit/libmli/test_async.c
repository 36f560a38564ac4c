/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The life of a handle: every call in every state. A call in the wrong state is refused with
 * ARGUMENT_ERROR and changes nothing. test_callback.c tests the state "running".
 */
#include <string.h>

#include "tests/support/guard_mem.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

#define STATES(X)                                                                                  \
    X(NULL_HANDLE)                                                                                 \
    X(ZEROED)                                                                                      \
    X(ALL_ONES)                                                                                    \
    X(GARBAGE)                                                                                     \
    X(CLAIMED)                                                                                     \
    X(PREPARED)                                                                                    \
    X(DONE)                                                                                        \
    X(PREPARED_AGAIN) /* was done, and was prepared again but not started */                       \
    X(RELEASED)                                                                                    \
    X(COPY_OF_RELEASED)                                                                            \
    X(STALE_BESIDE_NEW_OWNER)

enum state {
#define STATE_NAME(name) name,
    STATES(STATE_NAME)
};

enum call { PREPARE, REGISTER, START, ISDONE, WAIT, RELEASE, CALLS };

/* A handle and its move, for one test. */
struct life {
    struct tile tile;
    mli_mov_handle_t handle, other;
    mli_mov_handle_t *given;
    bool owned, other_owned;
};

static struct life the_life;

/* Releases all channels, so that a failed test does not take them from the next test. */
static int release_all(void **state)
{
    (void)state;
    if (the_life.owned)
        (void)mli_mov_release_handle(&the_life.handle);
    if (the_life.other_owned)
        (void)mli_mov_release_handle(&the_life.other);
    return 0;
}

static void count_call(int32_t cookie)
{
    (void)cookie;
}

static void bring_to(struct life *l, enum state state)
{
    assert_ok(mli_mov_acquire_handle(1, &l->handle));
    l->owned = true;
    if (state >= PREPARED)
        assert_ok(tile_prepare(&l->tile, &l->handle));
    if (state >= DONE) {
        assert_ok(mli_mov_start(&l->handle, NULL, NULL, NULL));
        assert_ok(mli_mov_wait(&l->handle));
    }
    if (state == PREPARED_AGAIN)
        assert_ok(tile_prepare(&l->tile, &l->handle));
}

static void bring_to_stale(struct life *l, enum state state)
{
    mli_mov_handle_t copy;

    bring_to(l, PREPARED);
    memcpy(&copy, &l->handle, sizeof(copy));
    assert_ok(mli_mov_release_handle(&l->handle));
    l->owned = false;
    if (state != RELEASED)
        memcpy(&l->handle, &copy, sizeof(copy));
    if (state == STALE_BESIDE_NEW_OWNER) { /* the channels now belong to another owner */
        assert_ok(mli_mov_acquire_handle(2, &l->other));
        assert_ok(tile_prepare(&l->tile, &l->other));
        l->other_owned = true;
    }
}

static void life_begin(struct life *l, enum state state)
{
    memset(l, 0, sizeof(*l));
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    tile_init(&l->tile, MLI_EL_FX_16);
    l->given = &l->handle;
    switch (state) {
    case NULL_HANDLE:
        l->given = NULL;
        break;
    case ZEROED:
        break;
    case ALL_ONES:
        memset(&l->handle, 0xFF, sizeof(l->handle));
        break;
    case GARBAGE:
        for (size_t i = 0; i < sizeof(l->handle); i++)
            ((uint8_t *)&l->handle)[i] = (uint8_t)(i * 37 + 11);
        break;
    case CLAIMED:
    case PREPARED:
    case DONE:
    case PREPARED_AGAIN:
        bring_to(l, state);
        break;
    default:
        bring_to_stale(l, state);
        break;
    }
}

static void life_end(struct life *l)
{
    if (l->owned) {
        /* refused if no transfer was started, which does not matter here */
        (void)mli_mov_wait(&l->handle);
        assert_ok(mli_mov_release_handle(&l->handle));
    }
    if (l->other_owned)
        assert_ok(mli_mov_release_handle(&l->other));
    l->owned = l->other_owned = false;
    assert_ok(mli_mov_set_num_dma_ch(0, 0)); /* possible because all handles are released */
}

/* isdone returns a bool: true counts as OK, false as ARGUMENT_ERROR. */
static mli_status make_call(struct life *l, enum call call)
{
    switch (call) {
    case PREPARE:
        return tile_prepare(&l->tile, l->given);
    case REGISTER:
        return mli_mov_registercallback(l->given, count_call, 1);
    case START:
        return mli_mov_start(l->given, NULL, NULL, NULL);
    case ISDONE:
        return mli_mov_isdone(l->given) ? MLI_STATUS_OK : MLI_STATUS_ARGUMENT_ERROR;
    case WAIT:
        return mli_mov_wait(l->given);
    default:
        return mli_mov_release_handle(l->given);
    }
}

static bool is_legal(enum state state, enum call call)
{
    static const bool legal[4][CALLS] = {
        /* columns: prepare register start isdone wait release */
        /* CLAIMED */ {true, true, false, false, false, true},
        /* PREPARED */ {true, true, true, false, false, true},
        /* DONE */ {true, true, true, true, true, true},
        /* PREPARED_AGAIN */ {true, true, true, false, false, true},
    };

    return state >= CLAIMED && state <= PREPARED_AGAIN && legal[state - CLAIMED][call];
}

static void test_state(void **given_state)
{
    enum state state = *(enum state *)*given_state;
    struct life before;

    for (enum call call = PREPARE; call < CALLS; call++) {
        bool legal = is_legal(state, call);
        mli_status got;

        life_begin(&the_life, state);
        unit_snapshot(&before, &the_life, sizeof(the_life));
        got = make_call(&the_life, call);
        if (got != (legal ? MLI_STATUS_OK : MLI_STATUS_ARGUMENT_ERROR))
            print_error("call %d in state %d\n", (int)call, (int)state);
        assert_status(got, legal ? MLI_STATUS_OK : MLI_STATUS_ARGUMENT_ERROR);
        if (!legal)
            assert_memory_equal(&the_life, &before, sizeof(the_life));
        if (legal && call == RELEASE)
            the_life.owned = false;
        life_end(&the_life);
    }
}

static void test_released_twice(void **state)
{

    (void)state;
    life_begin(&the_life, CLAIMED);
    assert_ok(mli_mov_release_handle(&the_life.handle));
    assert_status(mli_mov_release_handle(&the_life.handle), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_release_handle(&the_life.handle), MLI_STATUS_ARGUMENT_ERROR);
    the_life.owned = false;
    life_end(&the_life);
}

/* A stale copy of a handle must not release the channels, which belong to a new owner. */
static void test_stale_release_frees_nothing(void **state)
{
    mli_mov_handle_t third;

    (void)state;
    life_begin(&the_life, STALE_BESIDE_NEW_OWNER);
    assert_status(mli_mov_release_handle(&the_life.handle), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_acquire_handle(1, &third), MLI_STATUS_NOT_ENGH_MEM);
    assert_ok(mli_mov_start(&the_life.other, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&the_life.other));
    life_end(&the_life);
}

/* A handle is a value: a copy works at any address. */
static void test_copied_handle_works(void **state)
{
    mli_mov_handle_t copy;

    (void)state;
    life_begin(&the_life, PREPARED);
    memcpy(&copy, &the_life.handle, sizeof(copy));
    memset(&the_life.handle, 0, sizeof(the_life.handle));
    assert_ok(mli_mov_start(&copy, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&copy));
    assert_true(mli_mov_isdone(&copy));
    assert_memory_equal(the_life.tile.out, the_life.tile.in, 48);
    assert_ok(mli_mov_release_handle(&copy));
    the_life.owned = false;
    life_end(&the_life);
}

/* mli_mov_prepare() only makes a plan: tensor data is not accessed before mli_mov_start(). */
static void test_prepare_touches_no_data(void **state)
{
    struct guard_mem in, out;

    (void)state;
    life_begin(&the_life, CLAIMED);
    assert_int_equal(guard_mem_init(&in, 1), 0);
    assert_int_equal(guard_mem_init(&out, 1), 0);
    memcpy(in.base, the_life.tile.in, 48);
    the_life.tile.src.data.mem.pi8 = (int8_t *)in.base;
    the_life.tile.dst.data.mem.pi8 = (int8_t *)out.base;
    guard_mem_close(&in);
    guard_mem_close(&out);
    assert_ok(tile_prepare(&the_life.tile, &the_life.handle));
    guard_mem_open(&in);
    guard_mem_open(&out);
    assert_ok(mli_mov_start(&the_life.handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&the_life.handle));
    assert_memory_equal(out.base, the_life.tile.in, 48);
    life_end(&the_life);
    guard_mem_finish(&in);
    guard_mem_finish(&out);
}

/* The source data is read at start; prepare does not read it. */
static void test_data_is_read_at_start(void **state)
{

    (void)state;
    life_begin(&the_life, PREPARED);
    memset(the_life.tile.in, 0x77, 48);
    assert_ok(mli_mov_start(&the_life.handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&the_life.handle));
    assert_memory_equal(the_life.tile.out, the_life.tile.in, 48);
    life_end(&the_life);
}

/* The structures may disappear after prepare: the test makes their page inaccessible. */
static void test_structures_may_vanish(void **state)
{
    struct structures {
        mli_tensor src, dst;
        mli_mov_cfg_t cfg;
    } * s;
    struct guard_mem page;

    (void)state;
    life_begin(&the_life, CLAIMED);
    assert_int_equal(guard_mem_init(&page, sizeof(*s)), 0);
    s = (struct structures *)(void *)page.base;
    memcpy(&s->src, &the_life.tile.src, sizeof(s->src));
    memcpy(&s->dst, &the_life.tile.dst, sizeof(s->dst));
    memcpy(&s->cfg, &the_life.tile.cfg, sizeof(s->cfg));
    assert_ok(mli_mov_prepare(&the_life.handle, &s->src, &s->cfg, &s->dst));
    guard_mem_close(&page);
    assert_ok(mli_mov_start(&the_life.handle, &s->src, &s->cfg, &s->dst)); /* not read */
    assert_ok(mli_mov_wait(&the_life.handle));
    assert_memory_equal(the_life.tile.out, the_life.tile.in, 48);
    life_end(&the_life);
    guard_mem_finish(&page);
}

static void test_restart_without_prepare(void **state)
{

    (void)state;
    life_begin(&the_life, DONE);
    for (int i = 0; i < 5; i++) {
        memset(the_life.tile.out, 0, 48);
        the_life.tile.in[7] = (uint8_t)(i + 50);
        assert_ok(mli_mov_start(&the_life.handle, NULL, NULL, NULL));
        assert_ok(mli_mov_wait(&the_life.handle));
        assert_ok(mli_mov_wait(&the_life.handle)); /* wait may be called any number of times */
        assert_memory_equal(the_life.tile.out, the_life.tile.in, 48);
    }
    life_end(&the_life);
}

/* The last prepare counts, whether it comes before or after a start. */
static void test_prepare_again(void **state)
{
    struct tile second;

    (void)state;
    life_begin(&the_life, PREPARED);
    tile_init(&second, MLI_EL_FX_8);
    second.cfg.offset[0] = 1;
    assert_ok(tile_prepare(&second, &the_life.handle));
    assert_ok(mli_mov_start(&the_life.handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&the_life.handle));
    assert_memory_equal(second.out, second.in + 12, 12);
    assert_int_equal(the_life.tile.out[0], 0xA5);
    assert_ok(tile_prepare(&the_life.tile, &the_life.handle));
    assert_ok(mli_mov_start(&the_life.handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&the_life.handle));
    assert_memory_equal(the_life.tile.out, the_life.tile.in, 48);
    life_end(&the_life);
}

/* After a refused prepare, a done transfer is still done, and can be started again. */
static void test_refused_prepare_after_done(void **state)
{
    struct tile bad;

    (void)state;
    life_begin(&the_life, DONE);
    tile_init(&bad, MLI_EL_FX_16);
    bad.cfg.sub_sample_step[0] = 0;
    assert_status(tile_prepare(&bad, &the_life.handle), MLI_STATUS_BAD_FUNC_CFG);
    assert_true(mli_mov_isdone(&the_life.handle));
    assert_ok(mli_mov_wait(&the_life.handle));
    memset(the_life.tile.out, 0, 48);
    assert_ok(mli_mov_start(&the_life.handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&the_life.handle));
    assert_memory_equal(the_life.tile.out, the_life.tile.in, 48);
    life_end(&the_life);
}

/* Handles are independent: the test starts two transfers in reverse order. */
static void test_two_handles(void **state)
{
    mli_mov_handle_t second;
    struct tile t;

    (void)state;
    life_begin(&the_life, PREPARED);
    tile_init(&t, MLI_EL_FX_8);
    memset(t.in, 0x42, 24);
    assert_ok(mli_mov_acquire_handle(1, &second));
    assert_ok(tile_prepare(&t, &second));
    assert_ok(mli_mov_start(&second, NULL, NULL, NULL));
    assert_false(mli_mov_isdone(&the_life.handle));
    assert_ok(mli_mov_start(&the_life.handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&the_life.handle));
    assert_ok(mli_mov_wait(&second));
    assert_memory_equal(t.out, t.in, 24);
    assert_memory_equal(the_life.tile.out, the_life.tile.in, 48);
    assert_ok(mli_mov_release_handle(&second));
    life_end(&the_life);
}

/* One pointer target for each state, to pass the state to a test through cmocka. */
static enum state states[] = {STATES(STATE_NAME)};

#define STATE_TEST(name) {"every call: " #name, test_state, NULL, release_all, &states[name]},

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STATES(STATE_TEST) cmocka_unit_test_teardown(test_released_twice, release_all),
        cmocka_unit_test_teardown(test_stale_release_frees_nothing, release_all),
        cmocka_unit_test_teardown(test_copied_handle_works, release_all),
        cmocka_unit_test_teardown(test_prepare_touches_no_data, release_all),
        cmocka_unit_test_teardown(test_data_is_read_at_start, release_all),
        cmocka_unit_test_teardown(test_structures_may_vanish, release_all),
        cmocka_unit_test_teardown(test_restart_without_prepare, release_all),
        cmocka_unit_test_teardown(test_prepare_again, release_all),
        cmocka_unit_test_teardown(test_refused_prepare_after_done, release_all),
        cmocka_unit_test_teardown(test_two_handles, release_all),
    };

    unit_choose_engine(argc, argv);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
