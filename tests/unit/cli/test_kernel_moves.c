/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the moves and candidates of `mlictl calibrate --kernels`: they can be measured, and each
 * threshold has moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/calibrate/kernel_moves.h"
#include "cli/calibrate/kernel_search.h"
#include "mli_helpers_api.h"

enum { MIB = 1 << 20 };

static struct kernel_memory memory;

static int set_up(void **state)
{
    (void)state;
    return kernel_memory_init(&memory, 16 * MIB, 4 * MIB);
}

static int tear_down(void **state)
{
    (void)state;
    kernel_memory_finish(&memory);
    return mli_tuning_set(NULL) != MLI_STATUS_OK;
}

/* A move has its size within 5 %, and the library accepts it. */
static void test_every_move_works(void **state)
{
    (void)state;
    for (const struct kernel_shape *shape = kernel_shapes; shape->name; shape++) {
        for (uint32_t elem = 1; elem <= 4; elem *= 2) {
            struct kernel_move move;

            kernel_move_init(&move, shape, elem, MIB);
            if (move.bytes > MIB * 21 / 20 || move.bytes < MIB * 19 / 20)
                fail_msg("%s, %u: %zu bytes", shape->name, elem, move.bytes);
            assert_true(kernel_move_place(&move, &memory));
            if (kernel_move_run(&move) < 0)
                fail_msg("%s, %u: %s", shape->name, elem, mli_last_error());
        }
    }
}

static void test_large_moves_are_not_placed(void **state)
{
    struct kernel_move move;

    (void)state;
    kernel_move_init(&move, kernel_shape_named("copy"), 1, 8 * MIB);
    assert_false(kernel_move_place(&move, &memory));
}

/* With AVX-512, which streams every kind of move, at least three moves depend on each threshold. */
static void test_every_threshold_has_moves(void **state)
{
    size_t moves[TUNING_FIELDS + 1] = {0};

    (void)state;
    for (const struct kernel_shape *shape = kernel_shapes; shape->name; shape++) {
        for (uint32_t elem = 1; elem <= 4; elem *= 2) {
            struct kernel_move move;

            kernel_move_init(&move, shape, elem, MIB);
            assert_true(kernel_move_place(&move, &memory));
            moves[kernel_move_threshold(&move)]++;
        }
    }
    if (strcmp(mli_cpu_level(), "avx512") != 0)
        skip();
    for (size_t i = 0; i < TUNING_FIELDS; i++) {
        if (tuning_field_is_threshold(i) ? moves[i] < 3 : moves[i] > 0)
            fail_msg("%s: %zu moves", tuning_fields[i].name, moves[i]);
    }
}

static void test_thresholds_of_known_moves(void **state)
{
    static const struct {
        const char *shape, *threshold;
        uint32_t elem;
    } known[] = {
        {"copy", "stream_rows_min", 1},
        {"pad HWC, C=32", "stream_short_min", 4},
        {"subsample 3", "stream_short_min", 1},
        {"transpose", "stream_bytes_min", 1},
        {"transpose", "stream_transpose_min", 2},
        {"transpose, powers of two", "stream_sets_min", 4},
        {"CHW to HWC, C=3", "stream_pixels_min", 1},
        {"reverse four dimensions", "stream_panel_min", 2},
    };

    (void)state;
    if (strncmp(mli_cpu_level(), "avx", 3) != 0)
        skip();
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        struct kernel_move move;
        size_t found;

        kernel_move_init(&move, kernel_shape_named(known[i].shape), known[i].elem, MIB);
        assert_true(kernel_move_place(&move, &memory));
        found = kernel_move_threshold(&move);
        assert_true(found < TUNING_FIELDS);
        assert_string_equal(tuning_fields[found].name, known[i].threshold);
    }
}

/* Every size of the table is a member of mli_tuning, with legal candidates and moves that exist. */
static void test_table(void **state)
{
    bool listed[TUNING_FIELDS] = {false};

    (void)state;
    for (const struct kernel_size *size = kernel_sizes; size->field; size++) {
        const size_t field = tuning_field_named(size->field);

        assert_true(field < TUNING_FIELDS);
        assert_false(listed[field] || tuning_field_is_threshold(field));
        listed[field] = true;
        assert_true(size->candidates[0] > 0 && size->probes[0].shape);
        for (size_t i = 0; i < KERNEL_CANDIDATES && size->candidates[i]; i++) {
            mli_tuning tuning = {.size = sizeof tuning};

            assert_int_equal(mli_tuning_default(&tuning, NULL), MLI_STATUS_OK);
            tuning_field_set(&tuning, field, size->candidates[i]);
            if (strcmp(size->field, "stage_width") == 0)
                tuning.stage_rows = 16;
            if (mli_tuning_set(&tuning) != MLI_STATUS_OK)
                fail_msg("%s", mli_last_error());
        }
        for (size_t i = 0; i < KERNEL_PROBES && size->probes[i].shape; i++)
            assert_non_null(kernel_shape_named(size->probes[i].shape));
    }
    for (size_t i = 0; i < TUNING_FIELDS; i++)
        assert_true(listed[i] || tuning_field_is_threshold(i));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_move_works),
        cmocka_unit_test(test_large_moves_are_not_placed),
        cmocka_unit_test(test_every_threshold_has_moves),
        cmocka_unit_test(test_thresholds_of_known_moves),
        cmocka_unit_test(test_table),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
