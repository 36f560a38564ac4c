/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the composition of two random moves with a table that has the source of each element of
 * the tensor between them. The second move reads this tensor in the same shape or in another one.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/optimise/index_map.h"
#include "tests/support/rng.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"

enum { SIZE = 8192, ROUNDS = 60000, ELEM = 2, BASE = 1024 };

/*
 * The source of a byte after the first move: byte not written, first byte of a zero element, or a
 * later byte of any element.
 */
enum { NOTHING = -1, ZERO = -2, REST = -3 };

struct shape {
    uint32_t rank;
    uint64_t extent[MLI_MAX_RANK], stride[MLI_MAX_RANK]; /* strides in bytes */
};

/*
 * Makes a random tensor. Each dimension has gaps between its rows with a probability of `gap`
 * percent.
 */
static struct shape draw_shape(struct rng *rng, uint32_t gap)
{
    struct shape shape = {.rank = rng_between(rng, 1, 4)};
    uint64_t stride = ELEM;

    for (uint32_t d = shape.rank; d-- > 0;) {
        shape.extent[d] = rng_between(rng, 1, 5);
        shape.stride[d] = stride;
        stride *= shape.extent[d];
        if (rng_chance(rng, gap))
            stride += ELEM * rng_below(rng, 4);
    }
    return shape;
}

/* Splits a dimension of a packed tensor in two, or joins two. */
static struct shape reshape(struct rng *rng, struct shape from)
{
    struct shape to = from;
    const uint32_t d = rng_below(rng, from.rank);

    if (from.rank < MLI_MAX_RANK && from.extent[d] % 2 == 0 && rng_chance(rng, 50)) {
        memmove(&to.extent[d + 1], &from.extent[d], (from.rank - d) * sizeof(to.extent[0]));
        memmove(&to.stride[d + 1], &from.stride[d], (from.rank - d) * sizeof(to.stride[0]));
        to.extent[d] = 2;
        to.extent[d + 1] = from.extent[d] / 2;
        to.stride[d] = from.stride[d] * to.extent[d + 1];
        to.rank++;
    } else if (d + 1 < from.rank && from.stride[d] == from.stride[d + 1] * from.extent[d + 1]) {
        to.extent[d + 1] *= from.extent[d];
        memmove(&to.extent[d], &to.extent[d + 1], (from.rank - d - 1) * sizeof(to.extent[0]));
        memmove(&to.stride[d], &to.stride[d + 1], (from.rank - d - 1) * sizeof(to.stride[0]));
        to.rank--;
    }
    return to;
}

static void shuffle(struct rng *rng, struct index_map *map)
{
    for (uint32_t i = map->rank; i-- > 1;) {
        const uint32_t k = rng_below(rng, i + 1);
        const struct index_axis axis = map->axis[i];

        map->axis[i] = map->axis[k];
        map->axis[k] = axis;
    }
}

/* A random border of zeros around the `count` samples of an axis. */
static void draw_border(struct rng *rng, struct index_axis *axis, uint32_t percent)
{
    const uint64_t count = axis->count;

    axis->lo = rng_chance(rng, percent) ? rng_below(rng, (uint32_t)count) : 0;
    axis->hi =
        axis->lo + (rng_chance(rng, percent) ? rng_between(rng, 1, (uint32_t)(count - axis->lo))
                                             : (uint32_t)(count - axis->lo));
}

/* A move that writes a box of the tensor. */
static struct index_map draw_writer(struct rng *rng, const struct shape *shape)
{
    struct index_map map = {.rank = shape->rank, .elem = ELEM, .dst = BASE, .src = 5000};
    const uint32_t part = rng_chance(rng, 50) ? 60 : 0;

