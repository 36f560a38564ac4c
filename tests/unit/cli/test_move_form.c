/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Converts random moves to maps and the maps to moves: the second move must have the map of the
 * first. Also checks that the inputs of the optimise proof identify each byte of the source.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/optimise/coded_input.h"
#include "cli/optimise/move_form.h"
#include "tests/support/rng.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"

enum { ROUNDS = 30000, SRC = 4096, DST = 1 << 20 };

static uint64_t seed;

/* A random tensor without data: packed, with gaps, or in Fortran order. */
static mli_tensor draw_tensor(struct rng *rng)
{
    mli_tensor tensor = {.rank = rng_between(rng, 1, 4), .el_type = MLI_EL_FX_16};
    const bool fortran = rng_chance(rng, 20);
    int32_t stride = 1;

    for (uint32_t i = 0; i < tensor.rank; i++) {
        const uint32_t d = fortran ? i : tensor.rank - 1 - i;

        tensor.shape[d] = rng_between(rng, 1, 7);
        tensor.mem_stride[d] = stride;
        stride *= (int32_t)tensor.shape[d];
        if (rng_chance(rng, 10))
            stride += (int32_t)rng_below(rng, 3);
    }
    tensor.data.mem.pi8 = (int8_t *)(uintptr_t)SRC;
    tensor.data.capacity = 1 << 16;
    return tensor;
}

static mli_mov_cfg_t draw_cfg(struct rng *rng, const mli_tensor *src)
{
    mli_mov_cfg_t cfg;

    mli_mov_cfg_for_copy(&cfg);
    for (uint32_t d = 0; d < src->rank; d++) {
        const uint32_t k = rng_below(rng, d + 1);

        cfg.padding_pre[d] = (uint8_t)(rng_chance(rng, 30) ? rng_below(rng, 9) : 0);
        cfg.padding_post[d] = (uint8_t)(rng_chance(rng, 30) ? rng_below(rng, 9) : 0);
        const uint32_t padded = src->shape[d] + cfg.padding_pre[d] + cfg.padding_post[d];
        cfg.offset[d] = rng_chance(rng, 40) ? rng_below(rng, padded) : 0;
        cfg.size[d] = rng_chance(rng, 40) ? rng_between(rng, 1, padded - cfg.offset[d]) : 0;
        cfg.sub_sample_step[d] = rng_chance(rng, 30) ? rng_between(rng, 1, 4) : 1;
        cfg.perm_dim[d] = cfg.perm_dim[k];
        cfg.perm_dim[k] = (uint8_t)d;
    }
    return cfg;
}

static bool explain(const mli_tensor *src, const mli_mov_cfg_t *cfg, struct index_map *map)
{
    mli_tensor dst = {.data = {.mem.pi8 = (int8_t *)(uintptr_t)DST, .capacity = 1u << 30}};
    mli_explanation move;

    if (mli_mov_explain(src, cfg, &dst, &move) != MLI_STATUS_OK)
        return false;
    *map = index_map_of(&move, (uintptr_t)src->data.mem.pi8, DST);
    return true;
}

static void assert_same(const struct index_map *a, const struct index_map *b)
{
    assert_int_equal(a->rank, b->rank);
    assert_int_equal(a->dst, b->dst);
    assert_int_equal(a->zeros, b->zeros);
    assert_int_equal(a->src, b->src);
    for (uint32_t d = 0; d < a->rank; d++) {
        const struct index_axis *x = &a->axis[d], *y = &b->axis[d];

        assert_int_equal(x->count, y->count);
        assert_int_equal(x->lo, y->lo);
        assert_int_equal(x->hi, y->hi);
        assert_int_equal(x->dst_step, y->dst_step);
        if (x->hi - x->lo > 1)
            assert_int_equal(x->src_step, y->src_step);
    }
}

static struct move_source source_of(const mli_tensor *tensor)
{
    struct move_source source = {.address = SRC, .rank = tensor->rank};

    for (uint32_t d = 0; d < tensor->rank; d++) {
        source.shape[d] = tensor->shape[d];
        source.stride[d] = 2 * (uint64_t)tensor->mem_stride[d];
    }
    return source;
}

static mli_tensor tensor_of(const struct move_source *source)
{
    mli_tensor tensor = {.rank = source->rank, .el_type = MLI_EL_FX_16};

    tensor.data.mem.pi8 = (int8_t *)(uintptr_t)source->address;
    tensor.data.capacity = 1 << 16;
    for (uint32_t d = 0; d < source->rank; d++) {
        tensor.shape[d] = source->shape[d];
        tensor.mem_stride[d] = (int32_t)(source->stride[d] / 2);
    }
    return tensor;
}

