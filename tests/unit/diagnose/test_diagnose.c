/* SPDX-License-Identifier: BSD-3-Clause */
/* The diagnosis must name planted mistakes in random tensors, and must not explain noise. */
#include <inttypes.h>
#include <string.h>

#include "tests/support/scale.h"
#include "tests/support/unit.h"
#include "tests/unit/diagnose/planted.h"

enum { ROUNDS = 60, NOISE_ROUNDS = 400 };

static struct tensor got, wanted;
static struct differing differing;
static struct diagnosis diagnosis;

/* Sets one element of `got`. make_each() calls it for each element, with the element's coordinates.
 */
typedef void element_maker(const uint32_t *at, const int64_t *number, struct rng *rng);

static void make_each(element_maker *make, const int64_t *number, struct rng *rng)
{
    for (uint64_t index = 0; index < elements_count(&got.elements); index++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(&got.elements, index, at);
        make(at, number, rng);
    }
}

static void make_exchanged(const uint32_t *at, const int64_t *number, struct rng *rng)
{
    uint32_t from[MLI_MAX_RANK] = {at[0], at[1], at[2], at[3]};

    (void)rng;
    from[number[0]] = at[number[1]];
    from[number[1]] = at[number[0]];
    tensor_set(&got, at, tensor_get(&wanted, from));
}

static const char *plant_permuted(struct rng *rng)
{
    const uint32_t rank = rng_between(rng, 2, 4), a = rng_below(rng, rank);
    const int64_t dims[] = {a, (a + rng_between(rng, 1, rank - 1)) % rank};
    uint32_t shape[MLI_MAX_RANK];

    planted_shape(rng, rank, 4, 8, shape);
    shape[dims[1]] = shape[dims[0]];
    tensor_init(&wanted, planted_dtype(rng), rank, shape);
    tensor_randomise(&wanted, rng);
    tensor_copy(&got, &wanted);
    make_each(make_exchanged, dims, rng);
    return "permuted";
}

/* Makes a random `wanted` of rank 1 to 4 and an equal `got`. */
static uint32_t make_equal(struct rng *rng, uint32_t rank_min, uint32_t low)
{
    const uint32_t rank = rng_between(rng, rank_min, 4);
    uint32_t shape[MLI_MAX_RANK];

    planted_shape(rng, rank, low, rank < 3 ? 20 : 9, shape);
    tensor_init(&wanted, planted_dtype(rng), rank, shape);
    tensor_randomise(&wanted, rng);
    tensor_copy(&got, &wanted);
    return rng_below(rng, rank);
}

static const char *plant_relaid(struct rng *rng)
{
    uint32_t shape[2] = {rng_between(rng, 3, 8)};
    uint64_t index = 0;

    shape[1] = shape[0] + rng_between(rng, 1, 5);
    tensor_init(&wanted, planted_dtype(rng), 2, shape);
    tensor_randomise(&wanted, rng);
    tensor_copy(&got, &wanted);
    for (uint32_t j = 0; j < shape[1]; j++) {
        for (uint32_t i = 0; i < shape[0]; i++, index++) {
            uint32_t at[MLI_MAX_RANK];

            elements_place(&got.elements, index, at);
            tensor_set(&got, at, tensor_get(&wanted, (const uint32_t[]){i, j, 0, 0}));
        }
    }
    return "relaid";
}

static void make_reversed(const uint32_t *at, const int64_t *number, struct rng *rng)
{
    uint32_t from[MLI_MAX_RANK] = {at[0], at[1], at[2], at[3]};
    const uint32_t d = (uint32_t)number[0];

    (void)rng;
    from[d] = wanted.elements.shape[d] - 1 - at[d];
    tensor_set(&got, at, tensor_get(&wanted, from));
}

static const char *plant_reversed(struct rng *rng)
{
    const int64_t d = make_equal(rng, 1, 5);

    make_each(make_reversed, &d, rng);
    return "reversed";
}

