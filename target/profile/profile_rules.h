/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rules of a target profile for the memories and addresses of a job's tensors. The service
 * checks the rules when it admits a job; `mlictl validate` checks them without data.
 *
 * To add a rule, start here: add it to the table, check it in profile_check_operands(), and
 * describe it in docs/profiles.md.
 */
#pragma once

#include "target/profile/target_profile.h"

/*
 * X(name, word, status): `word` names the rule at the end of messages; `status` is libmli's status
 * for the same mistake.
 */
#define PROFILE_RULE_TABLE(X)                                                                      \
    X(VECTOR_MEMORY, "vector-memory", MLI_STATUS_MEM_BANK_MISMATCH)                                \
    X(REACH, "reach", MLI_STATUS_MEM_BANK_MISMATCH)                                                \
    X(CAPACITY, "capacity", MLI_STATUS_NOT_ENGH_MEM)                                               \
    X(ELEMENT_ALIGNMENT, "element-alignment", MLI_STATUS_MISALIGNMENT_ERROR)

enum profile_rule {
#define PROFILE_RULE_ENUM(name, word, status) PROFILE_RULE_##name,
    PROFILE_RULE_TABLE(PROFILE_RULE_ENUM)
#undef PROFILE_RULE_ENUM
};

/* One tensor of a job, as the rules see it. */
struct profile_operand {
    const char *side;                    /* "src" or "dst", for messages and JSON pointers */
    const struct profile_memory *memory; /* null: the tensor is in no memory of the board */
    bool in_buffer;                      /* the tensor is in a buffer of the service */
    bool kernel;                         /* the tensor is an operand of a kernel (a permute) */
    uint32_t element;                    /* bytes of one element */
    uint64_t base;   /* address of the buffer on the board; 0: aligned, but not known yet */
    uint64_t offset; /* bytes from the beginning of the buffer or file to the first element */
    uint64_t bytes;  /* bytes from the first element to the last byte that the job touches */
};

/**
 * Returns the memory that the job or request names. If the profile has no memory of that name,
 * returns null with *fault filled: `member` begins the message, which suggests a name.
 */
const struct profile_memory *profile_find_memory(const struct target_profile *profile,
                                                 const char *name, const char *member,
                                                 const char *pointer, struct fault *fault);

/* Buffers and tensors in a memory begin at multiples of this number, so that a tensor of any type
 * can begin where a buffer begins. */
enum { PROFILE_RANGE_ALIGNMENT_MIN = 4 };

/** Returns the alignment of ranges in a memory, a power of two. */
static inline uint32_t profile_range_alignment(const struct profile_memory *memory)
{
    return memory->alignment > PROFILE_RANGE_ALIGNMENT_MIN ? memory->alignment
                                                           : PROFILE_RANGE_ALIGNMENT_MIN;
}

/**
 * Checks that a memory has `bytes` > 0 from `address` on, and that the address has its alignment.
 * Returns 0, or -1 with FAULT_INVALID_PARAMS at /address; the message does not name the member.
 */
int profile_check_range(const struct profile_memory *memory, uint64_t address, uint64_t bytes,
                        struct fault *fault);

/**
 * Checks the tensors of a job against all rules, and that two tensors in one memory fit into it
 * together. Returns 0, or -1 with FAULT_REFUSED: the message ends with "(rule NAME)", and the
 * pointer is relative to the job.
 */
int profile_check_operands(const struct target_profile *profile, const struct profile_operand *src,
                           const struct profile_operand *dst, struct fault *fault);
