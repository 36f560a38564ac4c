/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Differences of jobs: makes random moves by the definition of a move, changes one member of cfg,
 * and checks that the diagnosis asks about this member and names the right places in the source.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/scale.h"
#include "tests/support/unit.h"
#include "tests/unit/diagnose/planted.h"

enum { ROUNDS = 200 };

static struct tensor source, got, wanted;
static struct differing differing;
static struct diagnosis diagnosis;

/* Computes one element of the result by the definition of a move. */
static uint32_t moved(const mli_mov_cfg_t *cfg, const uint32_t *at)
{
    int64_t from[MLI_MAX_RANK] = {0};
    bool inside;

    for (uint32_t i = 0; i < source.elements.rank; i++) {
        const uint32_t d = cfg->perm_dim[i];

        from[d] = (int64_t)cfg->offset[d] + (int64_t)cfg->sub_sample_step[d] * at[i] -
                  cfg->padding_pre[d];
    }
    return tensor_at(&source, from, &inside);
}

static void move(const mli_mov_cfg_t *cfg, struct tensor *to)
{
    for (uint64_t index = 0; index < elements_count(&to->elements); index++) {
        uint32_t at[MLI_MAX_RANK];

        elements_place(&to->elements, index, at);
        tensor_set(to, at, moved(cfg, at));
    }
}

static void set_size(const mli_mov_cfg_t *cfg, uint32_t shape[MLI_MAX_RANK])
{
    for (uint32_t i = 0; i < source.elements.rank; i++) {
        const uint32_t d = cfg->perm_dim[i];
        const uint32_t size =
            source.elements.shape[d] + cfg->padding_pre[d] + cfg->padding_post[d] - cfg->offset[d];

        shape[i] = (size + cfg->sub_sample_step[d] - 1) / cfg->sub_sample_step[d];
    }
}

/* Makes a source with distinct values and a random move of it. */
static void make_move(struct rng *rng, mli_mov_cfg_t *cfg, uint32_t shape[MLI_MAX_RANK])
{
    const uint32_t rank = rng_between(rng, 2, 4);
    uint32_t extents[MLI_MAX_RANK];

    *cfg = (mli_mov_cfg_t){0};
    planted_shape(rng, rank, 5, 8, extents);
    tensor_init(&source, dtype_from_name("int32"), rank, extents);
    tensor_randomise(&source, rng);
    for (uint32_t i = 0; i < rank; i++) {
        cfg->perm_dim[i] = (uint8_t)i;
        cfg->sub_sample_step[i] = 1;
        cfg->padding_pre[i] = (uint8_t)rng_below(rng, 3);
        cfg->offset[i] = rng_below(rng, 2);
    }
    for (uint32_t i = rank; i-- > 1;) {
        const uint32_t other = rng_below(rng, i + 1);
        const uint8_t kept = cfg->perm_dim[i];

        cfg->perm_dim[i] = cfg->perm_dim[other];
        cfg->perm_dim[other] = kept;
    }
    set_size(cfg, shape);
}

/*
 * Changes one member of cfg. Returns words that the text of the diagnosis must have, or null if
 * there is no mistake.
 */
static const char *make_mistake(struct rng *rng, mli_mov_cfg_t *cfg)
{
    const uint32_t rank = source.elements.rank, d = rng_below(rng, rank);
    const uint8_t first = cfg->perm_dim[0];

    switch (rng_below(rng, 4)) {
    case 0:
        cfg->perm_dim[0] = cfg->perm_dim[1];
        cfg->perm_dim[1] = first;
        return "wrong perm_dim?";
    case 1:
        cfg->offset[d] += 1;
        return "wrong offset";
    case 2:
        cfg->sub_sample_step[d] = 2;
        return "wrong sub_sample_step?";
    default:
        if (cfg->padding_pre[d] == cfg->padding_post[d])
            return NULL;
        const uint8_t pre = cfg->padding_pre[d];
        cfg->padding_pre[d] = cfg->padding_post[d];
        cfg->padding_post[d] = pre;
        return "exchanged?";
    }
}

/*
 * The origin of an element has the form "from src[1, 2]...". Checks that this element of the
 * source has the value `element->a`.
 */
static void check_origin(const struct differing_element *element)
{
    uint32_t at[MLI_MAX_RANK] = {0};
    char value[DTYPE_TEXT_MAX];

    if (sscanf(element->origin, "from src[%" SCNu32 ", %" SCNu32 ", %" SCNu32 ", %" SCNu32, &at[0],
               &at[1], &at[2], &at[3]) < (int)source.elements.rank) {
        assert_string_equal(element->a, "0"); /* a zero of the padding */
        return;
    }
    dtype_text(source.elements.dtype, elements_at(&source.elements, at), value);
    assert_string_equal(value, element->a);
    if (strcmp(element->b, "0") != 0) /* several source elements may be zero */
        assert_non_null(strstr(element->origin, ", not "));
}

