/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests engines that a program adds: refused engines, and the pool's calls to an engine. */
#include <stdatomic.h>
#include <string.h>

#include "mli_engine.h"
#include "tests/support/guard_mem.h"
#include "tests/support/load.h"
#include "tests/support/unit.h"

/* A device with any number of channels, which moves the data inside submit. */
static struct {
    uint32_t channels, refuses; /* number of channels; index of the channel whose open fails */
    uint32_t opened, closed;    /* masks of channels opened and closed since the last check */
    size_t tiny;
    uint32_t submits, synchronised;
} device;

static uint32_t probe(void)
{
    return device.channels;
}

static void caps(uint32_t channel, struct mli_channel_caps *caps)
{
    (void)channel;
    assert_int_equal(caps->loops, 0); /* the pool has set *caps to zeros before this call */
    assert_int_equal(caps->tiny, 0);
    caps->loops = MLI_MAX_RANK;
    caps->tiny = device.tiny;
}

static void submit(uint32_t channel, struct mli_work *work)
{
    const struct mli_copy_box *box = &work->plan->box;
    const struct mli_work_end end = {.status = MLI_STATUS_OK};

    assert_in_range(channel, 0, device.channels - 1);
    device.submits++;
    for (size_t row = 0; row < (box->loops ? box->loop[0].count : 1); row++)
        memcpy(box->dst + row * box->loop[0].dst_step, box->src + row * box->loop[0].src_step,
               box->run);
    work->done(work, &end);
}

static bool open_channel(uint32_t channel)
{
    if (channel == device.refuses)
        return false;
    device.opened |= 1u << channel;
    return true;
}

static void close_channel(uint32_t channel)
{
    device.closed |= 1u << channel;
}

static void synchronise(uint32_t channel)
{
    (void)channel;
    device.synchronised++;
}

static bool option(const char *key, size_t length, uint64_t value)
{
    return length == 5 && memcmp(key, "depth", 5) == 0 && value < 10;
}

static struct mli_engine engine_named(const char *name)
{
    return (struct mli_engine){
        .size = sizeof(struct mli_engine),
        .name = name,
        .probe = probe,
        .caps = caps,
        .submit = submit,
        .open = open_channel,
        .close = close_channel,
        .synchronise = synchronise,
        .option = option,
    };
}

static int begin(void **state)
{
    (void)state;
    memset(&device, 0, sizeof(device));
    device.channels = 4;
    device.refuses = UINT32_MAX;
    return 0;
}

static int end(void **state)
{
    (void)state;
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static void assert_works(const char *spec)
{
    struct load load;

    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(0, 2));
    load_init_rows(&load, 1, 10, 33, 7);
    load_claim(&load, 2);
    load_start(&load);
    assert_ok(mli_mov_wait(&load.h));
    assert_ok(mli_mov_cancel(&load.h)); /* an engine need not have a cancel function */
    assert_ok(mli_mov_synchronise(&load.h));
    assert_true(load_is_moved(&load));
    assert_int_equal(load_calls(1), 1);
    assert_int_equal(mli_mov_poll(), 0);
    assert_ok(mli_mov_release_handle(&load.h));
    load_finish(&load);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

static void test_incomplete(void **state)
{
    static const struct mli_engine zero;
    struct mli_engine engine;

    (void)state;
    assert_status(mli_mov_add_engine(NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_add_engine(&zero), MLI_STATUS_ARGUMENT_ERROR);
#define WITHOUT(change)                                                                            \
    engine = engine_named("incomplete");                                                           \
    change;                                                                                        \
    assert_status(mli_mov_add_engine(&engine), MLI_STATUS_ARGUMENT_ERROR)
    WITHOUT(engine.name = NULL);
    WITHOUT(engine.probe = NULL);
    WITHOUT(engine.caps = NULL);
    WITHOUT(engine.submit = NULL);
    WITHOUT(engine.size = 0);
    WITHOUT(engine.size = offsetof(struct mli_engine, open) - 1);
    assert_null(mli_mov_engine_at(3));
}

/* Names that a specification cannot contain are refused. */
static void test_names(void **state)
{
    static const char *const names[] = {"inline", "threads", "fault", "", "a:b", "a,b", "a=b"};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        const struct mli_engine engine = engine_named(names[i]);

        assert_status(mli_mov_add_engine(&engine), MLI_STATUS_ARGUMENT_ERROR);
    }
    assert_null(mli_mov_engine_at(3));
}

/*
 * An engine that was compiled with an older header has fewer functions: the library must not read
 * beyond its struct.
 */
static void test_older_header(void **state)
{
    const size_t size = offsetof(struct mli_engine, open);
    struct mli_engine engine = engine_named("older");
    struct guard_mem memory;
    uint8_t *at;

    (void)state;
    engine.size = size;
    assert_int_equal(guard_mem_init(&memory, size), 0);
    at = guard_mem_right(&memory, size);
    memcpy(at, &engine, size);
    assert_ok(mli_mov_add_engine((const struct mli_engine *)(const void *)at));
    guard_mem_finish(&memory); /* the library uses its own copy of the struct */
    assert_string_equal(mli_mov_engine_at(3), "older");
    assert_works("older");
    assert_true(device.submits > 0);
    assert_int_equal(device.opened | device.closed | device.synchronised, 0);
    assert_status(mli_mov_set_engine("older:depth=1"), MLI_STATUS_ARGUMENT_ERROR);
    assert_works("fault:older");
    /* an engine with this name exists */
    assert_status(mli_mov_add_engine(&engine), MLI_STATUS_ARGUMENT_ERROR);
}

static void test_newer_header(void **state)
{
    struct {
        struct mli_engine known;
        void *later[8];
    } engine = {.known = engine_named("newer")};

    (void)state;
    engine.known.size = sizeof(engine);
    memset(engine.later, 0xFF, sizeof(engine.later));
    assert_ok(mli_mov_add_engine(&engine.known));
    assert_works("newer:depth=9");
    assert_int_equal(device.opened, 3);
    assert_int_equal(device.closed, 3);
    assert_true(device.synchronised > 0);
    assert_status(mli_mov_set_engine("newer:depth=10"), MLI_STATUS_ARGUMENT_ERROR);
    assert_works("fault:newer,depth=3,seed=4");
}

/* Adds an engine that has fewer channels than a pool can have, and an engine that has more. */
static void test_channels(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_engine("newer"));
    assert_ok(mli_mov_set_num_dma_ch(3, 1));
    assert_status(mli_mov_set_num_dma_ch(4, 1), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_num_dma_ch(0, 5), MLI_STATUS_ARGUMENT_ERROR);
    assert_error_names("0 to 3", MLI_STATUS_ARGUMENT_ERROR);
    device.channels = 40;
    assert_status(mli_mov_set_num_dma_ch(0, 17), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_set_num_dma_ch(0, 16));
    assert_int_equal(device.opened, 0xFFFF);
}