enum edge { ZEROS, WRAPPED, REPEATED, RANDOM };

static void make_shifted(const uint32_t *at, const int64_t *number, struct rng *rng)
{
    int64_t from[MLI_MAX_RANK] = {at[0], at[1], at[2], at[3]};
    const int64_t extent = wanted.elements.shape[number[0]];
    int64_t *moved = &from[number[0]];
    bool inside;

    *moved += number[1];
    if (number[2] == WRAPPED)
        *moved = (*moved + extent) % extent;
    if (number[2] == REPEATED)
        *moved = *moved < 0 ? 0 : *moved >= extent ? extent - 1 : *moved;
    uint32_t word = tensor_at(&wanted, from, &inside);
    tensor_set(&got, at, inside || number[2] == ZEROS ? word : (uint32_t)rng_next(rng));
}

static const char *plant_shifted(struct rng *rng)
{
    int64_t number[3] = {make_equal(rng, 1, 9), 0, 0};
    const int64_t shift = rng_between(rng, 1, 3);

    number[1] = rng_chance(rng, 50) ? shift : -shift;
    number[2] = rng_below(rng, 4);
    make_each(make_shifted, number, rng);
    return "shifted";
}

static void make_late(const uint32_t *at, const int64_t *number, struct rng *rng)
{
    int64_t from[MLI_MAX_RANK] = {at[0], at[1], at[2], at[3]};
    bool inside;

    if (at[number[0]] < number[1] || (number[3] && at[number[0]] > number[1]))
        return;
    from[number[0]] += number[2];
    uint32_t word = tensor_at(&wanted, from, &inside);
    tensor_set(&got, at, inside ? word : (uint32_t)rng_next(rng));
}

static const char *plant_repeated(struct rng *rng)
{
    int64_t number[4] = {make_equal(rng, 2, 8)};

    number[1] = rng_between(rng, 2, wanted.elements.shape[number[0]] - 4);
    number[2] = rng_chance(rng, 50) ? 1 : -1;
    number[3] = rng_chance(rng, 50); /* the mistake is in one row only */
    make_each(make_late, number, rng);
    return "repeated";
}

static const char *plant_slid(struct rng *rng)
{
    const uint32_t rank = make_equal(rng, 2, 5), count = (uint32_t)elements_count(&got.elements);
    const uint32_t d = wanted.elements.rank - 2, slide = rng_between(rng, 1, 2);

    (void)rank;
    for (uint32_t index = 0; index < count; index++) {
        uint32_t at[MLI_MAX_RANK], from[MLI_MAX_RANK];

        elements_place(&got.elements, index, at);
        const uint32_t later = index + at[d] * slide;
        elements_place(&wanted.elements, later % count, from);
        tensor_set(&got, at, later < count ? tensor_get(&wanted, from) : (uint32_t)rng_next(rng));
    }
    return "slid";
}

/* Fills a region with one value. */
static const char *plant_stale(struct rng *rng)
{
    const uint32_t d = make_equal(rng, 2, 4), from = rng_below(rng, wanted.elements.shape[d] - 1);
    const uint32_t value = rng_chance(rng, 50) ? 0 : (uint32_t)rng_next(rng);

    for (uint64_t index = 0; index < elements_count(&got.elements); index++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(&got.elements, index, at);
        if (at[d] >= from)
            tensor_set(&got, at, value);
    }
    return "stale";
}

static void make_swapped(const uint32_t *at, const int64_t *number, struct rng *rng)
{
    const uint32_t word = tensor_get(&wanted, at), size = wanted.elements.dtype->size;
    const uint32_t bits = 8 * size;

    (void)rng;
    if (number[0] == 0 && size > 1)
        tensor_set(&got, at, __builtin_bswap32(word) >> (32 - bits));
    else if (number[0] == 1 && wanted.elements.dtype->kind != 'f')
        tensor_set(&got, at, word + (uint32_t)number[1]);
    else
        tensor_set(&got, at, word ^ UINT32_C(1) << (bits - 1));
}

