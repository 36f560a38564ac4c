/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One random case, a move or a permute, and the memory that all cases use in turn.
 *
 *   case_gen.c     a legal case: a move of random_move.h (mlictl selftest), and its memory
 *   case_quant.c   its quantisation parameters
 *   case_mutate.c  one field changed, which makes the case illegal
 *   case_run.c     the call
 *   case_check.c   its results against the oracle
 *
 * To add a class of legal cases, start in cli/selftest/random_move.h; a mutation, at MUTATIONS in
 * case_mutate.c.
 */
#ifndef TEST_CASE_H
#define TEST_CASE_H

#include <stdbool.h>
#include <stdio.h>

#include "cli/selftest/random_move.h"
#include "mli_api.h"
#include "tests/property/move_oracle.h"
#include "tests/property/watched.h"

/* Memory of all cases: tensors, and the arrays of per-axis parameters (zero_point, scale, frac). */
struct lab {
    struct watched src, dst;
    struct watched src_q[3], dst_q[3];
};

enum case_via { VIA_SYNC, VIA_ASYNC, VIA_TWICE, VIA_CALLBACK, VIA_PERMUTE, VIA_COUNT };

/* The number of channels in the pool, which is also the largest number of channels of a handle. */
enum { CASE_CHANNELS_MAX = 4 };

enum case_quant { QUANT_NULL, QUANT_SAME, QUANT_OWN };

struct test_case {
    uint64_t seed, index;
    struct draw draw;
    struct lab *lab;
    uint32_t large_percent; /* percentage of the cases that have large shapes */
    enum case_via via;
    int channels;
    const char *mutation; /* name of the mutation; null: a legal case */

    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_permute_cfg permute_cfg; /* for VIA_PERMUTE; `cfg` describes the same permute as a move */
    mli_element_type kernel;     /* for VIA_PERMUTE: the kernel that is called */
    enum case_quant quant;
    bool null_src, null_dst, null_cfg;

    struct oracle expected;
    const char *stage; /* the step in which the case failed or crashed */
    bool failed;
};

int lab_init(struct lab *lab);
void lab_finish(struct lab *lab);

/*
 * Generates a legal case and places it in the lab. A case that the oracle finds illegal is used as
 * well.
 */
void case_generate(struct test_case *c);
void case_generate_permute(struct test_case *c);

/* Updates c->expected by the oracle. */
void case_judge(struct test_case *c);

/* Makes the case illegal by changing one field, if a mutation succeeds. */
void case_mutate(struct test_case *c);

/* Prints the mutations that no case has used, and returns their number. */
uint32_t case_mutations_unused(FILE *to);

/* Executes the case. Returns false, with c->failed set and a report printed, after a difference. */
bool case_run(struct test_case *c);

void case_print(FILE *to, const struct test_case *c);

/* Steps of the functions above. */
void case_gen_quant(struct test_case *c);
bool case_is_per_axis(const struct test_case *c);
void case_fail(struct test_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void case_check_done(struct test_case *c, const mli_tensor *dst_before);
void case_check_memory(struct test_case *c);

#endif /* TEST_CASE_H */