static void test_no_device(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_engine("inline"));
    device.channels = 0;
    assert_status(mli_mov_set_engine("newer"), MLI_STATUS_ARGUMENT_ERROR);
    assert_error_names("no device", MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_engine("fault:newer"), MLI_STATUS_ARGUMENT_ERROR);
    assert_string_equal(mli_mov_engine_name(), "inline");
}

/*
 * If a channel cannot be opened, the pool closes the channels that it has opened for this call, and
 * stays unchanged.
 */
static void test_unavailable_channel(void **state)
{
    mli_mov_handle_t h;

    (void)state;
    assert_ok(mli_mov_set_engine("newer"));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    device.opened = 0;
    device.refuses = 2;
    assert_status(mli_mov_set_num_dma_ch(0, 4), MLI_STATUS_NOT_ENGH_MEM);
    assert_int_equal(device.opened, 1u << 1);
    assert_int_equal(device.closed, 1u << 1);
    assert_ok(mli_mov_acquire_handle(1, &h));
    assert_status(mli_mov_acquire_handle(1, &h), MLI_STATUS_NOT_ENGH_MEM);
    assert_ok(mli_mov_release_handle(&h));
    device.refuses = UINT32_MAX;
    assert_ok(mli_mov_set_num_dma_ch(0, 4));
    assert_int_equal(device.closed, 1u << 1); /* channel 0 was not closed */
}

/*
 * Sets `tiny` so high that every move is too small for a channel. SIZE_MAX has a special meaning
 * (never use a channel), the next smaller number has not.
 */
static void test_everything_is_tiny(void **state)
{
    (void)state;
    device.tiny = SIZE_MAX;
    assert_works("newer");
    device.tiny = SIZE_MAX - 1;
    assert_works("newer");
    assert_int_equal(device.submits, 0);
}

static void test_too_many(void **state)
{
    static const char *const names[] = {"a", "b", "c"};
    struct mli_engine engine = engine_named("one more");

    (void)state;
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        engine = engine_named(names[i]);
        assert_ok(mli_mov_add_engine(&engine));
    }
    engine.name = "one-more";
    assert_status(mli_mov_add_engine(&engine), MLI_STATUS_NOT_ENGH_MEM);
    assert_string_equal(mli_mov_engine_at(MLI_ENGINES_MAX - 1), "c");
    assert_null(mli_mov_engine_at(MLI_ENGINES_MAX));
    assert_works("c");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_incomplete, begin, end),
        cmocka_unit_test_setup_teardown(test_names, begin, end),
        cmocka_unit_test_setup_teardown(test_older_header, begin, end),
        cmocka_unit_test_setup_teardown(test_newer_header, begin, end),
        cmocka_unit_test_setup_teardown(test_channels, begin, end),
        cmocka_unit_test_setup_teardown(test_no_device, begin, end),
        cmocka_unit_test_setup_teardown(test_unavailable_channel, begin, end),
        cmocka_unit_test_setup_teardown(test_everything_is_tiny, begin, end),
        cmocka_unit_test_setup_teardown(test_too_many, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
