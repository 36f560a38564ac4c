/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs of the PL330, assembled by hand. */
#include "tests/unit/target/encoding.h"

/*
 * Bits of the control register for both sides: incrementing addresses, log2(size) << 1 | (beats -
 * 1) << 4.
 */
#define CONTROL(size, beats)                                                                       \
    (1U | (size) << 1 | ((beats)-1U) << 4 | 1U << 14 | (size) << 15 | ((beats)-1U) << 18)
#define LE32(value)                                                                                \
    (uint8_t)(value), (uint8_t)((value) >> 8), (uint8_t)((value) >> 16), (uint8_t)((value) >> 24)
#define MOV_SAR(value)       0xbc, 0x00, LE32(value)
#define MOV_CCR(size, beats) 0xbc, 0x01, LE32(CONTROL(size, beats))
#define MOV_DAR(value)       0xbc, 0x02, LE32(value)
#define MOVE_BURST           0x04, 0x08             /* DMALD, DMAST */
#define END                  0x13, 0x34, 0x00, 0x00 /* DMAWMB, DMASEV 0, DMAEND */
#define NOPS                 0x18, 0x18, 0x18, 0x18

static struct target_profile profile = {.dma = {.controller = PROFILE_PL330,
                                                .loops = 1,
                                                .bus_bytes = 8,
                                                .burst_bytes = 128,
                                                .fills = true}};
static const struct controller_place last = {.profile = &profile};
static const struct controller_place first = {.profile = &profile, .address = 64, .next = 100};
static struct controller_descriptor out;

static void encode(const struct mli_descriptor piece)
{
    encode_piece(&controller_pl330, &last, &piece, &out);
}

/* This test uses no macros: it has the bytes of the whole program. */
static void test_one_burst(void **state)
{
    (void)state;
    encode(copy_of(0x00100000, 0x00200080, 128));
    assert_bytes(&out, 0xbc, 0x00, 0x00, 0x00, 0x10, 0x00, /* DMAMOV SAR, 0x100000 */
                 0xbc, 0x02, 0x80, 0x00, 0x20, 0x00,       /* DMAMOV DAR, 0x200080 */
                 0xbc, 0x01, 0xf7, 0xc0, 0x3d, 0x00,       /* DMAMOV CCR, 0x3dc0f7 */
                 0x04, 0x08,                               /* DMALD, DMAST */
                 0x13, 0x34, 0x00, 0x00);                  /* DMAWMB, DMASEV 0, DMAEND */
    assert_int_equal(field_of(&out, "DMAMOV SAR"), 0x100000);
    assert_int_equal(field_of(&out, "DMAMOV DAR"), 0x200080);
    assert_int_equal(field_of(&out, "DMAMOV CCR"), 0x3dc0f7);
    assert_int_equal(field_of(&out, "DMALD, DMAST"), 1);
}

/* Bursts of 32 bytes: the steps are multiples of 32 but not of 64. */
static void test_rows(void **state)
{
    const struct mli_descriptor piece = looped(copy_of(0x1000, 0x2000, 32), 3, 64, 32);

    (void)state;
    encode_piece(&controller_pl330, &first, &piece, &out);
    assert_bytes(&out, MOV_SAR(0x1000), MOV_DAR(0x2000), MOV_CCR(3, 4), 0x22, 0x02, MOVE_BURST,
                 0x54, 0x20, 0x00, 0x3c, 0x05, NOPS);
    assert_int_equal(word_of(&out, 0) >> 16 | word_of(&out, 1) << 16, 0x1000);
    assert_int_equal(CONTROL(3, 4), 0xdc037);
    assert_int_equal(field_of(&out, "DMALP LC1"), 3);
    assert_int_equal(field_of(&out, "DMAADDH SAR"), 32);
    assert_int_equal(field_of(&out, "DMALPEND LC1"), 5);
    assert_int_equal(field_of(&out, "DMANOP"), 4);
}

