/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests random plans and limits: the pieces of the cutter and the entries of the list move each
 * byte of the plan once, are within the limits, and are never fewer than the lower bound. Prints
 * how often their number equals the bound.
 *
 *     test_target_descriptor_list [SEED [CASES]]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/selftest/random_move.h"
#include "mli_explain.h"
#include "target/controller/controller.h"
#include "target/profile/profile_load.h"
#include "tests/support/scale.h"
#include "tests/support/unit.h"
#include "tests/unit/port/plans.h"

static uint64_t seed = 15, cases = 3000;
static struct moved planned, moved;

static uint64_t address_of(const void *pointer)
{
    return (uint64_t)(uintptr_t)pointer;
}

/*
 * Multiplies the steps, the run and the misalignment of a box, if the result still fits in the
 * room.
 */
static void scale(struct mli_copy_box *box, size_t factor, size_t room)
{
    size_t src = box->run, dst = box->run;

    for (size_t i = 0; i < box->loops; i++) {
        src += (box->loop[i].count - 1) * box->loop[i].src_step;
        dst += (box->loop[i].count - 1) * box->loop[i].dst_step;
    }
    if (dst * factor > room || src * factor > PLAN_SRC_BYTES)
        return;
    box->run *= factor;
    for (size_t i = 0; i < box->loops; i++) {
        box->loop[i].src_step *= factor;
        box->loop[i].dst_step *= factor;
    }
}

/* Makes a random plan: many addresses and steps are multiples of small powers of two. */
static void draw_plan(struct mli_plan *plan, struct rng *rng)
{
    const size_t factor = (size_t)1 << rng_below(rng, 4);

    plan_random(plan, rng);
    if (plan->box.src && rng_chance(rng, 70)) {
        plan->box.src = plan_src + (address_of(plan->box.dst) - address_of(plan_src)) % 16;
        scale(&plan->box, factor, 64 * 1024);
        plan->box.run += rng_chance(rng, 50) ? 0 : rng_below(rng, 8) * (plan->box.loops == 0);
    }
    for (size_t i = 0; i < plan->slabs; i++) {
        struct mli_copy_box box = plan_descriptor(plan, (uint32_t)i + 1);

        scale(&box, factor, 64 * 1024);
        plan->slab[i].run = box.run;
        for (size_t k = 0; k < box.loops; k++)
            plan->slab[i].loop[k].step = box.loop[k].dst_step;
    }
}

static uint64_t or_unlimited(struct rng *rng, uint64_t limit)
{
    return rng_chance(rng, 40) ? UINT64_MAX : limit;
}