static const char *plant_recoded(struct rng *rng)
{
    make_equal(rng, 2, 5);
    const int64_t number[] = {rng_below(rng, 3), rng_between(rng, 1, 50)};
    make_each(make_swapped, number, rng);
    return "recoded";
}

/* Plants a map that only the hypothesis "fitted" explains: shifted in two dimensions. */
static const char *plant_fitted(struct rng *rng)
{
    make_equal(rng, 2, 8);
    for (uint64_t index = 0; index < elements_count(&got.elements); index++) {
        uint32_t at[MLI_MAX_RANK];
        bool inside;

        elements_place(&got.elements, index, at);
        const int64_t from[MLI_MAX_RANK] = {(int64_t)at[0] - 1, (int64_t)at[1] + 2, at[2], at[3]};
        tensor_set(&got, at, tensor_at(&wanted, from, &inside));
    }
    /* Small types have too few different values for this diagnosis. */
    return wanted.elements.dtype->size > 2 ? "fitted" : NULL;
}

static void print_round(uint64_t seed, uint64_t index)
{
    print_error("round %" PRIu64 " of MLI_TEST_SEED=%" PRIu64 ": rank %" PRIu32 " of %s, %" PRIu64
                " differ: %s (%s) %s\n",
                index, seed, wanted.elements.rank, wanted.elements.dtype->name, differing.count,
                diagnosis.text, diagnosis.kind ? diagnosis.kind : "", diagnosis.places);
}

static void test_planted_mistakes_are_named(void **state)
{
    static const char *(*const plants[])(struct rng *) = {
        plant_permuted, plant_relaid, plant_reversed, plant_shifted, plant_repeated,
        plant_slid,     plant_stale,  plant_recoded,  plant_fitted};
    const uint64_t seed = planted_seed();

    (void)state;
    for (uint64_t index = 0; index < scaled(ROUNDS * COUNT_OF(plants)); index++) {
        struct rng rng = rng_for_case(seed, index);
        const char *kind = plants[index % COUNT_OF(plants)](&rng);

        planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
        /* With fewer differences or elements, a diagnosis is not certain. */
        if (!kind || differing.count < 8 || elements_count(&got.elements) < 12)
            continue;
        if (!diagnosis.kind || strcmp(diagnosis.kind, kind) != 0) {
            print_round(seed, index);
            fail_msg("%s was planted", kind);
        }
        assert_true(diagnosis.explained * 2 >= differing.count);
    }
}

static void test_noise_has_no_diagnosis(void **state)
{
    const uint64_t seed = planted_seed();

    (void)state;
    for (uint64_t index = 0; index < scaled(NOISE_ROUNDS); index++) {
        struct rng rng = rng_for_case(seed, index);
        const uint32_t changed = rng_below(&rng, 40);

        make_equal(&rng, 1, 2);
        if (rng_chance(&rng, 30))
            tensor_randomise(&got, &rng);
        for (uint32_t i = 0; i < changed; i++) {
            uint32_t at[MLI_MAX_RANK];

            elements_place(&got.elements, rng_below(&rng, (uint32_t)elements_count(&got.elements)),
                           at);
            tensor_set(&got, at, (uint32_t)rng_next(&rng));
        }
        planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
        if (diagnosis.kind || *diagnosis.places) {
            print_round(seed, index);
            fail_msg("noise was planted");
        }
    }
}

/*
 * Tensors of zeros and ones have little information: a part of such a tensor may look like many
 * mistakes.
 */
static void test_few_bits_have_no_diagnosis(void **state)
{
    const uint32_t shape[] = {4, 5};

    (void)state;
    tensor_init(&wanted, dtype_from_name("int8"), 2, shape);
    tensor_copy(&got, &wanted);
    for (uint32_t i = 0; i < 4; i++)
        tensor_set(&got, (const uint32_t[]){i, 1, 0, 0}, 1);
    planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
    assert_null(diagnosis.kind);
    assert_string_equal(diagnosis.text, "");
}