/* 5 bytes up to the next beat, 3 beats up to the next multiple of 32, and 1 byte. */
static void test_unaligned_ends(void **state)
{
    (void)state;
    encode(copy_of(0x1003, 0x2003, 30));
    assert_bytes(&out, MOV_SAR(0x1003), MOV_DAR(0x2003), MOV_CCR(0, 1), 0x20, 0x04, MOVE_BURST,
                 0x38, 0x02, MOV_CCR(3, 3), MOVE_BURST, MOV_CCR(0, 1), MOVE_BURST, END);
}

/* The addresses of source and destination differ by 4, so no burst is wider than 4 bytes. */
static void test_sides_aligned_differently(void **state)
{
    (void)state;
    encode(copy_of(0x1000, 0x2004, 12));
    assert_bytes(&out, MOV_SAR(0x1000), MOV_DAR(0x2004), MOV_CCR(2, 1), MOVE_BURST, MOVE_BURST,
                 MOVE_BURST, END);
    encode(copy_of(0x1000, 0x2001, 4));
    assert_bytes(&out, MOV_SAR(0x1000), MOV_DAR(0x2001), MOV_CCR(0, 1), 0x20, 0x03, MOVE_BURST,
                 0x38, 0x02, END);
}

static void test_zeros(void **state)
{
    (void)state;
    encode(fill_of(0x4000, 256));
    assert_bytes(&out, MOV_DAR(0x4000), MOV_CCR(3, 16), 0x0c, 0x0c, END);
    assert_int_equal(field_of(&out, "DMASTZ"), 2);
    encode(looped(fill_of(0x4000, 16), 256, 0, 48));
    assert_bytes(&out, MOV_DAR(0x4000), MOV_CCR(3, 2), 0x22, 0xff, 0x0c, 0x56, 0x20, 0x00, 0x3c,
                 0x04, END);
}

/* The program does not depend on the profile's "fills", nor on the address of zeros. */
static void test_zeros_without_fills(void **state)
{
    struct target_profile copying = profile;
    const struct controller_place place = {.profile = &copying, .zeros = 0x8001};
    const struct mli_descriptor piece = looped(fill_of(0x4000, 8), 2, 0, 8);

    (void)state;
    copying.dma.fills = false;
    encode_piece(&controller_pl330, &place, &piece, &out);
    assert_bytes(&out, MOV_DAR(0x4000), MOV_CCR(3, 1), 0x22, 0x01, 0x0c, 0x3c, 0x01, END);
}

/* Rows overlap in the source, so the address goes back by 16: DMAADNH 0xfff0. */
static void test_negative_gap(void **state)
{
    (void)state;
    encode(looped(copy_of(0x1000, 0x2000, 32), 2, 16, 32));
    assert_bytes(&out, MOV_SAR(0x1000), MOV_DAR(0x2000), MOV_CCR(3, 2), 0x22, 0x01, MOVE_BURST,
                 MOVE_BURST, 0x5c, 0xf0, 0xff, 0x3c, 0x07, END);
    assert_int_equal(field_of(&out, "DMAADNH SAR"), 0xfff0);
}

static void test_largest_gap(void **state)
{
    (void)state;
    assert_int_equal(controller_pl330.gap_max, 262140);
    encode(looped(copy_of(0x1000, 0x900000, 4), 2, 262144, 4 + 65536));
    assert_bytes(&out, MOV_SAR(0x1000), MOV_DAR(0x900000), MOV_CCR(2, 1), 0x22, 0x01, MOVE_BURST,
                 0x54, 0xff, 0xff, 0x54, 0xff, 0xff, 0x54, 0xff, 0xff, 0x54, 0xff, 0xff, 0x56, 0xff,
                 0xff, 0x56, 0x01, 0x00, 0x3c, 0x14, END);
}

