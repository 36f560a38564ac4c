/* SPDX-License-Identifier: BSD-3-Clause */
#include "target/profile/profile_rules.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "proto/json/json.h"

enum { POINTER_MAX = 32, NAMES_MAX = 160 };

static const struct {
    const char *word;
    mli_status status;
} rules[] = {
#define RULE(name, word, status) {word, status},
    PROFILE_RULE_TABLE(RULE)
#undef RULE
};

/* Fills *fault for a broken rule. `member` is the member of src or dst that is at fault. */
static int __attribute__((format(printf, 5, 6)))
complain(struct fault *fault, enum profile_rule rule, const struct profile_operand *operand,
         const char *member, const char *format, ...)
{
    char text[FAULT_TEXT_MAX], pointer[POINTER_MAX];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    snprintf(pointer, sizeof pointer, "/%s/%s", operand->side, member);
    fault_set(fault, FAULT_REFUSED, pointer, "%s.%s: %s (rule %s)", operand->side, member, text,
              rules[rule].word);
    fault->status = rules[rule].status;
    return -1;
}

/* Lists the names of the memories: "vccm, dccm, ddr". */
static void list_names(const struct target_profile *profile, char out[NAMES_MAX])
{
    size_t length = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < profile->memory_count && length < NAMES_MAX; i++)
        length += (size_t)snprintf(out + length, NAMES_MAX - length, "%s%s", i > 0 ? ", " : "",
                                   profile->memories[i].name);
}

const struct profile_memory *profile_find_memory(const struct target_profile *profile,
                                                 const char *name, const char *member,
                                                 const char *pointer, struct fault *fault)
{
    const struct profile_memory *memory = profile_memory_named(profile, name);
    const char *names[PROFILE_MEMORIES_MAX + 1] = {NULL}, *near;
    char list[NAMES_MAX];

    if (memory)
        return memory;
    for (uint32_t i = 0; i < profile->memory_count; i++)
        names[i] = profile->memories[i].name;
    near = nearest_word(name, names);
    list_names(profile, list);
    if (near)
        fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                  "%s: profile \"%s\" has no memory \"%s\"; did you mean \"%s\"?", member,
                  profile->name, name, near);
    else
        fault_set(fault, FAULT_INVALID_PARAMS, pointer,
                  "%s: profile \"%s\" has no memory \"%s\"; its memories: %s", member,
                  profile->name, name, list);
    return NULL;
}

int profile_check_range(const struct profile_memory *memory, uint64_t address, uint64_t bytes,
                        struct fault *fault)
{
    const uint64_t base = memory->base, size = memory->size;

    if (address < base || address - base >= size || bytes > size - (address - base))
        return fault_set(fault, FAULT_INVALID_PARAMS, "/address",
                         "%" PRIu64 " B from 0x%" PRIx64 " on wanted, but %s has 0x%" PRIx64
                         " to 0x%" PRIx64,
                         bytes, address, memory->name, base, base + size - 1);
    if (address % profile_range_alignment(memory) == 0)
        return 0;
    return fault_set(fault, FAULT_INVALID_PARAMS, "/address",
                     "0x%" PRIx64 " given; buffers in %s begin at multiples of %" PRIu32, address,
                     memory->name, profile_range_alignment(memory));
}

/* Lists the vector memories: "vccm", or "vccm" or "xccm", with the quotes. A strict profile has at
 * least one. */
static void list_vectors(const struct target_profile *profile, char out[NAMES_MAX])
{
    size_t length = 0;

    out[0] = '\0';
    for (uint32_t i = 0; i < profile->memory_count && length < NAMES_MAX; i++)
        if (profile->memories[i].vector)
            length += (size_t)snprintf(out + length, NAMES_MAX - length, "%s\"%s\"",
                                       length > 0 ? " or " : "", profile->memories[i].name);
}

static int check_vector(const struct target_profile *profile, const struct profile_operand *operand,
                        struct fault *fault)
{
    const struct profile_memory *memory = operand->memory;
    const char *member = operand->in_buffer ? "buffer" : "memory";
    char vectors[NAMES_MAX];

