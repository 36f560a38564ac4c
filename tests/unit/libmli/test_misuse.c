/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every call in every state of a handle, with the status that the headers document. A refused call
 * changes neither the handle, nor the tensors, nor the pool. The program's argument is the engine
 * inside the fault engine; a stuck work item keeps a transfer running.
 */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

#define CALLS(X)                                                                                   \
    X(PREPARE)                                                                                     \
    X(REGISTER)                                                                                    \
    X(SET_HINTS)                                                                                   \
    X(START)                                                                                       \
    X(ISDONE)                                                                                      \
    X(WAIT)                                                                                        \
    X(CANCEL)                                                                                      \
    X(SYNCHRONISE)                                                                                 \
    X(GET_STATUS)                                                                                  \
    X(RELEASE)                                                                                     \
    X(RESIZE)                                                                                      \
    X(SET_ENGINE)

/*
 * A state, and a letter for the result of each call in it, in the order above: o OK,
 * x ARGUMENT_ERROR, c CANCELLED, f DMA_ERROR, - not called, because it would wait forever. The
 * groups are: calls before and at start; calls for the end of a transfer; status and release; calls
 * on the pool.
 */
#define STATES(X)                                                                                  \
    X(NULL_HANDLE, "xxxx", "xxxx", "xx", "ox")                                                     \
    X(ZEROED, "xxxx", "xxxx", "xx", "ox")                                                          \
    X(GARBAGE, "xxxx", "xxxx", "xx", "ox")                                                         \
    X(CLAIMED, "ooox", "xxxo", "oo", "xx")                                                         \
    X(PREPARED, "oooo", "xxxo", "oo", "xx")                                                        \
    X(RUNNING, "xxxx", "x-o-", "ox", "xx")                                                         \
    X(DONE_OK, "oooo", "oooo", "oo", "xx")                                                         \
    X(DONE_FAILED, "oooo", "ofoo", "oo", "xx")                                                     \
    X(DONE_CANCELLED, "oooo", "ocoo", "oo", "xx")                                                  \
    X(PREPARED_AGAIN, "oooo", "xxxo", "oo", "xx")                                                  \
    X(IN_CALLBACK, "oooo", "oxox", "oo", "xx")                                                     \
    X(RELEASED, "xxxx", "xxxx", "xx", "ox")                                                        \
    X(STALE_BESIDE_NEW_OWNER, "xxxx", "xxxx", "xx", "xx")

#define NAME(name, ...) name,
#define TEXT(name)      #name,

enum state { STATES(NAME) };
enum call { CALLS(NAME) CALL_COUNT };

static const char *const call_names[] = {CALLS(TEXT)};

static struct {
    const char *inside; /* name of the engine that the engine "fault" wraps */
    struct tile tile;
    mli_mov_handle_t handle, other;
    mli_mov_handle_t *given;
    bool owned, other_owned;
} at, before;

static mli_mov_status_t reported; /* the status that the call GET_STATUS returns in its structure */

/* The result of the call that is made inside the callback, and the handle for this call. */
static struct {
    enum call call;
    mli_status status;
} inner;

/* isdone returns a bool: true counts as OK, false as ARGUMENT_ERROR. */
static mli_status make_call(enum call call)
{
    switch (call) {
    case PREPARE:
        return tile_prepare(&at.tile, at.given);
    case REGISTER:
        return mli_mov_registercallback(at.given, NULL, 1);
    case SET_HINTS:
        return mli_mov_set_hints(at.given, MLI_MOV_FRESH_DST);
    case START:
        return mli_mov_start(at.given, NULL, NULL, NULL);
    case ISDONE:
        return mli_mov_isdone(at.given) ? MLI_STATUS_OK : MLI_STATUS_ARGUMENT_ERROR;
    case WAIT:
        return mli_mov_wait(at.given);
    case CANCEL:
        return mli_mov_cancel(at.given);
    case SYNCHRONISE:
        return mli_mov_synchronise(at.given);
    case GET_STATUS:
        return mli_mov_get_status(at.given, &reported);
    case RELEASE:
        return mli_mov_release_handle(at.given);
    case RESIZE:
        return mli_mov_set_num_dma_ch(0, 2);
    default:
        return mli_mov_set_engine("inline");
    }
}

static void call_inside(int32_t cookie)
{
    (void)cookie;
    /* a start inside the callback causes another callback */
    if (inner.status == MLI_STATUS_LARGE_ENUM)
        inner.status = make_call(inner.call);
}