static void diagnose_round(uint64_t seed, uint64_t index)
{
    struct rng rng = rng_for_case(seed, index);
    mli_mov_cfg_t cfg, other;
    uint32_t shape[MLI_MAX_RANK];

    make_move(&rng, &cfg, shape);
    other = cfg;
    const char *words = make_mistake(&rng, &other);
    tensor_init(&wanted, source.elements.dtype, source.elements.rank, shape);
    tensor_init(&got, source.elements.dtype, source.elements.rank, shape);
    move(&cfg, &wanted);
    move(&other, &got);
    /* Either the job has the mistake, or the job is right and its result is wrong. */
    const struct diagnose_move job = {.source = &source.elements,
                                      .cfg = rng_chance(&rng, 50) ? &other : &cfg,
                                      .result_shape = shape};
    planted_diagnose(&got, &wanted, &job, &differing, &diagnosis);
    if (!words || differing.count < 20)
        return;
    if (!strstr(diagnosis.text, words)) {
        print_error("round %" PRIu64 " of MLI_TEST_SEED=%" PRIu64 ": %s (%s), %s planned\n", index,
                    seed, diagnosis.text, diagnosis.kind ? diagnosis.kind : "",
                    job.cfg == &other ? "as" : "not as");
        fail_msg("\"%s\" is missing", words);
    }
    assert_non_null(strstr(diagnosis.text, "src["));
    assert_int_equal(diagnosis.explained, differing.count);
    for (uint32_t i = 0; i < differing.first_count; i++)
        check_origin(&differing.first[i]);
}

static void test_wrong_members_are_named(void **state)
{
    const uint64_t seed = planted_seed();

    (void)state;
    for (uint64_t index = 0; index < scaled(ROUNDS); index++)
        diagnose_round(seed, index);
}

/* The result still has its former values, or is the unmoved source. */
static void test_unmoved(void **state)
{
    static struct tensor before;
    struct rng rng = rng_for_case(planted_seed(), 0);
    const uint32_t shape[] = {6, 6};
    mli_mov_cfg_t cfg = {.sub_sample_step = {1, 1}, .perm_dim = {1, 0}};
    struct diagnose_move job = {
        .source = &source.elements, .before = &before.elements, .cfg = &cfg, .result_shape = shape};

    (void)state;
    tensor_init(&source, dtype_from_name("int8"), 2, shape);
    tensor_randomise(&source, &rng);
    tensor_init(&before, dtype_from_name("int8"), 2, shape);
    tensor_randomise(&before, &rng);
    tensor_init(&wanted, dtype_from_name("int8"), 2, shape);
    move(&cfg, &wanted);
    tensor_copy(&got, &before);
    planted_diagnose(&got, &wanted, &job, &differing, &diagnosis);
    assert_non_null(
        strstr(diagnosis.text, "value is the value that the output had before the job"));
    /* The first rows have been written, and the other rows have not. */
    for (uint32_t at[MLI_MAX_RANK] = {0}; at[0] < 3; at[0] += at[1] == 5, at[1] = (at[1] + 1) % 6)
        tensor_set(&got, at, tensor_get(&wanted, at));
    planted_diagnose(&got, &wanted, &job, &differing, &diagnosis);
    assert_string_equal(diagnosis.kind, "unmoved");
}

/* The diagnosis ignores a source of another rank or dtype. */
static void test_a_source_that_does_not_fit(void **state)
{
    struct rng rng = rng_for_case(planted_seed(), 0);
    const uint32_t shape[] = {6, 6, 1};
    const mli_mov_cfg_t cfg = {.sub_sample_step = {1, 1, 1}, .perm_dim = {0, 1, 2}};
    const struct diagnose_move job = {
        .source = &source.elements, .cfg = &cfg, .result_shape = shape};

    (void)state;
    tensor_init(&source, dtype_from_name("int8"), 3, shape);
    tensor_init(&wanted, dtype_from_name("int8"), 2, shape);
    tensor_randomise(&wanted, &rng);
    tensor_copy(&got, &wanted);
    tensor_randomise(&got, &rng);
    planted_diagnose(&got, &wanted, &job, &differing, &diagnosis);
    assert_null(diagnosis.kind);
    assert_string_equal(differing.first[0].origin, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_wrong_members_are_named),
        cmocka_unit_test(test_unmoved),
        cmocka_unit_test(test_a_source_that_does_not_fit),
    };

    return cmocka_run_group_tests_name("diagnose move", tests, NULL, NULL);
}
