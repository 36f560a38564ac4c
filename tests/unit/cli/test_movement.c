/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * mlictl converts a movement (how a node of a model moves data) to moves. Executes the moves of
 * random movements element by element, and compares the result with the definition. Movements have
 * up to 8 dimensions and elements of 1 to 8 bytes.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/element.h"
#include "cli/import/move.h"
#include "tests/support/apply_moves.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { ROUNDS = 4000, EXTENT_MAX = 4, ELEMENTS_MAX = 1 << 14 };

/* Sets random extents of at most ELEMENTS_MAX elements. */
static void random_shape(struct rng *rng, uint32_t rank, uint64_t *shape)
{
    uint64_t elements = 1;

    for (uint32_t d = 0; d < rank; d++) {
        shape[d] = rng_between(rng, 1, EXTENT_MAX);
        if (elements * shape[d] > 512)
            shape[d] = 1;
        elements *= shape[d];
    }
}

static void random_perm(struct rng *rng, uint32_t rank, uint32_t *perm)
{
    for (uint32_t d = 0; d < rank; d++)
        perm[d] = d;
    for (uint32_t d = rank; d-- > 1;) {
        const uint32_t other = rng_below(rng, d + 1), old = perm[d];

        perm[d] = perm[other];
        perm[other] = old;
    }
}

static void random_slice(struct rng *rng, struct movement *movement)
{
    for (uint32_t d = 0; d < movement->rank; d++) {
        const uint64_t extent = movement->sources[0].shape[d];
        const int64_t begin = rng_below(rng, (uint32_t)extent);
        const int64_t step = (int64_t)rng_between(rng, 1, 3) * (rng_chance(rng, 25) ? -1 : 1);
        const int64_t room = step > 0 ? ((int64_t)extent - 1 - begin) / step : begin / -step;

        movement->begin[d] = begin;
        movement->step[d] = step;
        movement->shape[d] = 1 + rng_below(rng, (uint32_t)room + 1);
    }
}

static void random_pad(struct rng *rng, struct movement *movement)
{
    movement->border = (enum movement_border)rng_below(rng, 4);
    for (unsigned i = 0; i < movement->dtype->size && rng_chance(rng, 50); i++)
        movement->fill[i] = (uint8_t)rng_between(rng, 1, 255);
    for (uint32_t d = 0; d < movement->rank; d++) {
        const int64_t extent = (int64_t)movement->sources[0].shape[d];
        int64_t most = extent - (movement->border == MOVEMENT_REFLECT), begin, end;

        if (movement->border == MOVEMENT_FILL)
            most = rng_chance(rng, 2) ? 300 : 2;
        if (!rng_chance(rng, 40))
            most = 0;
        begin = (int64_t)rng_below(rng, (uint32_t)most + 1);
        end = (int64_t)rng_below(rng, (uint32_t)most + 1);
        if (extent > 2 && rng_chance(rng, 20))
            begin = -1;
        if (movement_elements(d, movement->shape) * (uint64_t)(begin + extent + end) *
                movement_elements(movement->rank - d - 1, movement->sources[0].shape + d + 1) >
            ELEMENTS_MAX)
            begin = end = 0;
        movement->begin[d] = begin;
        movement->shape[d] = (uint64_t)(begin + extent + end);
    }
}

static void random_concat(struct rng *rng, struct movement *movement)
{
    movement->axis = rng_below(rng, movement->rank);
    movement->source_count = rng_between(rng, 1, 3);
    for (size_t k = 1; k < movement->source_count; k++) {
        movement->sources[k] = movement->sources[0];
        movement->sources[k].shape[movement->axis] = rng_between(rng, 1, 3);
        movement->shape[movement->axis] += movement->sources[k].shape[movement->axis];
    }
}

static void random_blocks(struct rng *rng, struct movement *movement)
{
    const bool depth = movement->kind == MOVEMENT_DEPTH_TO_SPACE;
    const uint64_t b = rng_between(rng, 1, 3), n = rng_between(rng, 1, 2),
                   c = rng_between(rng, 1, 3), h = rng_between(rng, 1, 3),
                   w = rng_between(rng, 1, 3);

    movement->layout = (enum movement_layout)rng_below(rng, depth ? 3 : 2);
    movement->block = b;
    movement->rank = 4;
    const bool nhwc = movement->layout == MOVEMENT_NHWC;
    const uint64_t deep[] = {n, nhwc ? h : c * b * b, nhwc ? w : h, nhwc ? c * b * b : w};
    const uint64_t wide[] = {n, nhwc ? h * b : c, nhwc ? w * b : h * b, nhwc ? c : w * b};
    memcpy(movement->sources[0].shape, depth ? deep : wide, sizeof(deep));
    memcpy(movement->shape, depth ? wide : deep, sizeof(wide));
}

