/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffer descriptors of an AIE-ML memory tile, computed by hand. */
#include "target/profile/profile_load.h"
#include "tests/unit/target/encoding.h"

enum { WORDS = 8 };
#define VALID UINT32_C(0x80000000)

static struct target_profile profile = {
    .dma = {.controller = PROFILE_AIE, .loops = 4, .granularity = 4, .alignment = 4}};
static const struct controller_place place = {
    .profile = &profile, .next = 0x12340, .zeros = 0x90000};
static struct controller_descriptor out;

/* Compares the words of one side: side 0 reads memory (MM2S), side 1 writes memory (S2MM). */
static void expect_side(size_t side, const uint32_t want[WORDS])
{
    assert_int_equal(out.size, 2 * WORDS * 4);
    for (size_t i = 0; i < WORDS; i++)
        if (word_of(&out, side * WORDS + i) != want[i])
            fail_msg("side %zu, word %zu: 0x%08x, 0x%08x required", side, i,
                     word_of(&out, side * WORDS + i), want[i]);
}

static void test_contiguous_bytes(void **state)
{
    const struct mli_descriptor piece = copy_of(0x80010, 0x100004, 0x1234);

    (void)state;
    encode_piece(&controller_aie, &place, &piece, &out);
    expect_side(0, (const uint32_t[WORDS]){0x48d, 0x20004, 0, 0, 0, 0, 0, VALID});
    expect_side(1, (const uint32_t[WORDS]){0x48d, 0x40001, 0, 0, 0, 0, 0, VALID});
    assert_int_equal(field_of(&out, "MM2S Buffer_Length"), 0x48d);
    assert_int_equal(field_of(&out, "MM2S Base_Address"), 0x20004);
    assert_int_equal(field_of(&out, "S2MM Base_Address"), 0x40001);
    assert_int_equal(field_of(&out, "S2MM D0_Wrap"), 0);
    assert_int_equal(field_of(&out, "S2MM D0_Stepsize"), 0);
    assert_int_equal(field_of(&out, "S2MM Valid_BD"), 1);
}

/* A run of 3 words. The last dimension does not wrap: the transfer ends after `length` words. */
static void test_rows(void **state)
{
    const struct mli_descriptor piece = looped(copy_of(0x80000, 0xc0000, 12), 5, 64, 16);

    (void)state;
    encode_piece(&controller_aie, &place, &piece, &out);
    expect_side(0, (const uint32_t[WORDS]){15, 0x20000, 3 << 17, 15, 0, 0, 0, VALID});
    expect_side(1, (const uint32_t[WORDS]){15, 0x30000, 3 << 17, 3, 0, 0, 0, VALID});
}

/* The loops are listed from the outermost inwards, so dimension 1 is the last loop. */
static void test_four_dimensions(void **state)
{
    struct mli_descriptor piece = copy_of(0x80000, 0xc0000, 8);

    (void)state;
    piece = looped(piece, 7, 4096, 8);
    piece = looped(piece, 5, 256, 1024);
    piece = looped(piece, 3, 16, 64);
    encode_piece(&controller_aie, &place, &piece, &out);
    expect_side(0, (const uint32_t[WORDS]){210, 0x20000, 2 << 17, 3 << 17 | 3, 5 << 17 | 63, 1023,
                                           0, VALID});
    expect_side(1, (const uint32_t[WORDS]){210, 0x30000, 2 << 17, 3 << 17 | 15, 5 << 17 | 255, 1, 0,
                                           VALID});
    assert_int_equal(field_of(&out, "S2MM D1_Wrap"), 3);
    assert_int_equal(field_of(&out, "S2MM D2_Wrap"), 5);
    assert_int_equal(field_of(&out, "S2MM D3_Stepsize"), 1);
}

/* The MM2S descriptor reads contiguous zeros; only the S2MM descriptor has the steps. */
static void test_zeros_are_copied(void **state)
{
    const struct mli_descriptor piece = looped(fill_of(0xc0000, 8), 6, 0, 32);

    (void)state;
    encode_piece(&controller_aie, &place, &piece, &out);
    expect_side(0, (const uint32_t[WORDS]){12, 0x24000, 0, 0, 0, 0, 0, VALID});
    expect_side(1, (const uint32_t[WORDS]){12, 0x30000, 2 << 17, 7, 0, 0, 0, VALID});
}