static void set_engine(const char *fault)
{
    char spec[64];

    snprintf(spec, sizeof(spec), "fault:%s%s", at.inside, fault);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
}

static void claim(void)
{
    assert_ok(mli_mov_acquire_handle(1, &at.handle));
    at.owned = true;
}

static void claim_and_start(void)
{
    claim();
    assert_ok(tile_prepare(&at.tile, &at.handle));
    assert_ok(mli_mov_start(&at.handle, NULL, NULL, NULL));
}

static void claim_and_release(enum state state)
{
    mli_mov_handle_t copy;

    claim();
    assert_ok(tile_prepare(&at.tile, &at.handle));
    memcpy(&copy, &at.handle, sizeof(copy));
    assert_ok(mli_mov_release_handle(&at.handle));
    at.owned = false;
    if (state == STALE_BESIDE_NEW_OWNER) {
        memcpy(&at.handle, &copy, sizeof(copy));
        assert_ok(mli_mov_acquire_handle(2, &at.other));
        assert_ok(tile_prepare(&at.tile, &at.other));
        at.other_owned = true;
    }
}

static void bring_to(enum state state)
{
    switch (state) {
    case CLAIMED:
        claim();
        break;
    case PREPARED:
        claim();
        assert_ok(tile_prepare(&at.tile, &at.handle));
        break;
    case RUNNING:
        claim_and_start();
        assert_false(mli_mov_isdone(&at.handle));
        break;
    case DONE_OK:
    case PREPARED_AGAIN:
        claim_and_start();
        assert_ok(mli_mov_wait(&at.handle));
        if (state == PREPARED_AGAIN)
            assert_ok(tile_prepare(&at.tile, &at.handle));
        break;
    case DONE_FAILED:
        claim_and_start();
        assert_status(mli_mov_wait(&at.handle), MLI_STATUS_DMA_ERROR);
        break;
    case DONE_CANCELLED:
        claim_and_start();
        assert_ok(mli_mov_cancel(&at.handle));
        assert_status(mli_mov_wait(&at.handle), MLI_STATUS_CANCELLED);
        break;
    case RELEASED:
    case STALE_BESIDE_NEW_OWNER:
        claim_and_release(state);
        break;
    default:
        break;
    }
}

static void life_begin(enum state state)
{
    memset(&at.handle, state == GARBAGE ? 0x5B : 0, sizeof(at.handle));
    memset(&at.other, 0, sizeof(at.other));
    tile_init(&at.tile, MLI_EL_FX_16);
    at.given = state == NULL_HANDLE ? NULL : &at.handle;
    at.owned = at.other_owned = false;
    set_engine(state == RUNNING || state == DONE_CANCELLED ? ",stick=1"
               : state == DONE_FAILED                      ? ",fail=1"
                                                           : "");
    bring_to(state);
    unit_snapshot(&before, &at, sizeof(at));
}