static uint64_t rows_of(const struct mli_copy_box *box)
{
    return plan_rows(box);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static void expect_within(const struct cut_limits *limits, const struct mli_descriptor *piece)
{
    const struct mli_copy_box *box = &piece->box;

    assert_true(box->loops <= limits->loops);
    assert_true(box->run <= (box->loops > 0 ? limits->run_max : limits->linear_run_max));
    assert_true(piece->bytes == box->run * rows_of(box));
    assert_true(piece->bytes <= limits->bytes_max);
    assert_true(box->run % limits->granularity == 0);
    assert_true(address_of(box->src) % limits->alignment == 0);
    assert_true(address_of(box->dst) % limits->alignment == 0);
    for (size_t i = 0; i < box->loops; i++) {
        const struct mli_copy_loop *loop = &box->loop[i];

        assert_true(loop->count >= 2 && loop->count <= limits->count_max);
        assert_true(loop->src_step <= limits->step_max && loop->dst_step <= limits->step_max);
        assert_true(distance(loop->src_step, box->run) <= limits->gap_max);
        assert_true(distance(loop->dst_step, box->run) <= limits->gap_max);
        assert_true((loop->src_step | loop->dst_step) % limits->granularity == 0);
    }
}

/* Checks that the piece begins in row `piece->row` of the plan. */
static void expect_row(const struct mli_copy_box *whole, const struct mli_descriptor *piece)
{
    const uint8_t *src;
    uint8_t *dst;

    plan_row(whole, piece->row, &src, &dst);
    assert_true(piece->box.dst >= dst && piece->box.dst < dst + whole->run);
    if (src)
        assert_ptr_equal(piece->box.src - src, piece->box.dst - dst);
}

static void draw_limits(struct cut_limits *limits, struct rng *rng)
{
    limits->loops = rng_below(rng, MLI_MAX_RANK + 1);
    limits->count_max = or_unlimited(rng, rng_between(rng, 2, 40));
    limits->run_max = or_unlimited(rng, rng_between(rng, 16, 300));
    limits->linear_run_max = rng_chance(rng, 70) || limits->run_max == UINT64_MAX
                                 ? limits->run_max
                                 : rng_between(rng, 300, 5000);
    limits->step_max = rng_chance(rng, 70) ? UINT64_MAX : rng_between(rng, 1, 3000);
    limits->gap_max = rng_chance(rng, 70) ? UINT64_MAX : rng_between(rng, 1, 3000);
    limits->bytes_max = rng_chance(rng, 70) ? UINT64_MAX : rng_between(rng, 16, 5000);
    limits->granularity = limits->alignment = 1;
}

struct tally {
    uint64_t cuts, equal, pieces, least;
};

static void add_tally(struct tally *tally, uint64_t pieces, uint64_t least)
{
    tally->cuts++;
    tally->equal += pieces == least;
    tally->pieces += pieces;
    tally->least += least;
}

static void print_tally(const char *what, const struct tally *tally)
{
    print_message("%s: %" PRIu64 " of %" PRIu64 " at the lower bound; %" PRIu64
                  " pieces, bounds %" PRIu64 " (seed %" PRIu64 ")\n",
                  what, tally->equal, tally->cuts, tally->pieces, tally->least, seed);
}

static void cut_and_compare(const struct mli_plan *plan, const struct cut_limits *limits,
                            struct tally *tally)
{
    for (uint32_t index = 0; index <= plan->slabs; index++) {
        struct mli_descriptor whole = {.box = plan_descriptor(plan, index), .index = index}, piece;
        struct box_cutter cutter;
        uint64_t pieces = 0;

        if (whole.box.run == 0)
            continue;
        cutter_init(&cutter, &whole, index == 0, limits);
        while (cutter_next(&cutter, &piece)) {
            pieces++;
            expect_within(limits, &piece);
            expect_row(&whole.box, &piece);
            assert_int_equal(piece.index, index);
            moved_add_box(&moved, &piece.box);
        }
        assert_false(cutter_next(&cutter, &piece));
        assert_int_equal(pieces, cutter_count(&cutter));
        assert_true(cutter_least(&cutter) <= pieces);
        add_tally(tally, pieces, cutter_least(&cutter));
    }
}

static size_t as_cap(uint64_t limit)
{
    return limit == UINT64_MAX ? 0 : (size_t)limit;
}

/* Checks that the cutter makes at most as many pieces as libmli's legaliser. */
static void expect_no_worse(const struct mli_plan *plan, const struct cut_limits *limits,
                            uint64_t pieces)
{
    const struct mli_channel_caps caps = {.loops = limits->loops,
                                          .count_max = as_cap(limits->count_max),
                                          .run_max = as_cap(limits->run_max),
                                          .step_max = as_cap(limits->step_max),
                                          .bytes_max = as_cap(limits->bytes_max)};

    if (limits->gap_max == UINT64_MAX)
        assert_true(pieces <= mli_legalise_count(plan, &caps));
}

/* Pieces move what the plan moves, for any limits. */
static void test_cutter(void **state)
{
    struct tally tally = {0};

    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct rng rng = rng_for_case(seed, i);
        struct cut_limits limits;
        const uint64_t before = tally.pieces;
        struct mli_plan plan;

        plan_random(&plan, &rng);
        draw_limits(&limits, &rng);
        moved_clear(&planned);
        moved_clear(&moved);
        moved_add_plan(&planned, &plan);
        cut_and_compare(&plan, &limits, &tally);
        expect_no_worse(&plan, &limits, tally.pieces - before);
        if (moved_same(&planned, &moved))
            continue;
        plan_print(&plan);
        fail_msg("case %" PRIu64 ", seed %" PRIu64, i, seed);
    }
    print_tally("all limits", &tally);
    assert_true(tally.equal * 100 >= tally.cuts * 75);
}

