/* SPDX-License-Identifier: BSD-3-Clause */
/* Descriptors of ZDMA, BCM2835 and PDMA, compared with words made by hand from the manuals. */
#include <string.h>

#include "target/controller/controller.h"
#include "target/profile/profile_load.h"
#include "tests/support/unit.h"

enum { DESCRIPTORS = 0x9000, ZEROS = 0xa000 };

static struct target_profile profile;
static struct mli_plan plan;
static struct descriptor_list list;
static struct list_entry entry;

static void begin(const char *name)
{
    struct fault fault;

    assert_int_equal(profile_load(&profile, name, &fault), 0);
    profile.memory_count = 0;
    memset(&plan, 0, sizeof plan);
}

static void set_box(uint64_t src, uint64_t dst, size_t run)
{
    plan.box.src = (const uint8_t *)(uintptr_t)src;
    plan.box.dst = (uint8_t *)(uintptr_t)dst;
    plan.box.run = run;
}

static void add_loop(size_t count, size_t src_step, size_t dst_step)
{
    plan.box.loop[plan.box.loops++] = (struct mli_copy_loop){count, src_step, dst_step};
}

static void add_slab(uint64_t dst, size_t run)
{
    plan.slab[plan.slabs++] = (struct mli_fill_slab){.dst = (uint8_t *)(uintptr_t)dst, .run = run};
}

static void start(void)
{
    list_init(&list, &profile, &plan, DESCRIPTORS + 1, ZEROS);
}

static uint32_t word(size_t index)
{
    const uint8_t *at = entry.descriptor.bytes + 4 * index;

    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void expect_words(const uint32_t *words, size_t count)
{
    assert_int_equal(entry.mover, MOVER_CONTROLLER);
    assert_int_equal(entry.descriptor.size, 4 * count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(word(i), words[i]);
}

#define EXPECT_NEXT(...)                                                                           \
    do {                                                                                           \
        static const uint32_t words_[] = {__VA_ARGS__};                                            \
                                                                                                   \
        assert_true(list_next(&list, &entry));                                                     \
        expect_words(words_, COUNT_OF(words_));                                                    \
    } while (0)

/* The source queue and the destination queue; the last element stops the channel. */
static void test_zdma(void **state)
{
    (void)state;
    begin("zynqmp-zdma");
    set_box(0x123456789a0, 0x80001, 100);
    add_loop(2, 0x1000, 0x2000);
    start();
    EXPECT_NEXT(0x456789a0, 0x123, 100, 0x2, 0x9080, 0, 0, 0, /* source */
                0x80001, 0, 100, 0x6, 0x90a0, 0, 0, 0);       /* destination, counted */
    assert_int_equal(entry.descriptor.address, 0x9040);
    EXPECT_NEXT(0x456799a0, 0x123, 100, 0x12, 0, 0, 0, 0, 0x82001, 0, 100, 0x6, 0, 0, 0, 0);
    assert_int_equal(entry.descriptor.address, 0x9080);
    assert_false(list_next(&list, &entry));
}

/* Fills read the block of zeros, which ends after 4096 bytes. */
static void test_zdma_fill(void **state)
{
    (void)state;
    begin("zynqmp-zdma");
    add_slab(0x80000, 4097);
    start();
    EXPECT_NEXT(ZEROS, 0, 4096, 0x2, 0x9080, 0, 0, 0, 0x80000, 0, 4096, 0x6, 0x90a0, 0, 0, 0);
    EXPECT_NEXT(ZEROS, 0, 1, 0x12, 0, 0, 0, 0, 0x81000, 0, 1, 0x6, 0, 0, 0, 0);
    assert_false(list_next(&list, &entry));
}

/* If no block of zeros is in memory, the core writes the zeros of fills. */
static void test_no_zeros(void **state)
{
    (void)state;
    begin("zynqmp-zdma");
    add_slab(0x80000, 4097);
    list_init(&list, &profile, &plan, DESCRIPTORS, 0);
    assert_true(list_next(&list, &entry));
    assert_int_equal(entry.mover, MOVER_CORE);
    assert_non_null(strstr(entry.why, "zeros"));
    assert_int_equal(entry.piece.bytes, 4097);
    assert_false(list_next(&list, &entry));
}

/* Rows in 2-D mode: strides count from the end of a row, YLENGTH is the rows minus 1. */
static void test_bcm2835(void **state)
{
    (void)state;
    begin("bcm2835");
    set_box(0x40000001, 0x40100000, 100);
    add_loop(17, 90, 32867);
    start();
    EXPECT_NEXT(0x811b, 0x40000001, 0x40100000, 16 << 16 | 100, 32767U << 16 | 0xfff6, 0, 0, 0);
    assert_int_equal(entry.descriptor.address, 0x9020);
    assert_string_equal(entry.descriptor.field[3].name, "YLENGTH");
    assert_int_equal(entry.descriptor.field[3].value, 16);
    assert_false(list_next(&list, &entry));
}

/* The step exceeds the largest stride by 1, so each row takes a block. */
static void test_bcm2835_far_rows(void **state)
{
    (void)state;
    begin("bcm2835");
    set_box(0x40000000, 0x40100000, 112);
    add_loop(2, 112, 112 + 32768);
    start();
    EXPECT_NEXT(0x2330, 0x40000000, 0x40100000, 112, 0, 0x9040, 0, 0);
    EXPECT_NEXT(0x2339, 0x40000070, 0x40108070, 112, 0, 0, 0, 0);
    assert_false(list_next(&list, &entry));
}

/* A run that is too long for XLENGTH in 2-D mode takes one block in linear mode. */
static void test_bcm2835_long_runs(void **state)
{
    (void)state;
    begin("bcm2835");
    set_box(0x40000000, 0x50000000, 0x3fffff1);
    start();
    EXPECT_NEXT(0x811b & ~2, 0x40000000, 0x50000000, 0x3fffff1, 0, 0, 0, 0);
    assert_false(list_next(&list, &entry));
}

/* All rows of a fill read the same block of zeros: after each row, the source address goes back. */
static void test_bcm2835_fill(void **state)
{
    (void)state;
    begin("bcm2835");
    add_slab(0x40100000, 3 * 4096);
    start();
    EXPECT_NEXT(0x233b, ZEROS, 0x40100000, 2 << 16 | 4096, 0xf000, 0, 0, 0);
    assert_false(list_next(&list, &entry));
}

/* For reads and writes, the largest transaction that divides the addresses and the number of bytes.
 */
static void test_pdma(void **state)
{
    (void)state;
    begin("fu540-pdma");
    set_box(0x80000008, 0x8000000, 24);
    add_loop(2, 256, 31);
    start();
    EXPECT_NEXT(3, 0x33000000, 24, 0, 0x8000000, 0, 0x80000008, 0);
    EXPECT_NEXT(3, 0, 24, 0, 0x800001f, 0, 0x80000108, 0);
    assert_false(list_next(&list, &entry));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_zdma),
        cmocka_unit_test(test_zdma_fill),
        cmocka_unit_test(test_no_zeros),
        cmocka_unit_test(test_bcm2835),
        cmocka_unit_test(test_bcm2835_far_rows),
        cmocka_unit_test(test_bcm2835_long_runs),
        cmocka_unit_test(test_bcm2835_fill),
        cmocka_unit_test(test_pdma),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
