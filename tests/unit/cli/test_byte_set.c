/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests the byte sets of random moves, and whether two sets have a common byte. The reference is
 * an array with a flag for each byte.
 */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "cli/job/byte_set.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { SIZE = 4096, ROUNDS = 20000, BUDGET = 100000 };

/* A random move: only the members that byte sets use. Strides may let elements overlap. */
static mli_explanation draw(struct rng *rng)
{
    mli_explanation move = {.rank = rng_between(rng, 1, 4), .elem = 1u << rng_below(rng, 3)};

    for (uint32_t d = 0; d < move.rank; d++) {
        mli_explained_axis *axis = &move.axis[d];

        axis->count = rng_between(rng, 1, 5);
        axis->lo = rng_below(rng, 2);
        axis->hi = axis->lo + rng_below(rng, 5);
        axis->step = rng_between(rng, 1, 3);
        axis->first = rng_below(rng, 4);
        axis->dst_offset = rng_below(rng, 4);
        axis->src_stride = rng_below(rng, 20);
        axis->dst_stride = rng_between(rng, 1, 30);
        if (rng_chance(rng, 50)) /* packed, so that the runs of neighbouring rows join */
            axis->dst_stride = d == 0 ? 1 : move.axis[d - 1].dst_stride * move.axis[d - 1].count;
    }
    return move;
}

static uint8_t marks[2][SIZE];

/* Marks the bytes of the samples one by one. */
static void mark(uint8_t *map, const mli_explanation *move, bool read, uint64_t base)
{
    uint64_t index[MLI_MAX_RANK] = {0}, count[MLI_MAX_RANK];

    memset(map, 0, SIZE);
    for (uint32_t d = 0; d < move->rank; d++) {
        count[d] = read ? move->axis[d].hi - move->axis[d].lo : move->axis[d].count;
        if (count[d] == 0)
            return;
    }
    for (;;) {
        uint64_t at = base;
        uint32_t d = 0;

        for (uint32_t i = 0; i < move->rank; i++) {
            const mli_explained_axis *axis = &move->axis[i];

            at += move->elem * (read ? (axis->first + index[i] * axis->step) * axis->src_stride
                                     : (axis->dst_offset + index[i]) * axis->dst_stride);
        }
        assert_true(at + move->elem <= SIZE);
        memset(map + at, 1, move->elem);
        while (d < move->rank && ++index[d] == count[d])
            index[d++] = 0;
        if (d == move->rank)
            return;
    }
}

static bool fits(const struct byte_set *set)
{
    return byte_set_end(set) <= SIZE;
}

static void test_random(void **state)
{
    const uint64_t seed = (uint64_t)time(NULL);
    size_t met = 0, apart = 0;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        struct rng rng = rng_for_case(seed, i);
        const mli_explanation a = draw(&rng), b = draw(&rng);
        const uint64_t a_base = rng_below(&rng, 600), b_base = rng_below(&rng, 600);
        const bool read = rng_chance(&rng, 50);
        const struct byte_set first = byte_set_written(&a, a_base);
        const struct byte_set second =
            read ? byte_set_read(&b, b_base) : byte_set_written(&b, b_base);
        uint64_t budget = BUDGET, end = 0;
        bool expected = false;

        if (!fits(&first) || !fits(&second))
            continue;
        mark(marks[0], &a, false, a_base);
        mark(marks[1], &b, read, b_base);
        for (uint64_t k = 0; k < SIZE; k++) {
            expected |= marks[0][k] && marks[1][k];
            end = marks[0][k] ? k + 1 : end;
        }
        assert_int_equal(byte_set_end(&first), end);
        if (byte_sets_meet(&first, &second, &budget) != expected)
            fail_msg("case %" PRIu64 ": %s expected", i, expected ? "a common byte" : "no byte");
        assert_true(budget > 0);
        met += expected;
        apart += !expected;
    }
    print_message("%zu pairs meet, %zu do not\n", met, apart);
    assert_true(met > ROUNDS / 20 && apart > ROUNDS / 20);
}

/*
 * Two tiles of one tensor have no byte in common although their spans overlap; this takes few
 * steps.
 */
static void test_tiles(void **state)
{
    const struct byte_set left = {.run = 1000, .loops = 1, .loop = {{1 << 20, 3000}}};
    const struct byte_set right = {
        .begin = 1000, .run = 2000, .loops = 1, .loop = {{1 << 20, 3000}}};
    const struct byte_set below = {
        .begin = 999, .run = 2, .loops = 1, .loop = {{2, UINT64_C(3000) << 19}}};
    const struct byte_set empty = {.run = 0};
    uint64_t budget = UINT64_C(1) << 22;

    (void)state;
    assert_false(byte_sets_meet(&left, &right, &budget));
    budget = 8;
    assert_true(byte_sets_meet(&left, &below, &budget));
    assert_true(byte_sets_meet(&below, &right, &budget));
    assert_false(byte_sets_meet(&left, &empty, &budget));
    assert_true(budget > 0);
    /* When the budget is used up, the answer is that the sets may meet. */
    assert_true(byte_sets_meet(&left, &right, &budget));
    assert_int_equal(budget, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_tiles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