    for (uint32_t d = 0; d < shape->rank; d++) {
        const uint64_t from =
            rng_chance(rng, part) ? rng_below(rng, (uint32_t)shape->extent[d]) : 0;

        map.axis[d].count = shape->extent[d] - from;
        if (rng_chance(rng, part))
            map.axis[d].count = rng_between(rng, 1, (uint32_t)map.axis[d].count);
        map.axis[d].dst_step = shape->stride[d];
        map.axis[d].src_step = ELEM * rng_between(rng, 1, 40);
        map.dst += from * shape->stride[d];
        draw_border(rng, &map.axis[d], 20);
    }
    map.zeros = rng_chance(rng, 3);
    shuffle(rng, &map);
    return map;
}

/* Returns a move that reads a window of the tensor or, in `wild` percent of all calls, a move that
 * does not depend on the tensor's shape. */
static struct index_map draw_reader(struct rng *rng, const struct shape *shape, uint32_t wild)
{
    struct index_map map = {.rank = shape->rank, .elem = ELEM, .src = BASE, .dst = 3000};
    const uint32_t part = rng_chance(rng, 50) ? 60 : 0;

    for (uint32_t d = 0; d < shape->rank; d++) {
        struct index_axis *axis = &map.axis[d];
        const uint64_t from =
            rng_chance(rng, part) ? rng_below(rng, (uint32_t)shape->extent[d]) : 0;
        const uint64_t step = rng_chance(rng, part) ? rng_between(rng, 1, 3) : 1;
        const uint64_t most = (shape->extent[d] - from + step - 1) / step;
        const uint64_t read = rng_chance(rng, part) ? rng_between(rng, 1, (uint32_t)most) : most;

        axis->lo = rng_chance(rng, 20) ? rng_below(rng, 3) : 0;
        axis->hi = axis->lo + read;
        axis->count = axis->hi + (rng_chance(rng, 20) ? rng_below(rng, 3) : 0);
        axis->src_step = step * shape->stride[d];
        axis->dst_step = ELEM * rng_between(rng, 1, 50);
        map.src += from * shape->stride[d];
        if (rng_chance(rng, wild))
            axis->src_step = rng_between(rng, 1, 30);
    }
    if (rng_chance(rng, wild))
        map.src = map.src + rng_below(rng, 9) - 4;
    shuffle(rng, &map);
    return map;
}

static int64_t table[SIZE];

/* Advances the samples of a box. Returns false after the last one. */
static bool next(uint64_t *at, const uint64_t *lo, const uint64_t *hi, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++) {
        if (++at[d] < hi[d])
            return true;
        at[d] = lo[d];
    }
    return false;
}

static bool is_within(const struct index_map *map, const uint64_t *at)
{
    for (uint32_t d = 0; d < map->rank; d++) {
        if (at[d] < map->axis[d].lo || at[d] >= map->axis[d].hi)
            return false;
    }
    return !map->zeros;
}

static int64_t source_of(const struct index_map *map, const uint64_t *at)
{
    uint64_t address = map->src;

    if (!is_within(map, at))
        return ZERO;
    for (uint32_t d = 0; d < map->rank; d++)
        address += (at[d] - map->axis[d].lo) * map->axis[d].src_step;
    return (int64_t)address;
}

static void fill_table(const struct index_map *writer)
{
    uint64_t at[MLI_MAX_RANK] = {0}, lo[MLI_MAX_RANK] = {0}, hi[MLI_MAX_RANK];

    for (size_t i = 0; i < SIZE; i++)
        table[i] = NOTHING;
    for (uint32_t d = 0; d < writer->rank; d++)
        hi[d] = writer->axis[d].count;
    do {
        uint64_t to = writer->dst;

        for (uint32_t d = 0; d < writer->rank; d++)
            to += at[d] * writer->axis[d].dst_step;
        assert_true(to + ELEM <= SIZE);
        table[to] = source_of(writer, at);
        table[to + 1] = REST;
    } while (next(at, lo, hi, writer->rank));
}