static void random_movement(struct rng *rng, struct movement *movement,
                            struct movement_source *sources)
{
    static const enum model_dtype_id dtypes[] = {MODEL_INT8, MODEL_FLOAT16, MODEL_INT32,
                                                 MODEL_INT64};
    uint64_t *shape = sources[0].shape;

    memset(sources, 0, 3 * sizeof(*sources));
    *movement = (struct movement){.kind = (enum movement_kind)rng_below(rng, 8),
                                  .rank = rng_between(rng, 0, MOVEMENT_RANK_MAX),
                                  .sources = sources,
                                  .source_count = 1,
                                  .dtype = model_dtype(dtypes[rng_below(rng, 4)])};
    if (movement->kind == MOVEMENT_CONCAT && movement->rank == 0)
        movement->rank = 1;
    random_shape(rng, movement->rank, shape);
    memcpy(movement->shape, shape, sizeof(movement->shape));
    switch (movement->kind) {
    case MOVEMENT_COPY:
        break;
    case MOVEMENT_TRANSPOSE:
        random_perm(rng, movement->rank, movement->perm);
        for (uint32_t d = 0; d < movement->rank; d++)
            movement->shape[d] = shape[movement->perm[d]];
        break;
    case MOVEMENT_SLICE:
        random_slice(rng, movement);
        break;
    case MOVEMENT_CONCAT:
        random_concat(rng, movement);
        break;
    case MOVEMENT_PAD:
        random_pad(rng, movement);
        break;
    case MOVEMENT_TILE:
        for (uint32_t d = 0; d < movement->rank; d++)
            movement->shape[d] *= rng_chance(rng, 25) ? rng_between(rng, 1, 3) : 1;
        break;
    case MOVEMENT_DEPTH_TO_SPACE:
    case MOVEMENT_SPACE_TO_DEPTH:
        random_blocks(rng, movement);
        break;
    }
    movement->result_rank = movement->rank;
    memcpy(movement->result, movement->shape, sizeof(movement->shape));
}

static void check(struct rng *rng, const struct movement *movement)
{
    const uint32_t size = movement->dtype->size;
    const uint64_t bytes = movement_elements(movement->rank, movement->shape) * size;
    uint8_t *expected = malloc(bytes), *got = malloc(bytes), *sources[3];
    const uint8_t *given[3];
    struct moves moves;

    for (size_t k = 0; k < movement->source_count; k++) {
        const uint64_t count = movement_elements(movement->rank, movement->sources[k].shape) * size;

        given[k] = sources[k] = malloc(count);
        rng_fill(rng, sources[k], count);
    }
    assert_int_equal(moves_of(movement, &moves), 0);
    assert_int_equal(moves_fold(&moves), 0);
    assert_true(apply_moves(movement, &moves, given, got));
    element_compute(movement, given, expected);
    assert_memory_equal(got, expected, bytes);
    moves_finish(&moves);
    for (size_t k = 0; k < movement->source_count; k++)
        free(sources[k]);
    free(expected);
    free(got);
}

static void test_random_movements(void **state)
{
    const char *given = getenv("MLI_TEST_SEED");
    const uint64_t seed = given ? strtoull(given, NULL, 10) : 1;
    unsigned kinds[8] = {0};

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    for (uint64_t round = 0; round < ROUNDS; round++) {
        struct rng rng = rng_for_case(seed, round);
        struct movement_source sources[3];
        struct movement movement;

        random_movement(&rng, &movement, sources);
        kinds[movement.kind]++;
        check(&rng, &movement);
    }
    for (int kind = 0; kind < 8; kind++)
        assert_true(kinds[kind] > ROUNDS / 20);
}

/* A movement that needs too many moves is refused before the moves are made. */
static void test_limit(void **state)
{
    struct movement_source source = {.shape = {1, 1, 3}};
    struct movement movement = {.kind = MOVEMENT_TILE,
                                .rank = 3,
                                .sources = &source,
                                .source_count = 1,
                                .shape = {100, 100, 3},
                                .dtype = model_dtype(MODEL_INT8)};
    struct moves moves;

    (void)state;
    assert_int_equal(moves_of(&movement, &moves), -1);
    assert_true(moves.too_many);
    assert_true(moves.count <= MOVES_MAX);
    moves_finish(&moves);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_movements),
                                       cmocka_unit_test(test_limit)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