static void fill_ramp(struct tensor *tensor, uint32_t rows, uint32_t columns)
{
    tensor_init(tensor, dtype_from_name("int16"), 2, (const uint32_t[]){rows, columns});
    for (uint32_t i = 0; i < rows; i++) {
        for (uint32_t j = 0; j < columns; j++)
            tensor_set(tensor, (const uint32_t[]){i, j, 0, 0}, 10 * i + j);
    }
}

static void test_sentences(void **state)
{
    (void)state;
    fill_ramp(&wanted, 6, 6);
    tensor_copy(&got, &wanted);
    make_each(make_exchanged, (const int64_t[]){0, 1}, NULL);
    planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
    assert_string_equal(diagnosis.text,
                        "every value is expected[j, i] where expected[i, j] was wanted: "
                        "wrong perm_dim?");

    /*
     * A row of values and zeros, whose padding is on the wrong side: before the row instead of
     * after it.
     */
    for (uint32_t j = 0; j < 6; j++)
        tensor_set(&wanted, (const uint32_t[]){5, j, 0, 0}, 0);
    make_each(make_shifted, (const int64_t[]){0, -1, ZEROS}, NULL);
    planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
    assert_string_equal(diagnosis.text,
                        "every value is expected[i - 1, j] where expected[i, j] was wanted, with "
                        "zeros beyond the edge: zeros on the wrong side of dimension 0, padding?");

    fill_ramp(&wanted, 6, 3);
    tensor_copy(&got, &wanted);
    make_each(make_reversed, (const int64_t[]){1}, NULL);
    planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
    assert_string_equal(diagnosis.text,
                        "every value is expected[i, 2 - j] where expected[i, j] was wanted: "
                        "dimension 1 reversed, the order of channels?");
}

/* The wrong columns are those at the edges of tiles; their values do not matter. */
static void test_stripes(void **state)
{
    struct rng rng = rng_for_case(planted_seed(), 0);
    const uint32_t shape[] = {12, 40};

    (void)state;
    tensor_init(&wanted, dtype_from_name("int16"), 2, shape);
    tensor_randomise(&wanted, &rng);
    tensor_copy(&got, &wanted);
    for (uint32_t i = 0; i < shape[0]; i++) {
        for (uint32_t j = 7; j < shape[1]; j += 8)
            tensor_set(&got, (const uint32_t[]){i, j, 0, 0}, (uint32_t)rng_next(&rng));
    }
    planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
    assert_string_equal(diagnosis.places,
                        "they are at index 7, 15, 23, ... of dimension 1, every 8 indices: "
                        "the edges of tiles?");
    assert_string_equal(diagnosis.text, "");
}

/* Two orders of dimensions explain a tensor that is symmetrical in two dimensions. */
static void test_two_orders(void **state)
{
    const uint32_t shape[] = {4, 4, 4};

    (void)state;
    tensor_init(&wanted, dtype_from_name("int16"), 3, shape);
    for (uint64_t index = 0; index < 64; index++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(&wanted.elements, index, at);
        tensor_set(&wanted, at, 100 * at[0] + 7 * (at[1] + at[2]) + at[1] * at[2]);
    }
    tensor_copy(&got, &wanted);
    make_each(make_exchanged, (const int64_t[]){0, 2}, NULL);
    planted_diagnose(&got, &wanted, NULL, &differing, &diagnosis);
    assert_non_null(strstr(diagnosis.text, " or: "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_planted_mistakes_are_named),
        cmocka_unit_test(test_noise_has_no_diagnosis),
        cmocka_unit_test(test_few_bits_have_no_diagnosis),
        cmocka_unit_test(test_sentences),
        cmocka_unit_test(test_stripes),
        cmocka_unit_test(test_two_orders),
    };

    return cmocka_run_group_tests_name("diagnose", tests, NULL, NULL);
}
