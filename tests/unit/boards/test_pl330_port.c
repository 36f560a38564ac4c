/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The driver and the encoder of `mlictl explain` share pl330_program.h. This test checks that both
 * pass a piece to it in the same way, and with the limits in docs/boards.md. test_pl330.c checks
 * pl330_program.h.
 */
#include "tests/unit/target/encoding.h"

#include "target/controller/pl330_program.h"
#include "tests/support/rng.h"

enum { COUNT = 200000 };

/* Makes a random piece that fits in one part of a program. */
static struct pl330_piece random_piece(struct rng *rng)
{
    static const uint32_t most_of[] = {40, 40, 600, PL330_RUN_MAX, PL330_LINEAR_MAX};
    const uint32_t most = most_of[rng_below(rng, COUNT_OF(most_of))];
    struct pl330_piece piece = {
        .copies = rng_chance(rng, 70),
        .run = rng_between(rng, 1, most),
        .rows = 1,
        .src = 0x10000000 + rng_below(rng, 4096),
        .dst = 0x20000000 + rng_below(rng, 4096),
    };

    if (rng_chance(rng, 50))
        piece.src = (piece.src & ~UINT32_C(0xff)) | (piece.dst & 0xff);
    if (most > PL330_RUN_MAX || rng_chance(rng, 40))
        return piece;
    piece.rows = rng_between(rng, 2, rng_chance(rng, 50) ? 10 : PL330_ROWS_MAX);
    piece.dst_step = piece.run + (rng_chance(rng, 20) ? 0 : rng_below(rng, PL330_GAP_MAX + 1));
    piece.src_step = piece.copies ? rng_below(rng, piece.run + PL330_GAP_MAX + 1) : 0;
    if (rng_chance(rng, 50)) {
        piece.dst_step &= ~UINT32_C(127);
        piece.dst_step += piece.dst_step < piece.run ? 16384 : 0;
        piece.src_step &= ~UINT32_C(127);
    }
    return piece;
}

static struct mli_descriptor descriptor_of(const struct pl330_piece *piece)
{
    struct mli_descriptor d = piece->copies ? copy_of(piece->src, piece->dst, piece->run)
                                            : fill_of(piece->dst, piece->run);

    return piece->rows > 1 ? looped(d, piece->rows, piece->src_step, piece->dst_step) : d;
}

static void assert_same(struct rng *rng, const struct target_profile *profile)
{
    const struct pl330_bus bus = {.bytes = profile->dma.bus_bytes,
                                  .burst_bytes = profile->dma.burst_bytes};
    const struct controller_place place = {.profile = profile};
    static struct controller_descriptor out;
    struct pl330_piece piece = random_piece(rng);
    const struct mli_descriptor descriptor = descriptor_of(&piece);
    uint8_t code[PL330_PART_MAX + PL330_END_BYTES];
    uint32_t size = pl330_program_part(&bus, &piece, code).size;

    encode_piece(&controller_pl330, &place, &descriptor, &out);
    size += pl330_program_end(0, code + size);
    assert_int_equal(size, out.size);
    assert_memory_equal(code, out.bytes, size);
    piece.barriers = true;
    assert_true(pl330_program_part(&bus, &piece, code).size <= PL330_PART_MAX);
}

static void test_same_programs(void **state)
{
    struct target_profile profile = {
        .dma = {.controller = PROFILE_PL330, .loops = 1, .fills = true}};
    struct rng rng = rng_for_case(330, 0);

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++) {
        profile.dma.bus_bytes = 4u << rng_below(&rng, 3);
        profile.dma.burst_bytes = profile.dma.bus_bytes << rng_below(&rng, 5);
        assert_same(&rng, &profile);
    }
}

static void test_limits(void **state)
{
    const struct target_profile profile = {.dma = {.controller = PROFILE_PL330, .loops = 1}};
    const struct mli_channel_caps caps = controller_caps(&profile, &controller_pl330, false);

    (void)state;
    assert_int_equal(caps.count_max, 256);
    assert_int_equal(caps.run_max, 16 * 1024);
    assert_int_equal(controller_pl330.gap_max, 4 * 65535);
    assert_int_equal(controller_pl330.linear_run_max, 2 * 1024 * 1024);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_programs),
        cmocka_unit_test(test_limits),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
