/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of the Hexagon user DMA, computed by hand. */
#include "tests/unit/target/encoding.h"

static struct target_profile profile = {.dma = {.controller = PROFILE_HEXAGON, .loops = 4}};
static struct controller_descriptor out;

static void test_contiguous_bytes(void **state)
{
    const struct controller_place place = {.profile = &profile, .next = 0x10000040};
    const struct mli_descriptor piece = copy_of(0x10203040, 0xd8400008, 0x123456);

    (void)state;
    encode_piece(&controller_hexagon, &place, &piece, &out);
    assert_bytes(&out, 0x40, 0x00, 0x00, 0x10, 0x56, 0x34, 0x12, 0x00, 0x40, 0x30, 0x20, 0x10, 0x08,
                 0x00, 0x40, 0xd8);
    assert_int_equal(field_of(&out, "next"), 0x10000040);
    assert_int_equal(field_of(&out, "desc_size"), 0);
    assert_int_equal(field_of(&out, "length"), 0x123456);
    assert_int_equal(field_of(&out, "src"), 0x10203040);
    assert_int_equal(field_of(&out, "dst"), 0xd8400008);
}

static void test_rows(void **state)
{
    const struct controller_place place = {.profile = &profile};
    const struct mli_descriptor piece = looped(copy_of(0x10000001, 0xd8400002, 3), 5, 7, 0x1234);

    (void)state;
    encode_piece(&controller_hexagon, &place, &piece, &out);
    assert_bytes(&out, 0, 0, 0, 0, 0, 0, 0, 0x01, 0x01, 0, 0, 0x10, 0x02, 0, 0x40, 0xd8, /**/
                 0, 0, 0, 0, 3, 0, 5, 0, 7, 0, 0x34, 0x12, 0, 0, 0, 0);
    assert_int_equal(field_of(&out, "roi_width"), 3);
    assert_int_equal(field_of(&out, "roi_height"), 5);
    assert_int_equal(field_of(&out, "src_stride"), 7);
    assert_int_equal(field_of(&out, "dst_stride"), 0x1234);
}

/* The engine reads the zeros as contiguous rows, because a stride of 0 is an error on V68. */
static void test_zeros_are_copied(void **state)
{
    const struct controller_place place = {.profile = &profile, .zeros = 0x20000000};
    const struct mli_descriptor rows = looped(fill_of(0xd8400000, 100), 40, 0, 200);
    const struct mli_descriptor bytes = fill_of(0xd8400000, 4096);

    (void)state;
    encode_piece(&controller_hexagon, &place, &rows, &out);
    assert_bytes(&out, 0, 0, 0, 0, 0, 0, 0, 0x01, 0, 0, 0, 0x20, 0, 0, 0x40, 0xd8, /**/
                 0, 0, 0, 0, 100, 0, 40, 0, 100, 0, 200, 0, 0, 0, 0, 0);
    encode_piece(&controller_hexagon, &place, &bytes, &out);
    assert_bytes(&out, 0, 0, 0, 0, 0, 0x10, 0, 0, 0, 0, 0, 0x20, 0, 0, 0x40, 0xd8);
}

static void test_largest_fields(void **state)
{
    const struct controller_place place = {.profile = &profile, .next = 0xffffffe0};
    const struct mli_descriptor rows =
        looped(copy_of(0xfffffff0, 0x80000000, 65535), 65535, 65535, 65535);
    const struct mli_descriptor bytes = copy_of(0xff000001, 0x80000000, 0xffffff);

    (void)state;
    encode_piece(&controller_hexagon, &place, &rows, &out);
    assert_int_equal(word_of(&out, 0), 0xffffffe0);
    assert_int_equal(word_of(&out, 1), 0x01000000);
    assert_int_equal(word_of(&out, 5), 0xffffffff);
    assert_int_equal(word_of(&out, 6), 0xffffffff);
    encode_piece(&controller_hexagon, &place, &bytes, &out);
    assert_int_equal(word_of(&out, 1), 0x00ffffff);
}

static void test_limits(void **state)
{
    const struct mli_channel_caps copies = controller_caps(&profile, &controller_hexagon, false);
    struct mli_channel_caps fills = controller_caps(&profile, &controller_hexagon, true);
    struct target_profile tight = profile;

    (void)state;
    assert_int_equal(copies.loops, 1);
    assert_int_equal(copies.count_max, 65535);
    assert_int_equal(copies.run_max, 65535);
    assert_int_equal(copies.step_max, 65535);
    assert_int_equal(copies.bytes_max, 0);
    assert_int_equal(controller_hexagon.linear_run_max, 0xffffff);
    assert_int_equal(fills.bytes_max, CONTROLLER_ZEROS_SIZE);
    tight.dma.bytes_max = 100;
    fills = controller_caps(&tight, &controller_hexagon, true);
    assert_int_equal(fills.bytes_max, 100);
}

static void test_refused_pieces(void **state)
{
    struct target_profile filling = profile;
    const struct mli_descriptor overlap = looped(copy_of(0x1000, 0x2000, 8), 4, 7, 8);
    const struct mli_descriptor touching = looped(copy_of(0x1000, 0x2000, 8), 4, 8, 8);
    const struct mli_descriptor fill = fill_of(0x2000, 8);

    (void)state;
    assert_non_null(controller_hexagon.refuses(&profile, &overlap));
    assert_null(controller_hexagon.refuses(&profile, &touching));
    assert_null(controller_hexagon.refuses(&profile, &fill));
    filling.dma.fills = true;
    assert_non_null(controller_hexagon.refuses(&filling, &fill));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_contiguous_bytes), cmocka_unit_test(test_rows),
        cmocka_unit_test(test_zeros_are_copied), cmocka_unit_test(test_largest_fields),
        cmocka_unit_test(test_limits),           cmocka_unit_test(test_refused_pieces),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