/* If only the number of loops is limited, the number of pieces equals the lower bound. */
static void test_least_is_reached(void **state)
{
    struct tally tally = {0};

    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct rng rng = rng_for_case(seed + 1, i);
        struct cut_limits limits = {.loops = rng_below(&rng, MLI_MAX_RANK + 1),
                                    .count_max = UINT64_MAX,
                                    .run_max = UINT64_MAX,
                                    .linear_run_max = UINT64_MAX,
                                    .step_max = UINT64_MAX,
                                    .gap_max = UINT64_MAX,
                                    .bytes_max = UINT64_MAX,
                                    .granularity = 1,
                                    .alignment = 1};
        struct mli_plan plan;

        plan_random(&plan, &rng);
        cut_and_compare(&plan, &limits, &tally);
        moved_clear(&moved);
    }
    print_tally("limited loops", &tally);
    assert_int_equal(tally.equal, tally.cuts);
}

/* Returns a random profile without a known controller; runs can be cut at aligned addresses. */
static struct target_profile draw_profile(struct rng *rng)
{
    struct target_profile profile = {.dma = {.channels = 1}};
    struct profile_dma *dma = &profile.dma;

    dma->loops = rng_below(rng, MLI_MAX_RANK + 1);
    dma->count_max = rng_chance(rng, 40) ? 0 : rng_between(rng, 2, 300);
    dma->run_max = rng_chance(rng, 40) ? 0 : rng_between(rng, 1, 300);
    dma->step_max = rng_chance(rng, 70) ? 0 : rng_between(rng, 1, 3000);
    dma->bytes_max = rng_chance(rng, 70) ? 0 : rng_between(rng, 1, 5000);
    dma->granularity = rng_chance(rng, 50) ? 1 : 1U << rng_below(rng, 4);
    dma->alignment = rng_chance(rng, 50) ? dma->granularity : 1U << rng_below(rng, 4);
    dma->address_bits = 64;
    dma->fills = rng_chance(rng, 50);
    if (dma->run_max && dma->run_max < dma->granularity)
        dma->run_max = dma->granularity;
    if (dma->bytes_max && dma->bytes_max < dma->granularity)
        dma->bytes_max = dma->granularity;
    return profile;
}

static struct cut_limits limits_of(const struct profile_dma *dma, bool fill)
{
    struct cut_limits limits = {.loops = dma->loops,
                                .count_max = dma->count_max ? dma->count_max : UINT64_MAX,
                                .run_max = dma->run_max ? dma->run_max : UINT64_MAX,
                                .step_max = dma->step_max ? dma->step_max : UINT64_MAX,
                                .gap_max = UINT64_MAX,
                                .bytes_max = dma->bytes_max ? dma->bytes_max : UINT64_MAX,
                                .granularity = dma->granularity,
                                .alignment = dma->alignment};

    if (fill && !dma->fills && limits.run_max > CONTROLLER_ZEROS_SIZE)
        limits.run_max = CONTROLLER_ZEROS_SIZE;
    limits.linear_run_max = limits.run_max;
    return limits;
}

/* Makes all entries, and checks their order, and their numbers, which list_count() must return. */
static struct list_count run_list(const struct target_profile *profile, const struct mli_plan *plan)
{
    const uint64_t zeros = UINT64_C(1) << 60;
    struct list_count count = {0};
    struct descriptor_list list;
    struct list_entry entry;

    list_init(&list, profile, plan, 0x1000, zeros);
    while (list_next(&list, &entry)) {
        const struct cut_limits limits = limits_of(&profile->dma, controller_fills(&entry.piece));

        assert_int_equal(entry.piece.bytes, entry.piece.box.run * rows_of(&entry.piece.box));
        moved_add_box(&moved, &entry.piece.box);
        if (entry.mover == MOVER_CORE) {
            assert_non_null(entry.why);
            count.core++;
            count.core_bytes += entry.piece.bytes;
        } else {
            assert_null(entry.why);
            expect_within(&limits, &entry.piece);
            count.descriptors++;
            count.fills += profile->dma.fills && controller_fills(&entry.piece);
        }
    }
    assert_false(list_next(&list, &entry));
    return count;
}

