/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests sets of channels: finding, reserving and quarantining channels. */
#include "daemon/job/channels.h"

#include "tests/support/unit.h"

static struct channels of(uint32_t pool, uint32_t busy, uint32_t reserved, uint32_t quarantined)
{
    return (struct channels){pool, busy, reserved, quarantined};
}

static void test_pool(void **state)
{
    struct channels channels;

    (void)state;
    channels_init(&channels, 0, 16);
    assert_int_equal(channels.pool, 0xffff);
    assert_int_equal(channels_widest(&channels), 16);
    channels_init(&channels, 3, 2);
    assert_int_equal(channels.pool, 0x18);
    assert_true(channels_any_free(&channels));
    assert_int_equal(channels_find(&channels, 2, false), 3);
    assert_int_equal(channels_find(&channels, 3, false), -1);
}

static void test_find(void **state)
{
    static const struct {
        struct channels channels;
        uint32_t count;
        bool reserved;
        int first;
    } table[] = {
        {{0xf, 0x0, 0x0, 0x0}, 1, false, 0},  {{0xf, 0x1, 0x0, 0x0}, 1, false, 1},
        {{0xf, 0x5, 0x0, 0x0}, 2, false, -1}, {{0xf, 0x9, 0x0, 0x0}, 2, false, 1},
        {{0xf, 0x0, 0x6, 0x0}, 1, false, 0},  {{0xf, 0x1, 0x6, 0x0}, 1, false, 3},
        {{0xf, 0x9, 0x6, 0x0}, 2, true, 1},   {{0xf, 0x9, 0x6, 0x0}, 1, false, -1},
        {{0xf, 0x0, 0x0, 0x1}, 4, false, -1}, {{0xf, 0x0, 0x0, 0x1}, 3, false, 1},
        {{0xffff, 0, 0, 0}, 16, false, 0},    {{0xfffe, 0, 0, 0}, 16, false, -1},
        {{0x8000, 0, 0, 0}, 1, false, 15},    {{0xf, 0xf, 0x0, 0x0}, 1, true, -1},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(table); i++)
        assert_int_equal(channels_find(&table[i].channels, table[i].count, table[i].reserved),
                         table[i].first);
}

static void test_any_free(void **state)
{
    (void)state;
    assert_true(channels_any_free(&(struct channels){0xf, 0x7, 0, 0}));
    assert_false(channels_any_free(&(struct channels){0xf, 0xf, 0, 0}));
    assert_false(channels_any_free(&(struct channels){0xf, 0x3, 0xc, 0}));
    assert_false(channels_any_free(&(struct channels){0xf, 0x3, 0x0, 0xc}));
}

static void test_widest(void **state)
{
    struct channels channels = of(0xff, 0xff, 0xff, 0);

    (void)state;
    assert_int_equal(channels_widest(&channels), 8); /* channels in service include busy channels */
    channels.quarantined = 0x08;
    assert_int_equal(channels_widest(&channels), 4);
    channels.quarantined = 0xff;
    assert_int_equal(channels_widest(&channels), 0);
}

static void test_reserve(void **state)
{
    struct channels channels = of(0xff, 0x37, 0x01, 0); /* channels 0 1 2 4 5 are busy */

    (void)state;
    assert_true(channels_reserve(&channels, 2));
    assert_int_equal(channels.reserved, 0xc0);
    assert_true(channels_reserve(&channels, 4)); /* only two of these four channels are busy */
    assert_int_equal(channels.reserved, 0x78);
    channels.quarantined = 0x80;
    assert_true(channels_reserve(&channels, 4));
    assert_int_equal(channels.reserved & 0x80, 0);
    assert_int_equal(channels_count(channels.reserved), 4);
    assert_true(channels_reserve(&channels, 7));
    assert_int_equal(channels.reserved, 0x7f);
    assert_false(channels_reserve(&channels, 8));
    assert_int_equal(channels.reserved, 0);
}

/* Channels with backfilled jobs do not count as busy when channels are reserved. */
static void test_backfilled(void **state)
{
    struct channels channels = of(0xf, 0x1, 0, 0);

    (void)state;
    assert_false(channels_any_reserved_free(&channels));
    channels.reserved = 0x3;
    assert_true(channels_any_reserved_free(&channels));
    channels.busy = 0xf;
    assert_false(channels_any_reserved_free(&channels));
    channels.backfilled = 0xc;
    assert_true(channels_reserve(&channels, 2));
    assert_int_equal(channels.reserved, 0xc);
    channels_release(&channels, 0x4);
    assert_int_equal(channels.busy, 0xb);
    assert_int_equal(channels.backfilled, 0x8);
    channels.quarantined = 0x4;
    assert_false(channels_any_reserved_free(&channels));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool),     cmocka_unit_test(test_find),
        cmocka_unit_test(test_any_free), cmocka_unit_test(test_widest),
        cmocka_unit_test(test_reserve),  cmocka_unit_test(test_backfilled),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
