/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the tuning: ranges, versions of the struct, refusals, and the defaults of several caches.
 */
#include <stdlib.h>
#include <string.h>

#include "mli_tuning.h"
#include "tests/support/any_tuning.h"
#include "tests/support/test_tile.h"
#include "tests/support/unit.h"

#ifdef MLI_NO_TUNING
enum { IS_CONSTANT = 1 };
#else
enum { IS_CONSTANT = 0 };
#endif

static mli_tuning defaults(void)
{
    mli_tuning tuning = {.size = sizeof(tuning)};

    assert_ok(mli_tuning_default(&tuning, NULL));
    return tuning;
}

static mli_tuning now(void)
{
    mli_tuning tuning;

    memset(&tuning, 0x5B, sizeof(tuning));
    tuning.size = sizeof(tuning);
    assert_ok(mli_tuning_get(&tuning));
    return tuning;
}

static void assert_equal(const mli_tuning *a, const mli_tuning *b)
{
    assert_int_equal(a->size, b->size);
#define EQUAL(name, least, most, multiple) assert_int_equal(a->name, b->name);
    MLI_TUNING_TABLE(EQUAL)
#undef EQUAL
}

static int restore(void **state)
{
    (void)state;
    return !IS_CONSTANT && mli_tuning_set(NULL) != MLI_STATUS_OK;
}

static void assert_refused(const mli_tuning *tuning, const char *name)
{
    const mli_tuning before = now();
    mli_tuning after;

    assert_status(mli_tuning_set(tuning), MLI_STATUS_ARGUMENT_ERROR);
    assert_error_names(name, MLI_STATUS_ARGUMENT_ERROR);
    after = now();
    assert_equal(&before, &after);
}

static void test_defaults_are_in_use(void **state)
{
    const mli_tuning first = now(), documented = defaults();

    (void)state;
    assert_equal(&first, &documented);
    assert_int_equal(first.stream_rows_min, 32 << 20);
    assert_int_equal(first.stream_pixels_min, (32 << 20) / 6);
    assert_int_equal(first.stage_bytes, 16384);
    assert_int_equal(first.avx512_store_ahead, 512);
}

/* The machine on which the defaults were measured gets these defaults. */
static void test_defaults_of_caches(void **state)
{
    const mli_caches measured = {48 << 10, 2 << 20, 105 << 20},
                     larger = {48 << 10, 2 << 20, 480 << 20},
                     small = {32 << 10, 256 << 10, 6 << 20}, none = {16 << 10, 128 << 10, 0};
    const mli_caches absurd[] = {
        {1, 1, 1}, {UINT64_MAX, UINT64_MAX, UINT64_MAX}, {0, 1, 0}, {0, 0, 1}};
    const mli_tuning unknown = defaults();
    mli_tuning tuning = {.size = sizeof(tuning)};

    (void)state;
    if (IS_CONSTANT)
        skip();
    assert_ok(mli_tuning_default(&tuning, &measured));
    assert_equal(&tuning, &unknown);
    assert_ok(mli_tuning_default(&tuning, &larger));
    assert_equal(&tuning, &unknown);
    assert_ok(mli_tuning_default(&tuning, &small));
    assert_int_equal(tuning.stream_rows_min, 3 << 20);
    assert_int_equal(tuning.second_level_bytes, 128 << 10);
    assert_int_equal(tuning.tile_source_bytes, 16 << 10);
    assert_ok(mli_tuning_set(&tuning));
    assert_ok(mli_tuning_default(&tuning, &none));
    assert_int_equal(tuning.stream_rows_min, 2 << 20);
    assert_ok(mli_tuning_set(&tuning));
    for (size_t i = 0; i < COUNT_OF(absurd); i++) {
        assert_ok(mli_tuning_default(&tuning, &absurd[i]));
        assert_ok(mli_tuning_set(&tuning));
    }
}

static void test_set_and_get(void **state)
{
    mli_tuning given, got;

    (void)state;
    if (IS_CONSTANT) {
        given = defaults();
        assert_refused(&given, "");
        return;
    }
    for (uint64_t i = 0; i < 200; i++) {
        given = any_tuning(16, i);
        assert_ok(mli_tuning_set(&given));
        got = now();
        assert_equal(&given, &got);
    }
    assert_ok(mli_tuning_set(NULL));
    got = now();
    given = defaults();
    assert_equal(&given, &got);
}

/* Each member in turn: its limits are legal, and values beyond them or between multiples are not.
 */
