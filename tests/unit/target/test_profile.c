/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tests look-ups in profiles, and that a built-in profile is the same after it was written and read
 * again.
 */
#include <string.h>

#include "target/profile/profile_load.h"
#include "tests/support/unit.h"

static struct target_profile profile;

static int load_vpx5(void **state)
{
    struct fault fault;

    (void)state;
    return profile_load(&profile, "vpx5-nsim", &fault);
}

/* The profile has the values of the nSIM configuration. */
static void test_vpx5_nsim(void **state)
{
    const struct profile_memory *vccm = profile_memory_named(&profile, "vccm");

    (void)state;
    assert_non_null(vccm);
    assert_int_equal(vccm->base, 0x90000000);
    assert_int_equal(vccm->size, 256 * 1024);
    assert_int_equal(vccm->banks * vccm->bank_bytes * 8, profile.vector_bits);
    assert_true(vccm->vector);
    assert_int_equal(profile.vector_bits, 512);
    assert_int_equal(profile.guard_bit_option, 2);
    assert_int_equal(profile.dma.channels, 1);
    assert_int_equal(profile.dma.bus_bytes * 8, 128);
    assert_true(profile.strict);
    assert_null(profile_memory_named(&profile, "VCCM"));
}

static void test_memory_at_an_address(void **state)
{
    (void)state;
    assert_string_equal(profile_memory_at(&profile, 0x90000000)->name, "vccm");
    assert_string_equal(profile_memory_at(&profile, 0x9003ffff)->name, "vccm");
    assert_null(profile_memory_at(&profile, 0x90040000));
    assert_null(profile_memory_at(&profile, 0x8fffffff));
    assert_null(profile_memory_at(&profile, UINT64_MAX));
}

static void test_sources(void **state)
{
    (void)state;
    assert_non_null(strstr(profile_source_of(&profile, "/memories/0/banks")->text, "banks"));
    assert_true(profile_is_assumed(profile_source_of(&profile, "/costs/row")));
    assert_false(profile_is_assumed(profile_source_of(&profile, "/dma/bus_bytes")));
    assert_true(profile_is_assumed(profile_source_of(&profile, "/dma/loops")));
    assert_null(profile_source_of(&profile, "/memories"));
    assert_null(profile_source_of(&profile, "/memories/01"));
    assert_null(profile_source_of(&profile, ""));
}

static void test_cost_texts(void **state)
{
    char text[PROFILE_COST_TEXT_MAX];

    (void)state;
    assert_string_equal(profile_cost_text(text, 0), "0");
    assert_string_equal(profile_cost_text(text, 1), "0.000001");
    assert_string_equal(profile_cost_text(text, 125000), "0.125");
    assert_string_equal(profile_cost_text(text, 10 * PROFILE_CYCLE), "10");
    assert_string_equal(profile_cost_text(text, 100500000), "100.5");
    assert_string_equal(profile_cost_text(text, UINT64_MAX), "18446744073709.551615");
    assert_string_equal(profile_cost_words(text, UINT64_MAX), "> 18446744073709");
    assert_string_equal(profile_cost_words(text, UINT64_MAX - 1), "18446744073709.551614");
}

static void expect_same_when_read_again(const struct profile_text *built_in)
{
    static struct target_profile first, again;
    struct fault fault;
    struct jsonw w;

    jsonw_init(&w);
    if (profile_read(&first, built_in->text, built_in->length, &fault) < 0)
        fail_msg("%s: %s", built_in->name, fault.text);
    assert_string_equal(first.name, built_in->name);
    profile_write(&w, NULL, &first);
    assert_non_null(jsonw_text(&w));
    if (profile_read(&again, w.data, w.length, &fault) < 0)
        fail_msg("%s, written: %s", built_in->name, fault.text);
    assert_memory_equal(&first, &again, sizeof first);
    jsonw_finish(&w);
}

static void test_written_and_read_again(void **state)
{
    size_t count = 0;

    (void)state;
    for (; profile_built_in[count].name; count++)
        expect_same_when_read_again(&profile_built_in[count]);
    assert_true(count >= 2);
}

static void test_names_and_paths(void **state)
{
    struct fault fault;

    (void)state;
    assert_true(profile_is_path("./x"));
    assert_true(profile_is_path("board.json"));
    assert_false(profile_is_path(".json"));
    assert_false(profile_is_path("vpx5-nsim"));
    assert_int_equal(profile_load(&profile, "vpx", &fault), -1);
    assert_int_equal(fault.code, FAULT_NOT_FOUND);
    assert_non_null(strstr(fault.text, "vpx5-nsim"));
    assert_int_equal(profile_load(&profile, "/nowhere/x", &fault), -1);
    assert_string_equal(fault.text, "No such file or directory");
    assert_int_equal(profile_load(&profile, "/dev/", &fault), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_vpx5_nsim, load_vpx5),
        cmocka_unit_test_setup(test_memory_at_an_address, load_vpx5),
        cmocka_unit_test_setup(test_sources, load_vpx5),
        cmocka_unit_test(test_cost_texts),
        cmocka_unit_test(test_written_and_read_again),
        cmocka_unit_test(test_names_and_paths),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