static bool is_in(const struct index_box *box, const uint64_t *at, uint32_t rank)
{
    for (uint32_t d = 0; d < rank; d++) {
        if (at[d] < box->lo[d] || at[d] >= box->hi[d])
            return false;
    }
    return true;
}

/* Checks each sample that the reader reads. Returns whether the writer wrote any of them. */
static bool check(const struct index_map *reader, enum composition result,
                  const struct index_map *composed, const struct index_box *given)
{
    uint64_t at[MLI_MAX_RANK], lo[MLI_MAX_RANK], hi[MLI_MAX_RANK];
    bool meets = false;

    for (uint32_t d = 0; d < reader->rank; d++) {
        at[d] = lo[d] = reader->axis[d].lo;
        hi[d] = reader->axis[d].hi;
    }
    do {
        const int64_t from = source_of(reader, at);

        assert_true(from >= 0 && from + ELEM <= SIZE);
        meets |= table[from] != NOTHING || table[from + 1] != NOTHING;
        if (result != COMPOSED && result != COMPOSED_GIVEN)
            continue;
        if (!is_in(given, at, reader->rank)) {
            assert_true(table[from] == NOTHING && table[from + 1] == NOTHING);
            assert_false(result == COMPOSED && is_within(composed, at));
        } else {
            assert_true(table[from] != NOTHING && table[from] != REST);
            assert_true(table[from + 1] == REST);
            assert_true(result != COMPOSED || source_of(composed, at) == table[from]);
        }
    } while (next(at, lo, hi, reader->rank));
    return meets;
}

static void check_unchanged(const struct index_map *reader, const struct index_map *composed)
{
    assert_int_equal(composed->rank, reader->rank);
    assert_int_equal(composed->elem, reader->elem);
    assert_int_equal(composed->dst, reader->dst);
    for (uint32_t d = 0; d < reader->rank; d++) {
        assert_int_equal(composed->axis[d].count, reader->axis[d].count);
        assert_int_equal(composed->axis[d].dst_step, reader->axis[d].dst_step);
    }
}

static uint64_t seed;

static void composes_random_moves(void **state)
{
    const uint64_t rounds = scaled(ROUNDS);
    uint64_t composed_count = 0;

    (void)state;
    for (uint64_t i = 0; i < rounds; i++) {
        struct rng rng = rng_for_case(seed, i);
        const struct shape shape = draw_shape(&rng, rng_chance(&rng, 30) ? 30 : 0);
        const bool other = rng_chance(&rng, 40);
        const struct shape seen = other ? reshape(&rng, shape) : shape;
        const struct index_map writer = draw_writer(&rng, &shape);
        const struct index_map reader = draw_reader(&rng, &seen, 4);
        struct index_map composed;
        struct index_box given;
        const enum composition result = index_map_compose(&reader, &writer, &composed, &given);

        fill_table(&writer);
        const bool meets = check(&reader, result, &composed, &given);
        if (result == COMPOSED)
            check_unchanged(&reader, &composed);
        assert_false(result == COMPOSED_APART && meets);
        assert_false((result == COMPOSED || result == COMPOSED_GIVEN) && !meets);
        composed_count += result == COMPOSED;
    }
    print_message("%" PRIu64 " of %" PRIu64 " compositions are one map\n", composed_count, rounds);
    assert_true(composed_count * 2 > rounds);
}

static struct index_map copy_of(uint32_t rank, const uint64_t *shape, uint64_t src, uint64_t dst)
{
    struct index_map map = {.rank = rank, .elem = ELEM, .src = src, .dst = dst};
    uint64_t stride = ELEM;

    for (uint32_t d = rank; d-- > 0;) {
        map.axis[d] = (struct index_axis){shape[d], 0, shape[d], stride, stride};
        stride *= shape[d];
    }
    return map;
}

/* If the second move reads the tensor in the shape in which it was written, the moves can always
 * be composed. */