/* 300 bursts are 150 iterations of two bursts; with 301 bursts, one follows the loop. */
static void test_more_bursts_than_iterations(void **state)
{
    (void)state;
    encode(copy_of(0x10000, 0x20000, 300 * 128));
    assert_bytes(&out, MOV_SAR(0x10000), MOV_DAR(0x20000), MOV_CCR(3, 16), 0x20, 0x95, MOVE_BURST,
                 MOVE_BURST, 0x38, 0x04, END);
    encode(looped(copy_of(0x10001, 0x20000, 301), 2, 301, 301));
    assert_bytes(&out, MOV_SAR(0x10001), MOV_DAR(0x20000), MOV_CCR(0, 1), 0x22, 0x01, 0x20, 0x95,
                 MOVE_BURST, MOVE_BURST, 0x38, 0x04, MOVE_BURST, 0x3c, 0x0a, END);
}

/* 65536 + 600 bursts without rows: both counters repeat 129 * 512 bursts; 88 bursts follow. */
static void test_both_counters_repeat_bursts(void **state)
{
    (void)state;
    encode(copy_of(0x1000001, 0x2000000, 65536 + 600));
    assert_bytes(&out, MOV_SAR(0x1000001), MOV_DAR(0x2000000), MOV_CCR(0, 1), /* single bytes */
                 0x22, 0x80, 0x20, 0xff, MOVE_BURST, MOVE_BURST, 0x38, 0x04, 0x3c, 0x08, /**/
                 0x20, 0x57, MOVE_BURST, 0x38, 0x02, END);
}

static void test_limits(void **state)
{
    const struct target_profile wide = {.dma = {.loops = 4}}, narrow = {.dma = {.run_max = 64}};
    const struct mli_channel_caps caps = controller_caps(&wide, &controller_pl330, false);
    const struct mli_channel_caps tight = controller_caps(&narrow, &controller_pl330, true);

    (void)state;
    assert_int_equal(caps.loops, 1);
    assert_int_equal(caps.count_max, 256);
    assert_int_equal(caps.run_max, 16384);
    assert_int_equal(controller_pl330.linear_run_max, 2 << 20);
    assert_int_equal(tight.loops, 0);
    assert_int_equal(tight.run_max, 64);
}

/* Returns the longest program for runs of up to `run` bytes with gaps that need four additions. */
static size_t longest_near(size_t run, size_t rows, uint64_t src, uint64_t dst)
{
    size_t longest = 0;

    for (size_t less = 0; less < 40 && less < run; less++) {
        struct mli_descriptor piece = copy_of(src, dst, run - less);
        const size_t step = (piece.box.run + 262140) / 128 * 128;

        if (rows > 1)
            piece = looped(piece, rows, step, step);
        encode(piece);
        longest = out.size > longest ? out.size : longest;
    }
    return longest;
}

/* The programs of the largest pieces fit in the buffer; otherwise put() or add() would abort. */
static void test_longest_programs(void **state)
{
    static const size_t rows[] = {1, 1, 256, 256, 256}, runs[] = {2 << 20, 70000, 16384, 4000, 200};
    size_t longest = 0;

    (void)state;
    for (uint32_t bus = 4; bus <= 16; bus *= 2) {
        profile.dma.bus_bytes = bus;
        profile.dma.burst_bytes = 16 * bus;
        for (size_t i = 0; i < COUNT_OF(runs); i++)
            for (uint64_t offset = 0; offset < 256; offset += i < 2 ? 17 : 1) {
                size_t same =
                    longest_near(runs[i], rows[i], 0x1000000 + offset, 0x4000000 + offset);
                size_t odd = longest_near(runs[i], rows[i], 0x1000000 + offset, 0x4000001);

                longest = same > longest ? same : longest;
                longest = odd > longest ? odd : longest;
            }
    }
    profile.dma.bus_bytes = 8;
    profile.dma.burst_bytes = 128;
    assert_true(longest > 150);
    assert_true(longest <= CONTROLLER_BYTES_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_burst),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_unaligned_ends),
        cmocka_unit_test(test_sides_aligned_differently),
        cmocka_unit_test(test_zeros),
        cmocka_unit_test(test_zeros_without_fills),
        cmocka_unit_test(test_negative_gap),
        cmocka_unit_test(test_largest_gap),
        cmocka_unit_test(test_more_bursts_than_iterations),
        cmocka_unit_test(test_both_counters_repeat_bursts),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_longest_programs),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