static int release_all(void **state)
{
    (void)state;
    if (at.owned) {
        (void)mli_mov_cancel(&at.handle); /* a wait for a stuck work item would never end */
        (void)mli_mov_synchronise(&at.handle);
        (void)mli_mov_release_handle(&at.handle);
    }
    if (at.other_owned)
        (void)mli_mov_release_handle(&at.other);
    at.owned = at.other_owned = false;
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static mli_status promised(char letter)
{
    switch (letter) {
    case 'o':
        return MLI_STATUS_OK;
    case 'c':
        return MLI_STATUS_CANCELLED;
    case 'f':
        return MLI_STATUS_DMA_ERROR;
    default:
        return MLI_STATUS_ARGUMENT_ERROR;
    }
}

/* A refused call changes no byte, and not the stage of the handle. */
static void assert_unchanged(mli_mov_stage stage)
{
    assert_memory_equal(&at, &before, sizeof(at));
    assert_string_equal(mli_mov_engine_name(), "fault");
    if (!at.owned)
        return;
    assert_ok(mli_mov_get_status(&at.handle, &reported));
    assert_int_equal(reported.stage, stage);
}

static void call_in_state(enum state state, enum call call, char letter)
{
    const bool resized = call == RESIZE || call == SET_ENGINE;
    mli_status got;

    life_begin(state);
    memset(&reported, 0, sizeof(reported));
    if (at.owned)
        assert_ok(mli_mov_get_status(&at.handle, &reported));
    got = make_call(call);
    if (got != promised(letter))
        print_error("%s\n", call_names[call]);
    assert_status(got, promised(letter));
    if (letter == 'x' && call != ISDONE)
        assert_error_names(resized ? "" : "h", got);
    if (letter == 'x')
        assert_unchanged(reported.stage);
    if (letter == 'o' && call == RELEASE)
        at.owned = false;
    assert_int_equal(release_all(NULL), 0);
}

/* The callback makes the calls before the test waits for the transfer. */
static void call_in_callback(enum call call, char letter)
{
    life_begin(CLAIMED);
    inner.call = call;
    inner.status = MLI_STATUS_LARGE_ENUM;
    assert_ok(tile_prepare(&at.tile, &at.handle));
    assert_ok(mli_mov_registercallback(&at.handle, call_inside, 0));
    unit_snapshot(&before, &at, sizeof(at));
    assert_ok(mli_mov_start(&at.handle, NULL, NULL, NULL));
    if (call != RELEASE)
        assert_ok(mli_mov_synchronise(&at.handle));
    while (call == RELEASE && mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK) {
        /* Wait until the callback has released the handle: the thread that runs the callback
         * ends when the channel is closed. */
        if (mli_mov_poll() == 0)
            sched_yield();
    }
    if (inner.status != promised(letter))
        print_error("%s in a callback\n", call_names[call]);
    assert_status(inner.status, promised(letter));
    if (letter == 'x')
        assert_memory_equal(&at.handle, &before.handle, sizeof(at.handle));
    assert_memory_equal(at.tile.out, at.tile.in, 48);
    if (call == RELEASE)
        at.owned = false;
    assert_int_equal(release_all(NULL), 0);
}

struct row {
    const char *letters;
    enum state state;
};

static void test_state(void **state)
{
    const struct row *row = *state;

    for (enum call call = PREPARE; call < CALL_COUNT; call++) {
        if (row->letters[call] == '-')
            continue;
        if (row->state == IN_CALLBACK)
            call_in_callback(call, row->letters[call]);
        else
            call_in_state(row->state, call, row->letters[call]);
    }
}

/* Calls without a handle have the same results whatever the state of the handles. */
static void test_calls_without_a_handle(void **state)
{
    mli_mov_channel_stats stats, stats_before;
    struct tile tile;

    (void)state;
    life_begin(RUNNING);
    memset(&stats, 0x11, sizeof(stats));
    memcpy(&stats_before, &stats, sizeof(stats));
    assert_status(mli_mov_get_channel_stats(-1, &stats), MLI_STATUS_ARGUMENT_ERROR);
    assert_error_names("channel", MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_get_channel_stats(16, &stats), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_get_channel_stats(INT32_MAX, &stats), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_get_channel_stats(INT32_MIN, &stats), MLI_STATUS_ARGUMENT_ERROR);
    assert_memory_equal(&stats, &stats_before, sizeof(stats));
    assert_status(mli_mov_get_channel_stats(0, NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_get_status(&at.handle, NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.submitted, 1);
    assert_ok(mli_mov_get_channel_stats(15, &stats)); /* channel 15 was never in the pool */
    assert_int_equal(stats.submitted, 0);
    assert_int_equal(mli_mov_poll(), 0);
    assert_int_equal(mli_mov_is_polled(), strcmp(at.inside, "mock") == 0);
    tile_init(&tile, MLI_EL_FP_32);
    assert_ok(tile_sync(&tile)); /* moved on the second channel */
    assert_memory_equal(tile.out, tile.in, 96);
    assert_ok(mli_mov_acquire_handle(1, &at.other));
    assert_ok(tile_sync(&tile)); /* moved without a channel */
    assert_ok(mli_mov_release_handle(&at.other));
    assert_false(mli_mov_isdone(&at.handle));
}

#define ROW(name, begin, end, rest, pool) {begin end rest pool, name},
#define TEST(name, ...)                   {"every call: " #name, test_state, NULL, release_all, &rows[name]},

static struct row rows[] = {STATES(ROW)};

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        STATES(TEST) cmocka_unit_test_teardown(test_calls_without_a_handle, release_all),
    };

    unit_add_ports();
    at.inside = argc > 1 ? argv[1] : "inline";
    return cmocka_run_group_tests(tests, NULL, NULL);
}
