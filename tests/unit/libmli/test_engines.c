/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests choosing an engine and its options: refused specifications, the position in the error
 * message, and that a refusal changes nothing.
 */
#include <string.h>

#include "mli_engine.h"
#include "tests/support/load.h"
#include "tests/support/unit.h"

/* The largest value of an option is SIZE_MAX / 2. */
#if SIZE_MAX > UINT32_MAX
#define LARGEST "9223372036854775807"
#else
#define LARGEST "2147483647"
#endif

static struct load load;

static int begin(void **state)
{
    (void)state;
    load_init_rows(&load, 1, 20, 30, 2);
    return mli_mov_set_engine("threads") != MLI_STATUS_OK;
}

static int end(void **state)
{
    (void)state;
    (void)mli_mov_release_handle(&load.h);
    load_finish(&load);
    return mli_mov_set_num_dma_ch(0, 0) != MLI_STATUS_OK;
}

static mli_status run(void)
{
    mli_status status;

    load_freshen(&load);
    load_start(&load);
    status = mli_mov_wait(&load.h);
    assert_ok(mli_mov_synchronise(&load.h));
    return status;
}

static void test_engines_known(void **state)
{
    (void)state;
    /* the first engine of the list is the default */
    assert_string_equal(mli_mov_engine_at(0), "threads");
    assert_string_equal(mli_mov_engine_at(1), "inline");
    assert_string_equal(mli_mov_engine_at(2), "fault");
    assert_null(mli_mov_engine_at(3));
    assert_null(mli_mov_engine_at(-1));
    assert_null(mli_mov_engine_at(INT32_MAX));
    assert_null(mli_mov_engine_at(INT32_MIN));
}

static void test_good_specs(void **state)
{
    static const char *const specs[][2] = {
        {"inline", "inline"},
        {"inline:tiny=0", "inline"},
        {"threads", "threads"},
        {"threads:tiny=0", "threads"},
        {"threads:tiny=" LARGEST, "threads"},
        {"threads:tiny=1,tiny=2", "threads"},
        {"fault:inline", "fault"},
        {"fault:threads,seed=7,fail=3", "fault"},
        {"fault:threads,fail_pct=100,stick_pct=100,corrupt_pct=0,delay_pct=1,reorder_pct=2",
         "fault"},
        {"fault:inline,seed=1844674407370955160", "fault"},
        {"fault:inline,tiny=00000000000000000000000000000000000000000016", "fault"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(specs); i++) {
        assert_ok(mli_mov_set_engine(specs[i][0]));
        assert_string_equal(mli_mov_engine_name(), specs[i][1]);
    }
}

/* A wrong specification of an engine, and its error message. Messages count characters from 1. */
static const struct {
    const char *spec, *says;
} bad[] = {
    {"", "character 1.not an engine"},
    {" inline", "character 1.not an engine"},
    {"inline ", "character 1.not an engine"},
    {"Inline", "character 1.not an engine"},
    {"inlin", "character 1.not an engine"},
    {"inlines", "character 1.not an engine"},
    {"dma", "character 1.not an engine"},
    {":", "character 1.not an engine"},
    {":tiny=0", "character 1.not an engine"},
    {"inline,tiny=0", "character 1.not an engine"},
    {"inline:", "character 8.key=number"},
    {"inline:,", "character 8.key=number"},
    {"inline:tiny", "character 8.key=number"},
    {"inline:tiny=", "character 8.key=number"},
    {"inline:=1", "character 8.key=number"},
    {"inline:=", "character 8.key=number"},
    {"inline:tiny=-1", "character 8.key=number"},
    {"inline:tiny=+1", "character 8.key=number"},
    {"inline:tiny=0x10", "character 8.key=number"},
    {"inline:tiny=1 ", "character 8.key=number"},
    {"inline:tiny= 1", "character 8.key=number"},
    {"inline:tiny=1=2", "character 8.key=number"},
    {"inline:tiny=18446744073709551616", "character 8.key=number"},
    {"inline:tiny=99999999999999999999999999", "character 8.key=number"},
    {"inline:tiny=9223372036854775808", "character 8"},
    {"inline: tiny=1", "character 8.no such option"},
    {"inline:Tiny=1", "character 8.no such option"},
    {"inline:tin=1", "character 8.no such option"},
    {"inline:tinyy=1", "character 8.no such option"},
    {"inline:seed=1", "character 8.no such option"},
    {"inline:tiny=1,", "character 15.key=number"},
    {"inline:tiny=1,,tiny=2", "character 15.key=number"},
    {"inline:tiny=1:tiny=2", "character 8.key=number"},
    {"threads:tiny=1,seed=1", "character 16.no such option"},
    {"fault", "character 6.engine to wrap"},
    {"fault:", "character 7.engine to wrap"},
    {"fault:,seed=1", "character 7.engine to wrap"},
    {"fault:seed=1", "character 7.engine to wrap"},
    {"fault:fault", "character 7.engine to wrap"},
    {"fault:fault,inline", "character 7.engine to wrap"},
    {"fault:nothing", "character 7.engine to wrap"},
    {"fault:inline,", "character 14.key=number"},
    {"fault:inline,fail", "character 14.key=number"},
    {"fault:inline,fail=1,row", "character 21.key=number"},
    {"fault:inline,fail_pct=101", "character 14.no such option"},
    {"fault:inline,fail=1,stick=2,corrupt_pct=1000", "character 29.no such option"},
    {"fault:inline,fail=1,colour=7", "character 21.no such option"},
    {"fault:inline,_pct=1", "character 14.no such option"},
    {"fault:threads,fail=1,threads", "character 22.key=number"},
};

static void test_bad_specs(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        const mli_status got = mli_mov_set_engine(bad[i].spec);

        if (got != MLI_STATUS_ARGUMENT_ERROR)
            print_error("\"%s\" was taken\n", bad[i].spec);
        assert_status(got, MLI_STATUS_ARGUMENT_ERROR);
        assert_error_names(bad[i].says, got);
        assert_string_equal(mli_mov_engine_name(), "threads");
    }
    assert_status(mli_mov_set_engine(NULL), MLI_STATUS_ARGUMENT_ERROR);
}