static void expect_counted(const struct target_profile *profile, const struct mli_plan *plan,
                           const struct list_count *made, struct tally *tally)
{
    const struct list_count counted = list_count(profile, plan);

    assert_int_equal(counted.descriptors, made->descriptors);
    assert_int_equal(counted.fills, made->fills);
    assert_int_equal(counted.core, made->core);
    assert_int_equal(counted.core_bytes, made->core_bytes);
    assert_true(counted.least <= counted.descriptors);
    add_tally(tally, counted.descriptors, counted.least);
}

/* The entries of a list move all bytes of the plan, even if the core moves the ends of rows. */
static void test_list(void **state)
{
    struct tally tally = {0};
    uint64_t peeled = 0;

    (void)state;
    for (uint64_t i = 0; i < cases; i++) {
        struct rng rng = rng_for_case(seed + 2, i);
        struct target_profile profile = draw_profile(&rng);
        struct list_count made;
        struct mli_plan plan;

        draw_plan(&plan, &rng);
        moved_clear(&planned);
        moved_clear(&moved);
        moved_add_plan(&planned, &plan);
        made = run_list(&profile, &plan);
        expect_counted(&profile, &plan, &made, &tally);
        peeled += made.core > 0 && made.descriptors > 0;
        if (moved_same(&planned, &moved))
            continue;
        plan_print(&plan);
        fail_msg("case %" PRIu64 ", seed %" PRIu64, i, seed);
    }
    print_tally("lists", &tally);
    assert_true(peeled > 0);
}

/* Explains a random move at addresses of the board. */
static bool draw_move(mli_explanation *explained, uint64_t index)
{
    const struct move_rules rules = {
        .max_bytes = 60000, .combined_percent = 50, .large_percent = 20, .short_percent = 60};
    struct draw draw = draw_init(seed, index);
    struct random_move move;

    memset(&move, 0, sizeof move);
    (void)mli_mov_cfg_for_copy(&move.cfg);
    random_move_draw(&move, &draw, &rules);
    if (move.src.el_type == MLI_EL_SA_8 || move.src.el_type == MLI_EL_SA_32) {
        move.src.el_params.sa.dim = -1;
        move.src.el_params.sa.scale.mem.i16 = 1;
    }
    move.src.data.mem.pi8 = (int8_t *)plan_src + draw_below(&draw, 8);
    move.dst.data.mem.pi8 = (int8_t *)plan_dst + draw_below(&draw, 8);
    move.src.data.capacity = move.dst.data.capacity = 1 << 19;
    return mli_mov_explain(&move.src, &move.cfg, &move.dst, explained) == MLI_STATUS_OK;
}

/* Prints how often the number of descriptors of random moves equals the lower bound. */
static void expect_profile(const struct profile_text *built_in)
{
    static struct target_profile profile;
    static mli_explanation explained;
    struct tally tally = {0};
    struct fault fault;
    uint64_t drawn = 0;

    assert_int_equal(profile_read(&profile, built_in->text, built_in->length, &fault), 0);
    /* the addresses in the plan are those of this program, not of the board */
    profile.memory_count = 0;
    profile.dma.address_bits = 64;
    for (uint64_t i = 0; i < cases; i++) {
        struct list_count count;

        if (!draw_move(&explained, i))
            continue;
        drawn++;
        count = list_count(&profile, &explained.plan);
        assert_true(count.least <= count.descriptors);
        add_tally(&tally, count.descriptors, count.least);
    }
    assert_true(drawn * 10 > cases * 9);
    print_tally(built_in->name, &tally);
}

static void test_profiles(void **state)
{
    (void)state;
    for (size_t i = 0; profile_built_in[i].name; i++)
        expect_profile(&profile_built_in[i]);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cutter),
        cmocka_unit_test(test_least_is_reached),
        cmocka_unit_test(test_list),
        cmocka_unit_test(test_profiles),
    };

    cases = scaled(cases);
    if (argc > 1)
        seed = strtoull(argv[1], NULL, 0);
    if (argc > 2)
        cases = strtoull(argv[2], NULL, 0);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