    if (!profile->strict || !operand->kernel || (memory && memory->vector))
        return 0;
    list_vectors(profile, vectors);
    if (operand->in_buffer)
        return complain(fault, PROFILE_RULE_VECTOR_MEMORY, operand, member,
                        "the buffer is in %s%s, but operands of a permute must be in the vector "
                        "memory: allocate the buffer with \"memory\": %s",
                        memory ? "memory " : "no memory of the board", memory ? memory->name : "",
                        vectors);
    if (memory)
        return complain(fault, PROFILE_RULE_VECTOR_MEMORY, operand, member,
                        "\"%s\" given, but operands of a permute must be in the vector memory, %s",
                        memory->name, vectors);
    return complain(fault, PROFILE_RULE_VECTOR_MEMORY, operand, member,
                    "missing; operands of a permute must be in the vector memory: give "
                    "\"memory\": %s",
                    vectors);
}

static int check_reach(const struct profile_operand *operand, struct fault *fault)
{
    const struct profile_memory *memory = operand->memory;

    if (!memory || memory->reached_by & PROFILE_DMA)
        return 0;
    return complain(fault, PROFILE_RULE_REACH, operand, operand->in_buffer ? "buffer" : "memory",
                    "the DMA controller does not reach memory %s", memory->name);
}

/*
 * Checks that the tensor fits into its memory. A tensor in a buffer does, because the buffer does.
 */
static int check_capacity(const struct profile_operand *operand, struct fault *fault)
{
    const struct profile_memory *memory = operand->memory;

    if (!memory || operand->in_buffer || operand->bytes <= memory->size)
        return 0;
    return complain(fault, PROFILE_RULE_CAPACITY, operand, "memory",
                    "the tensor has %" PRIu64 " B, memory %s has %" PRIu64 " B in all",
                    operand->bytes, memory->name, memory->size);
}

static int check_element(const struct target_profile *profile,
                         const struct profile_operand *operand, struct fault *fault)
{
    /* An overflow of the sum changes nothing, because the size of an element divides 2^64. */
    const uint64_t at = operand->base + operand->offset;

    if (!profile->strict || at % operand->element == 0)
        return 0;
    if (operand->base == 0)
        return complain(fault, PROFILE_RULE_ELEMENT_ALIGNMENT, operand, "offset",
                        "%" PRIu64 " given; elements of %" PRIu32 " B need a multiple of %" PRIu32,
                        operand->offset, operand->element, operand->element);
    return complain(fault, PROFILE_RULE_ELEMENT_ALIGNMENT, operand, "offset",
                    "%" PRIu64 " given, so the first element is at 0x%" PRIx64
                    "; elements of %" PRIu32 " B need a multiple of %" PRIu32,
                    operand->offset, at, operand->element, operand->element);
}

static int check_operand(const struct target_profile *profile,
                         const struct profile_operand *operand, struct fault *fault)
{
    if (check_vector(profile, operand, fault) < 0 || check_reach(operand, fault) < 0 ||
        check_capacity(operand, fault) < 0)
        return -1;
    return check_element(profile, operand, fault);
}

/* Checks that both tensors together fit into one memory, at addresses that are multiples of its
 * alignment. Each tensor alone fits. */
static int check_sum(const struct profile_operand *src, const struct profile_operand *dst,
                     struct fault *fault)
{
    const struct profile_memory *memory = dst->memory;
    uint64_t excess, skipped;

    if (!memory || src->memory != memory || src->in_buffer || dst->in_buffer)
        return 0;
    excess = src->bytes & (memory->alignment - 1);
    skipped = excess > 0 ? memory->alignment - excess : 0;
    if (skipped <= memory->size - src->bytes && dst->bytes <= memory->size - src->bytes - skipped)
        return 0;
    return complain(fault, PROFILE_RULE_CAPACITY, dst, "memory",
                    "src has %" PRIu64 " B and dst %" PRIu64 " B, memory %s has %" PRIu64
                    " B in all",
                    src->bytes, dst->bytes, memory->name, memory->size);
}

int profile_check_operands(const struct target_profile *profile, const struct profile_operand *src,
                           const struct profile_operand *dst, struct fault *fault)
{
    if (check_operand(profile, src, fault) < 0 || check_operand(profile, dst, fault) < 0)
        return -1;
    return check_sum(src, dst, fault);
}
