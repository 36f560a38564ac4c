/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compares the control blocks of the port with those of the target's encoder, byte by byte: they
 * were written independently. Fills are not compared, because the port reads the same zeros
 * repeatedly.
 */
#include "tests/unit/target/encoding.h"

#include <endian.h>

#include "boards/drivers/bcm2835.h"
#include "tests/support/rng.h"

enum { COUNT = 100000, BUS_BYTES = 16, FULL_BURST = 32, LITE_BURST = 16 };

/* Makes a random copy within the limits of a control block. */
static struct mli_descriptor random_copy(struct rng *rng, enum bcm2835_kind kind)
{
    static const uint32_t most_of[] = {40, 600, BCM2835_X_MAX, BCM2835_LINEAR_MAX};
    const uint32_t most = most_of[rng_below(rng, kind == BCM2835_LITE ? 3 : 4)];
    const uint32_t unit = rng_chance(rng, 50) ? 1 : 16;
    const uint32_t run = (rng_between(rng, 1, most) + unit - 1) / unit * unit;
    const uint32_t fits = run > most ? run - unit : run;
    const struct mli_descriptor copy =
        copy_of(0x10000000 + rng_below(rng, 256) * unit, 0x80000000 + rng_below(rng, 256) * unit,
                fits > 0 ? fits : 1);
    const uint32_t length = (uint32_t)copy.box.run;

    if (kind == BCM2835_LITE || most == BCM2835_LINEAR_MAX || rng_chance(rng, 40))
        return copy;
    return looped(copy, rng_between(rng, 2, rng_chance(rng, 50) ? 10 : BCM2835_ROWS_MAX),
                  (length + rng_below(rng, BCM2835_STRIDE_MAX)) / unit * unit,
                  length + (rng_below(rng, BCM2835_STRIDE_MAX)) / unit * unit);
}

/*
 * The port writes words in the processor's byte order, which is little-endian on boards with this
 * controller; the encoder writes bytes.
 */
static void assert_same_words(const struct bcm2835_block *block, const uint8_t *bytes)
{
    uint32_t words[sizeof(*block) / sizeof(uint32_t)];

    memcpy(words, block, sizeof(*block));
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        words[i] = htole32(words[i]);
    assert_memory_equal(words, bytes, sizeof(words));
}

static void assert_same(struct rng *rng, enum bcm2835_kind kind)
{
    const struct target_profile profile = {
        .dma = {.controller = PROFILE_BCM2835,
                .loops = kind == BCM2835_FULL,
                .bus_bytes = BUS_BYTES,
                .burst_bytes = kind == BCM2835_FULL ? FULL_BURST : LITE_BURST}};
    struct controller_place place = {.profile = &profile};
    const struct mli_descriptor copy = random_copy(rng, kind);
    static struct controller_descriptor out;
    struct bcm2835_block block;

    assert_true(bcm2835_block_encode(&block, kind, &copy));
    if (rng_chance(rng, 50)) {
        place.next = 0xc0001000;
        bcm2835_block_link(&block, 0xc0001000);
    }
    encode_piece(&controller_bcm2835, &place, &copy, &out);
    assert_int_equal(out.size, sizeof(block));
    assert_same_words(&block, out.bytes);
}

static void test_same_blocks(void **state)
{
    struct rng rng = rng_for_case(2835, 0);

    (void)state;
    for (uint32_t i = 0; i < COUNT; i++)
        assert_same(&rng, i % 2 ? BCM2835_FULL : BCM2835_LITE);
}

static void test_same_limits(void **state)
{
    (void)state;
    for (uint32_t loops = 0; loops < 2; loops++) {
        const struct target_profile profile = {.dma = {.loops = loops}};
        const struct mli_channel_caps target =
            controller_caps(&profile, &controller_bcm2835, false);
        struct mli_channel_caps port = {.flags = 0};

        bcm2835_block_limits(loops ? BCM2835_FULL : BCM2835_LITE, &port);
        assert_int_equal(port.loops, target.loops);
        assert_int_equal(port.run_max, target.run_max);
        if (loops == 0)
            continue;
        assert_int_equal(port.count_max, target.count_max);
        assert_int_equal(port.gap_max, controller_bcm2835.gap_max);
        assert_int_equal(port.linear_max, controller_bcm2835.linear_run_max);
    }
}

/* The row where a channel has stopped: both TXFR_LEN and DEST_AD must show that a row is complete.
 */
static void test_rows(void **state)
{
    const struct mli_descriptor copy = looped(copy_of(0x1000, 0x20000, 10), 5, 16, 32);
    struct bcm2835_block block;

    (void)state;
    assert_true(bcm2835_block_encode(&block, BCM2835_FULL, &copy));
    for (uint32_t row = 0; row < 5; row++) {
        const uint32_t at_row = block.txfr_len - (row << 16), dest = 0x20000 + row * 32;

        assert_int_equal(bcm2835_block_rows(&block, &copy, at_row, dest), row);
        assert_int_equal(bcm2835_block_rows(&block, &copy, at_row - 3, dest + 3), row);
        if (row > 0)
            assert_int_equal(bcm2835_block_rows(&block, &copy, at_row, dest - 32 + 3), row - 1);
        assert_int_equal(bcm2835_block_rows(&block, &copy, at_row, dest + 32 + 3), row);
        assert_int_equal(bcm2835_block_rows(&block, &copy, at_row, 0x10000), 0);
    }
    assert_int_equal(bcm2835_block_rows(&block, &copy, 0x3fffffff, 0x20000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_blocks),
        cmocka_unit_test(test_same_limits),
        cmocka_unit_test(test_rows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