static void composes_boxes_of_one_shape(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scaled(ROUNDS); i++) {
        struct rng rng = rng_for_case(seed + 1, i);
        const struct shape shape = draw_shape(&rng, 0);
        struct index_map writer = copy_of(shape.rank, shape.extent, 0, BASE), composed;
        const struct index_map reader = draw_reader(&rng, &shape, 0);
        struct index_box given;

        for (uint32_t d = 0; d < writer.rank; d++)
            draw_border(&rng, &writer.axis[d], 30);
        fill_table(&writer);
        const enum composition result = index_map_compose(&reader, &writer, &composed, &given);
        assert_int_equal(result, COMPOSED);
        check(&reader, result, &composed, &given);
    }
}

static void reads_a_reshaped_tensor(void **state)
{
    const uint64_t three[] = {2, 3, 4}, two[] = {6, 4}, one[] = {24};
    const struct index_map writer = copy_of(3, three, 100, BASE);
    struct index_map composed, reader = copy_of(2, two, BASE, 0);
    struct index_box given;

    (void)state;
    assert_int_equal(index_map_compose(&reader, &writer, &composed, &given), COMPOSED);
    assert_int_equal(composed.src, 100);
    assert_int_equal(composed.axis[0].src_step, 4 * ELEM);
    reader = copy_of(1, one, BASE, 0);
    assert_int_equal(index_map_compose(&reader, &writer, &composed, &given), COMPOSED);
    assert_int_equal(composed.axis[0].src_step, ELEM);
    /* A transposed tensor is no longer one run. */
    struct index_map turned = writer;
    turned.axis[0].src_step = ELEM;
    turned.axis[2].src_step = 6 * ELEM;
    assert_int_equal(index_map_compose(&reader, &turned, &composed, &given), COMPOSED_GIVEN);
}

static void refuses_other_elements(void **state)
{
    const uint64_t shape[] = {4};
    struct index_map writer = copy_of(1, shape, 0, BASE), reader = copy_of(1, shape, BASE, 0);
    struct index_map composed;
    struct index_box given;

    (void)state;
    reader.elem = 1;
    assert_int_equal(index_map_compose(&reader, &writer, &composed, &given), COMPOSED_SIZES);
    reader.elem = ELEM;
    reader.src += 1; /* an address in the middle of an element */
    assert_int_equal(index_map_compose(&reader, &writer, &composed, &given), COMPOSED_IRREGULAR);
}

static void survives_hostile_numbers(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < scaled(ROUNDS); i++) {
        struct rng rng = rng_for_case(seed + 2, i);
        struct index_map maps[2], composed;
        struct index_box given;

        for (int k = 0; k < 2; k++) {
            maps[k] = (struct index_map){.rank = rng_between(&rng, 1, 4),
                                         .elem = 1,
                                         .src = rng_next(&rng) >> rng_between(&rng, 2, 60),
                                         .dst = rng_next(&rng) >> rng_between(&rng, 2, 60)};
            for (uint32_t d = 0; d < maps[k].rank; d++) {
                struct index_axis *axis = &maps[k].axis[d];

                axis->count = 1 + (rng_next(&rng) >> rng_between(&rng, 31, 63));
                axis->lo = rng_below(&rng, 2) % axis->count;
                axis->hi = axis->count;
                axis->src_step = 1 + (rng_next(&rng) >> rng_between(&rng, 31, 63));
                axis->dst_step = 1 + (rng_next(&rng) >> rng_between(&rng, 31, 63));
            }
        }
        index_map_compose(&maps[0], &maps[1], &composed, &given);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(composes_random_moves),    cmocka_unit_test(composes_boxes_of_one_shape),
        cmocka_unit_test(reads_a_reshaped_tensor),  cmocka_unit_test(refuses_other_elements),
        cmocka_unit_test(survives_hostile_numbers),
    };
    const char *text = argc > 1 ? argv[1] : getenv("MLI_TEST_SEED");

    seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    print_message("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
