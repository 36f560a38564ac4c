/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests each rule of a profile with one tensor that breaks the rule and one that obeys it. */
#include <string.h>

#include "target/profile/profile_load.h"
#include "target/profile/profile_rules.h"
#include "tests/support/unit.h"

static struct target_profile profile;
static struct fault fault;

static int load(void **state)
{
    (void)state;
    return profile_load(&profile, "vpx5-nsim", &fault);
}

/* Returns a tensor of fx16 in no memory. */
static struct profile_operand operand(void)
{
    return (struct profile_operand){.side = "dst", .element = 2, .bytes = 100};
}

/* Checks a job with a source that breaks no rule. */
static int check(const struct profile_operand *dst)
{
    const struct profile_operand src = {.side = "src",
                                        .memory = profile_memory_named(&profile, "vccm"),
                                        .kernel = dst->kernel,
                                        .element = 1,
                                        .bytes = 64};

    return profile_check_operands(&profile, &src, dst, &fault);
}

static void accepts(const struct profile_operand *given)
{
    if (check(given) < 0)
        fail_msg("%s", fault.text);
}

static void refuses(const struct profile_operand *given, mli_status status, const char *pointer,
                    const char *text)
{
    assert_int_equal(check(given), -1);
    assert_int_equal(fault.code, FAULT_REFUSED);
    assert_int_equal(fault.status, status);
    assert_string_equal(fault.pointer, pointer);
    assert_string_equal(fault.text, text);
}

static void test_vector_memory(void **state)
{
    struct profile_operand given = operand();

    (void)state;
    accepts(&given);
    given.kernel = true;
    refuses(&given, MLI_STATUS_MEM_BANK_MISMATCH, "/dst/memory",
            "dst.memory: missing; operands of a permute must be in the vector memory: give "
            "\"memory\": \"vccm\" (rule vector-memory)");
    given.memory = profile_memory_named(&profile, "ddr");
    refuses(&given, MLI_STATUS_MEM_BANK_MISMATCH, "/dst/memory",
            "dst.memory: \"ddr\" given, but operands of a permute must be in the vector memory, "
            "\"vccm\" (rule vector-memory)");
    given.in_buffer = true;
    refuses(&given, MLI_STATUS_MEM_BANK_MISMATCH, "/dst/buffer",
            "dst.buffer: the buffer is in memory ddr, but operands of a permute must be in the "
            "vector memory: allocate the buffer with \"memory\": \"vccm\" (rule vector-memory)");
    given.memory = profile_memory_named(&profile, "vccm");
    accepts(&given);
    given.memory = NULL;
    profile.strict = false;
    accepts(&given);
    profile.strict = true;
    profile.memories[1].vector = true;
    given.in_buffer = false;
    refuses(&given, MLI_STATUS_MEM_BANK_MISMATCH, "/dst/memory",
            "dst.memory: missing; operands of a permute must be in the vector memory: give "
            "\"memory\": \"vccm\" or \"dccm\" (rule vector-memory)");
    given.memory = &profile.memories[1];
    accepts(&given);
}

static void test_reach(void **state)
{
    struct profile_operand given = operand();

    (void)state;
    given.memory = &profile.memories[1];
    accepts(&given);
    profile.memories[1].reached_by = PROFILE_CORE | PROFILE_HOST;
    refuses(&given, MLI_STATUS_MEM_BANK_MISMATCH, "/dst/memory",
            "dst.memory: the DMA controller does not reach memory dccm (rule reach)");
}

static void test_capacity(void **state)
{
    struct profile_operand given = operand();

    (void)state;
    given.memory = profile_memory_named(&profile, "vccm");
    given.bytes = 262144 - 64;
    accepts(&given);
    given.bytes++;
    refuses(&given, MLI_STATUS_NOT_ENGH_MEM, "/dst/memory",
            "dst.memory: src has 64 B and dst 262081 B, memory vccm has 262144 B in all (rule "
            "capacity)");
    given.in_buffer = true;
    accepts(&given);
    given.in_buffer = false;
    profile.memories[0].alignment = 128;
    given.bytes = 262144 - 127;
    refuses(&given, MLI_STATUS_NOT_ENGH_MEM, "/dst/memory",
            "dst.memory: src has 64 B and dst 262017 B, memory vccm has 262144 B in all (rule "
            "capacity)");
    given.bytes = 262144 - 128;
    accepts(&given);
    given.bytes = 262145;
    refuses(&given, MLI_STATUS_NOT_ENGH_MEM, "/dst/memory",
            "dst.memory: the tensor has 262145 B, memory vccm has 262144 B in all (rule capacity)");
    given.memory = NULL;
    accepts(&given);
}

static void test_element_alignment(void **state)
{
    struct profile_operand given = operand();

    (void)state;
    given.offset = 6;
    accepts(&given);
    given.element = 4;
    refuses(&given, MLI_STATUS_MISALIGNMENT_ERROR, "/dst/offset",
            "dst.offset: 6 given; elements of 4 B need a multiple of 4 (rule element-alignment)");
    given.memory = profile_memory_named(&profile, "vccm");
    given.in_buffer = true;
    given.base = 0x90000100;
    refuses(&given, MLI_STATUS_MISALIGNMENT_ERROR, "/dst/offset",
            "dst.offset: 6 given, so the first element is at 0x90000106; elements of 4 B need a "
            "multiple of 4 (rule element-alignment)");
    given.offset = UINT64_MAX - 3;
    accepts(&given);
    profile.strict = false;
    given.offset = 3;
    accepts(&given);
}

static void test_names(void **state)
{
    (void)state;
    assert_ptr_equal(profile_find_memory(&profile, "dccm", "src.memory", "/src/memory", &fault),
                     &profile.memories[1]);
    assert_null(profile_find_memory(&profile, "vcm", "src.memory", "/src/memory", &fault));
    assert_int_equal(fault.code, FAULT_INVALID_PARAMS);
    assert_string_equal(fault.pointer, "/src/memory");
    assert_string_equal(fault.text, "src.memory: profile \"vpx5-nsim\" has no memory \"vcm\"; did "
                                    "you mean \"vccm\"?");
    assert_null(profile_find_memory(&profile, "sram", "memory", "/memory", &fault));
    assert_string_equal(fault.text, "memory: profile \"vpx5-nsim\" has no memory \"sram\"; its "
                                    "memories: vccm, dccm, ddr");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_vector_memory, load),
        cmocka_unit_test_setup(test_reach, load),
        cmocka_unit_test_setup(test_capacity, load),
        cmocka_unit_test_setup(test_element_alignment, load),
        cmocka_unit_test_setup(test_names, load),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