static void test_length_of_a_spec(void **state)
{
    char spec[256] = "fault:inline,seed=";

    (void)state;
    memset(spec + strlen(spec), '0', 127 - strlen(spec));
    assert_ok(mli_mov_set_engine(spec));
    strcat(spec, "0");
    assert_status(mli_mov_set_engine(spec), MLI_STATUS_ARGUMENT_ERROR);
    assert_string_equal(mli_mov_engine_name(), "fault");
}

/*
 * A refused specification applies none of its options, and the engine continues to count work
 * items.
 */
static void test_refused_spec_changes_nothing(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(bad); i++) {
        assert_ok(mli_mov_set_engine("fault:inline,fail=2,row=1"));
        assert_ok(mli_mov_set_num_dma_ch(0, 1));
        load_claim(&load, 1);
        assert_ok(run());
        assert_ok(mli_mov_release_handle(&load.h));
        assert_ok(mli_mov_set_num_dma_ch(0, 0));
        assert_status(mli_mov_set_engine(bad[i].spec), MLI_STATUS_ARGUMENT_ERROR);
        assert_string_equal(mli_mov_engine_name(), "fault");
        assert_ok(mli_mov_set_num_dma_ch(0, 1));
        load_claim(&load, 1);
        assert_status(run(), MLI_STATUS_DMA_ERROR);
        assert_ok(run());
        assert_true(load_is_moved(&load));
        assert_ok(mli_mov_release_handle(&load.h));
        assert_ok(mli_mov_set_num_dma_ch(0, 0));
    }
}

/*
 * A refusal also changes nothing if no engine was chosen before, so that there is no specification
 * to restore.
 */
static void test_refused_spec_leaves_the_default(void **state)
{
    mli_mov_channel_stats stats;

    (void)state;
    assert_status(mli_mov_set_engine("fault:inline,fail=1,x=1"), MLI_STATUS_ARGUMENT_ERROR);
    assert_string_equal(mli_mov_engine_name(), "threads");
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    load_claim(&load, 1);
    assert_ok(run());
    assert_true(load_is_moved(&load));
    assert_ok(mli_mov_get_channel_stats(0, &stats));
    assert_int_equal(stats.completed, 1);
}

/* If an engine is chosen again, the options of the earlier choice have no effect. */
static void test_options_are_not_kept(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_engine("fault:inline,fail=1,stick=2"));
    assert_ok(mli_mov_set_engine("fault:inline"));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    load_claim(&load, 1);
    assert_ok(run());
    assert_ok(run());
}