static void finds_the_move_of_a_map(void **state)
{
    uint64_t found = 0;

    (void)state;
    for (uint64_t i = 0; i < scaled(ROUNDS); i++) {
        struct rng rng = rng_for_case(seed, i);
        const mli_tensor src = draw_tensor(&rng);
        const mli_mov_cfg_t cfg = draw_cfg(&rng, &src);
        const struct move_source source = source_of(&src);
        struct job_common common;
        struct move_source free_source;
        struct index_map map, again;

        if (!explain(&src, &cfg, &map) || map.zeros)
            continue;
        found++;
        job_common_init(&common);
        assert_int_equal(move_form_of(&map, &source, &common), MOVE_FORM_FOUND);
        assert_true(explain(&src, &common.cfg, &again));
        assert_same(&map, &again);
        job_common_init(&common);
        assert_int_equal(move_form_free(&map, &free_source, &common), MOVE_FORM_FOUND);
        const mli_tensor tensor = tensor_of(&free_source);
        assert_true(explain(&tensor, &common.cfg, &again));
        assert_same(&map, &again);
    }
    assert_true(found * 2 > scaled(ROUNDS));
}

/* A job leaves out the arrays of cfg that have no effect. */
static void leaves_out_neutral_arrays(void **state)
{
    static const struct cfg_lengths none = {0};
    const struct move_source source = {
        .address = SRC, .rank = 2, .shape = {3, 4}, .stride = {8, 2}};
    struct index_map map = {
        .rank = 2, .elem = 2, .src = SRC, .axis = {{3, 0, 3, 8, 8}, {4, 0, 4, 2, 2}}};
    struct job_common common;

    (void)state;
    job_common_init(&common);
    assert_int_equal(move_form_of(&map, &source, &common), MOVE_FORM_FOUND);
    assert_memory_equal(&common.lengths, &none, sizeof none);
    map.axis[0] = (struct index_axis){2, 0, 2, 16, 8}; /* every second row, to the end */
    assert_int_equal(move_form_of(&map, &source, &common), MOVE_FORM_FOUND);
    assert_int_equal(common.lengths.sub_sample_step, 2);
    assert_int_equal(common.lengths.size, 0);
}

static void names_the_reason(void **state)
{
    const struct move_source source = {.address = SRC, .rank = 1, .shape = {10}, .stride = {2}};
    struct index_map map = {.rank = 1, .elem = 2, .src = SRC + 2, .axis = {{5, 1, 5, 2, 2}}};
    struct job_common common;

    (void)state;
    job_common_init(&common);
    assert_int_equal(move_form_of(&map, &source, &common), MOVE_FORM_BORDER);
    map.src = SRC + 1;
    assert_int_equal(move_form_of(&map, &source, &common), MOVE_FORM_STEPS);
    map.src = SRC;
    map.axis[0] = (struct index_axis){300, 290, 300, 2, 2};
    assert_int_equal(move_form_of(&map, &source, &common), MOVE_FORM_PADDING);
    map.rank = 2;
    assert_int_equal(move_form_of(&map, &source, &common), MOVE_FORM_RANK);
}

static void identifies_bytes(void **state)
{
    enum { COUNT = 70000, PASSES = 3 };
    static uint8_t bytes[PASSES][COUNT], parts[COUNT];

    (void)state;
    assert_int_equal(coded_passes(0), 1);
    assert_int_equal(coded_passes(255), 1);
    assert_int_equal(coded_passes(256), 2);
    assert_int_equal(coded_passes(255 * 255), 2);
    assert_int_equal(coded_passes(COUNT), PASSES);
    for (unsigned pass = 0; pass < PASSES; pass++) {
        coded_bytes(bytes[pass], COUNT, 0, pass);
        for (size_t at = 0; at < COUNT; at += 1000) /* in pieces */
            coded_bytes(parts + at, 1000, at, pass);
        assert_memory_equal(parts, bytes[pass], COUNT);
    }
    for (size_t i = 0; i < COUNT; i++) {
        assert_true(bytes[0][i] > 0 && bytes[1][i] > 0 && bytes[2][i] > 0);
        assert_int_equal(
            (bytes[0][i] - 1u) + 255u * (bytes[1][i] - 1u) + 255u * 255u * (bytes[2][i] - 1u), i);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_the_move_of_a_map),
        cmocka_unit_test(leaves_out_neutral_arrays),
        cmocka_unit_test(names_the_reason),
        cmocka_unit_test(identifies_bytes),
    };
    const char *text = argc > 1 ? argv[1] : getenv("MLI_TEST_SEED");

    seed = text ? strtoull(text, NULL, 0) : (uint64_t)time(NULL);
    print_message("seed %" PRIu64 "\n", seed);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