static void test_largest_fields(void **state)
{
    const struct mli_descriptor bytes = copy_of(0, 0x17fffc, 524284);
    const struct mli_descriptor rows = looped(copy_of(0, 0x17fffc, 4092), 128, 524284, 4096);
    const struct mli_descriptor columns =
        looped(looped(copy_of(4, 8, 4), 2, 524284, 4), 1023, 4, 524284);

    (void)state;
    encode_piece(&controller_aie, &place, &bytes, &out);
    assert_int_equal(word_of(&out, 0), 0x1ffff);
    assert_int_equal(word_of(&out, 9), 0x5ffff);
    encode_piece(&controller_aie, &place, &rows, &out);
    assert_int_equal(word_of(&out, 2), 1023 << 17);
    assert_int_equal(word_of(&out, 3), 0x1fffe);
    encode_piece(&controller_aie, &place, &columns, &out);
    assert_int_equal(word_of(&out, 3), 1023 << 17);
    assert_int_equal(word_of(&out, 11), 1023 << 17 | 0x1fffe);
    assert_int_equal(out.field_count, 20);
}

static void test_limits(void **state)
{
    const struct target_profile wide = {.dma = {.loops = 4}}, narrow = {.dma = {.loops = 2}};
    const struct mli_channel_caps copies = controller_caps(&wide, &controller_aie, false);
    const struct mli_channel_caps fills = controller_caps(&narrow, &controller_aie, true);

    (void)state;
    assert_int_equal(copies.loops, 3);
    assert_int_equal(copies.count_max, 1023);
    assert_int_equal(copies.run_max, 1023 * 4);
    assert_int_equal(copies.step_max, 131071 * 4);
    assert_int_equal(copies.bytes_max, 131071 * 4);
    assert_int_equal(controller_aie.linear_run_max, 131071 * 4);
    assert_int_equal(fills.loops, 2);
    assert_int_equal(fills.bytes_max, CONTROLLER_ZEROS_SIZE);
}

/* If the profile allows moves of single bytes, the encoder still refuses them. */
static void test_refused_pieces(void **state)
{
    struct target_profile filling = profile;
    const struct mli_descriptor good = looped(copy_of(0x1000, 0x2000, 8), 4, 8, 8);
    const struct mli_descriptor bad[] = {
        looped(copy_of(0x1002, 0x2000, 8), 4, 8, 8),  looped(copy_of(0x1000, 0x2001, 8), 4, 8, 8),
        looped(copy_of(0x1000, 0x2000, 7), 4, 8, 8),  looped(copy_of(0x1000, 0x2000, 8), 4, 9, 8),
        looped(copy_of(0x1000, 0x2000, 8), 4, 8, 10), looped(copy_of(0x1000, 0x2000, 8), 4, 0, 8),
    };
    const struct mli_descriptor fill = looped(fill_of(0x2000, 8), 4, 0, 8);

    (void)state;
    assert_null(controller_aie.refuses(&profile, &good));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_non_null(controller_aie.refuses(&profile, &bad[i]));
    assert_null(controller_aie.refuses(&profile, &fill));
    filling.dma.fills = true;
    assert_non_null(controller_aie.refuses(&filling, &fill));
}

/* If the address of the zeros does not fit in Base_Address, the core makes the fills. */
static void test_zeros_out_of_reach(void **state)
{
    static struct target_profile board;
    static struct mli_plan plan = {.bytes = 8, .slabs = 1, .slab[0] = {.run = 8}};
    struct descriptor_list list;
    struct list_entry entry;
    struct fault fault;

    (void)state;
    assert_int_equal(profile_load(&board, "xdna-aie2", &fault), 0);
    plan.slab[0].dst = (uint8_t *)(uintptr_t)0x80000;
    list_init(&list, &board, &plan, 0, 0xff000);
    assert_true(list_next(&list, &entry));
    assert_int_equal(entry.mover, MOVER_CONTROLLER);
    assert_int_equal(field_of(&entry.descriptor, "MM2S Base_Address"), 0x3fc00);
    list_init(&list, &board, &plan, 0, 0x200000);
    assert_true(list_next(&list, &entry));
    assert_int_equal(entry.mover, MOVER_CORE);
    assert_non_null(strstr(entry.why, "zeros"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contiguous_bytes), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_four_dimensions),  cmocka_unit_test(test_zeros_are_copied),
        cmocka_unit_test(test_largest_fields),   cmocka_unit_test(test_limits),
        cmocka_unit_test(test_refused_pieces),   cmocka_unit_test(test_zeros_out_of_reach),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