static void test_absurd_values(void **state)
{
    mli_tuning tuning;

    (void)state;
    if (IS_CONSTANT)
        skip();
#define CHECK(name, least, most, multiple)                                                         \
    if ((most) != UINT64_MAX) {                                                                    \
        tuning = defaults();                                                                       \
        tuning.stage_rows = 16; /* small enough for every stage_width */                           \
        tuning.stage_width = 64;                                                                   \
        tuning.name = (least);                                                                     \
        assert_ok(mli_tuning_set(&tuning));                                                        \
        tuning.name = (most);                                                                      \
        assert_ok(mli_tuning_set(&tuning));                                                        \
        tuning.name = (most) + (multiple);                                                         \
        assert_refused(&tuning, "tuning." #name);                                                  \
        tuning.name = UINT64_MAX;                                                                  \
        assert_refused(&tuning, "tuning." #name);                                                  \
        tuning.name = (uint64_t)(least) - (multiple);                                              \
        assert_refused(&tuning, "tuning." #name);                                                  \
        if ((multiple) > 1) {                                                                      \
            tuning.name = (least) + 1;                                                             \
            assert_refused(&tuning, "tuning." #name);                                              \
        }                                                                                          \
    }
    MLI_TUNING_TABLE(CHECK)
#undef CHECK
    tuning = defaults();
    tuning.stage_rows = 1024;
    assert_refused(&tuning, "tuning.stage_rows");
    tuning.stage_width = 64;
    assert_ok(mli_tuning_set(&tuning));
}

static void test_bad_sizes(void **state)
{
    static const size_t sizes[] = {0, 8, 15, 17, 4104, SIZE_MAX};
    mli_tuning tuning = defaults();
    const mli_tuning before = tuning;

    (void)state;
    assert_status(mli_tuning_default(NULL, NULL), MLI_STATUS_ARGUMENT_ERROR);
    assert_status(mli_tuning_get(NULL), MLI_STATUS_ARGUMENT_ERROR);
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
        tuning.size = sizes[i];
        assert_status(mli_tuning_default(&tuning, NULL), MLI_STATUS_ARGUMENT_ERROR);
        assert_error_names(IS_CONSTANT ? "" : "tuning.size", MLI_STATUS_ARGUMENT_ERROR);
        assert_status(mli_tuning_get(&tuning), MLI_STATUS_ARGUMENT_ERROR);
        assert_refused(&tuning, IS_CONSTANT ? "" : "tuning.size");
        tuning.size = before.size;
        assert_equal(&tuning, &before);
    }
}

/* A program that was compiled with an earlier, shorter struct. */
static void test_shorter_struct(void **state)
{
    struct {
        size_t size;
        uint64_t stream_rows_min, behind;
    } old = {.size = offsetof(mli_tuning, stream_short_min), .behind = 7};
    mli_tuning tuning;

    (void)state;
    assert_ok(mli_tuning_default((mli_tuning *)(void *)&old, NULL));
    assert_int_equal(old.stream_rows_min, 32 << 20);
    assert_int_equal(old.size, offsetof(mli_tuning, stream_short_min));
    if (IS_CONSTANT)
        skip();
    tuning = any_tuning(3, 3);
    assert_ok(mli_tuning_set(&tuning));
    old.stream_rows_min = 12345;
    assert_ok(mli_tuning_set((mli_tuning *)(void *)&old));
    tuning = now();
    assert_int_equal(tuning.stream_rows_min, 12345);
    tuning.stream_rows_min = 32 << 20;
    const mli_tuning expected = defaults();
    assert_equal(&tuning, &expected);
    old.stream_rows_min = 0;
    assert_ok(mli_tuning_get((mli_tuning *)(void *)&old));
    assert_int_equal(old.stream_rows_min, 12345);
    assert_int_equal(old.behind, 7);
}

/* A program that was compiled with a later, longer struct. */
static void test_longer_struct(void **state)
{
    struct {
        mli_tuning known;
        uint64_t later[2];
    } new = {.known = defaults(), .later = {5, 6}};

    (void)state;
    new.known.size = sizeof(new);
    assert_ok(mli_tuning_get(&new.known));
    assert_int_equal(new.known.size, sizeof(new));
    assert_int_equal(new.later[0] | new.later[1], 0);
    if (IS_CONSTANT)
        skip();
    assert_ok(mli_tuning_set(&new.known));
    new.later[1] = UINT64_C(1) << 56; /* sets a member that this library does not know */
    assert_refused(&new.known, "tuning.size");
}

static void start_stuck_transfer(mli_mov_handle_t *handle, struct tile *tile)
{
    assert_ok(mli_mov_set_engine("fault:inline,stick=1"));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, handle));
    tile_init(tile, MLI_EL_FX_16);
    assert_ok(tile_prepare(tile, handle));
    assert_ok(mli_mov_start(handle, NULL, NULL, NULL));
    assert_false(mli_mov_isdone(handle));
}

static void test_refused_while_a_transfer_runs(void **state)
{
    mli_mov_handle_t handle;
    struct tile tile;
    mli_tuning tuning = defaults();

    (void)state;
    start_stuck_transfer(&handle, &tile);
    assert_refused(&tuning, "tuning");
    assert_refused(NULL, "tuning");
    assert_ok(mli_mov_cancel(&handle));
    assert_status(mli_mov_wait(&handle), MLI_STATUS_CANCELLED);
    if (!IS_CONSTANT)
        assert_ok(mli_tuning_set(&tuning)); /* the handle is held, but idle */
    assert_ok(mli_mov_release_handle(&handle));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

static mli_status in_callback;

static void set_inside(int32_t cookie)
{
    (void)cookie;
    in_callback = mli_tuning_set(NULL);
}

static void test_refused_in_a_callback(void **state)
{
    mli_mov_handle_t handle;
    struct tile tile;

    (void)state;
    in_callback = MLI_STATUS_OK;
    assert_ok(mli_mov_set_engine("inline"));
    assert_ok(mli_mov_set_num_dma_ch(0, 1));
    assert_ok(mli_mov_acquire_handle(1, &handle));
    tile_init(&tile, MLI_EL_FX_16);
    assert_ok(tile_prepare(&tile, &handle));
    assert_ok(mli_mov_registercallback(&handle, set_inside, 0));
    assert_ok(mli_mov_start(&handle, NULL, NULL, NULL));
    assert_ok(mli_mov_wait(&handle));
    assert_status(in_callback, MLI_STATUS_ARGUMENT_ERROR);
    assert_ok(mli_mov_release_handle(&handle));
    assert_ok(mli_mov_set_num_dma_ch(0, 0));
}

static const char *ignored_with(const char *mask, int index)
{
    assert_int_equal(setenv("MLI_CPU_MASK", mask, 1), 0);
    return mli_cpu_ignored(index);
}

static void test_ignored_variables(void **state)
{
    static const char *const masks[] = {"0", "3", "0x7", "4294967295", ""};
    static const char *const texts[] = {"avx2", "-1", "+1", " 1", "1 ", "4294967296", "0x"};

    (void)state;
    unsetenv("MLI_STREAM_MIN");
    for (size_t i = 0; i < COUNT_OF(masks); i++)
        assert_null(ignored_with(masks[i], 0));
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_string_equal(ignored_with(texts[i], 0), "MLI_CPU_MASK");
        assert_null(mli_cpu_ignored(1));
    }
    setenv("MLI_STREAM_MIN", "many", 1);
    assert_string_equal(ignored_with("none", 1), "MLI_STREAM_MIN");
    assert_string_equal(ignored_with("1", 0), "MLI_STREAM_MIN");
    assert_null(mli_cpu_ignored(1));
    assert_null(mli_cpu_ignored(-1));
    unsetenv("MLI_STREAM_MIN");
    unsetenv("MLI_CPU_MASK");
}

/* mli_cpu_set_stream_min() is a short form: it sets the thresholds and nothing else. */
static void test_stream_min(void **state)
{
    mli_tuning tuning, got;

    (void)state;
    if (!IS_CONSTANT) {
        tuning = any_tuning(5, 5);
        assert_ok(mli_tuning_set(&tuning));
    }
    tuning = now();
    mli_cpu_set_stream_min(6400);
    got = now();
    assert_int_equal(got.stream_rows_min, 6400);
    assert_int_equal(got.stream_panel_min, 6400 / 6);
    assert_int_equal(got.stream_sets_min, 200);
    assert_int_equal(got.stage_width, tuning.stage_width);
    assert_int_equal(got.burst_bytes, tuning.burst_bytes);
    mli_cpu_set_stream_min(UINT64_MAX);
    assert_int_equal(now().stream_pixels_min, UINT64_MAX);
    mli_cpu_set_stream_min(UINT64_C(32) << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_in_use), /* first: no other test has set a tuning */
        cmocka_unit_test_teardown(test_defaults_of_caches, restore),
        cmocka_unit_test_teardown(test_set_and_get, restore),
        cmocka_unit_test_teardown(test_absurd_values, restore),
        cmocka_unit_test_teardown(test_bad_sizes, restore),
        cmocka_unit_test_teardown(test_shorter_struct, restore),
        cmocka_unit_test_teardown(test_longer_struct, restore),
        cmocka_unit_test_teardown(test_refused_while_a_transfer_runs, restore),
        cmocka_unit_test_teardown(test_refused_in_a_callback, restore),
        cmocka_unit_test(test_ignored_variables),
        cmocka_unit_test_teardown(test_stream_min, restore),
    };

    unsetenv("MLI_STREAM_MIN");
    return cmocka_run_group_tests(tests, NULL, NULL);
}