static void test_refused_while_there_are_channels(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_num_dma_ch(5, 1));
    assert_status(mli_mov_set_engine("inline"), MLI_STATUS_ARGUMENT_ERROR);
    load_claim(&load, 1);
    assert_status(mli_mov_set_engine("inline"), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_mov_set_engine("threads"), MLI_STATUS_ARGUMENT_ERROR);
    assert_string_equal(mli_mov_engine_name(), "threads");
    assert_ok(run());
    assert_ok(mli_mov_release_handle(&load.h));
    assert_status(mli_mov_set_engine("inline"), MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    assert_ok(mli_mov_set_engine("inline"));
}

static mli_status in_callback[3];

static void change_everything(int32_t cookie)
{
    (void)cookie;
    in_callback[0] = mli_mov_set_engine("inline");
    in_callback[1] = mli_mov_set_num_dma_ch(0, 0);
    in_callback[2] = mli_mov_set_num_dma_ch(0, 1);
}

/*
 * Choosing an engine is refused inside a callback, even if the callback has released the last
 * handle, its own.
 */
static void test_refused_in_a_callback(void **state)
{
    (void)state;
    assert_ok(mli_mov_set_engine("threads:tiny=0"));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    load_claim(&load, 1);
    assert_ok(mli_mov_registercallback(&load.h, change_everything, 0));
    assert_ok(run());
    for (int i = 0; i < 3; i++)
        assert_status(in_callback[i], MLI_STATUS_ARGUMENT_ERROR);
}

static bool is_done_at_once(const char *spec)
{
    bool done;

    assert_ok(mli_mov_set_engine(spec));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    load_claim(&load, 1);
    load_start(&load);
    done = mli_mov_isdone(&load.h);
    assert_ok(mli_mov_cancel(&load.h)); /* the transfer is stuck, unless the caller moved it */
    (void)mli_mov_wait(&load.h);
    assert_ok(mli_mov_release_handle(&load.h));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
    return done;
}

/*
 * A transfer of up to `tiny` bytes, here 20 rows of 30 bytes, is moved by the thread that starts
 * it. The default of the engine "fault" is that no transfer is tiny.
 */
static void test_tiny(void **state)
{
    (void)state;
    assert_true(is_done_at_once("fault:threads,stick_pct=100,tiny=600"));
    assert_false(is_done_at_once("fault:threads,stick_pct=100,tiny=599"));
    assert_false(is_done_at_once("fault:threads,stick_pct=100"));
    assert_true(is_done_at_once("threads:tiny=" LARGEST));
    assert_true(is_done_at_once("inline:tiny=0"));
}

static struct mli_channel_caps caps_with(const char *spec)
{
    struct mli_channel_caps caps;

    memset(&caps, 0xEE, sizeof(caps));
    assert_ok(mli_mov_set_engine(spec));
    mli_mov_engine_caps(&caps);
    return caps;
}

/* Options change the capabilities of an engine; the pool is empty. */
static void test_caps(void **state)
{
    struct mli_channel_caps caps = caps_with("threads");

    (void)state;
    assert_int_equal(caps.flags, MLI_CHANNEL_CPU);
    assert_int_equal(caps.loops, MLI_MAX_RANK);
    assert_int_equal(caps.tiny, 32768);
    assert_int_equal(caps.run_max | caps.count_max | caps.step_max | caps.bytes_max, 0);
    assert_int_equal(caps_with("threads:tiny=7").tiny, 7);
    assert_int_equal(caps_with("threads").tiny, 32768);
    assert_int_equal(caps_with("fault:threads").flags, 0);
    assert_int_equal(caps_with("fault:threads").tiny, 0);
    assert_int_equal(caps_with("fault:inline,tiny=9").tiny, 9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines_known),
        cmocka_unit_test_setup_teardown(test_refused_spec_leaves_the_default, begin, end),
        cmocka_unit_test_setup_teardown(test_good_specs, begin, end),
        cmocka_unit_test_setup_teardown(test_bad_specs, begin, end),
        cmocka_unit_test_setup_teardown(test_length_of_a_spec, begin, end),
        cmocka_unit_test_setup_teardown(test_refused_spec_changes_nothing, begin, end),
        cmocka_unit_test_setup_teardown(test_options_are_not_kept, begin, end),
        cmocka_unit_test_setup_teardown(test_refused_while_there_are_channels, begin, end),
        cmocka_unit_test_setup_teardown(test_refused_in_a_callback, begin, end),
        cmocka_unit_test_setup_teardown(test_tiny, begin, end),
        cmocka_unit_test_setup_teardown(test_caps, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
