/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One random case, a move or a permute, and the memory that all cases use in turn.
 *
 *   case_gen.c, case_quant.c    a legal case: random_move.h of mlictl selftest, quantisation,
 * memory case_mutate.c               one field changed, which makes the case illegal case_run.c,
 * case_check.c    the call, and its results against the oracle
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

/* Of a handle; the pool has as many. */
enum { CASE_CHANNELS_MAX = 4 };

enum case_quant { QUANT_NULL, QUANT_SAME, QUANT_OWN };

struct test_case {
    uint64_t seed, index;
    struct draw draw;
    struct lab *lab;
    uint32_t large_percent; /* of cases have a large shape */
    enum case_via via;
    int channels;
    const char *mutation; /* null: legal */

    mli_tensor src, dst;
    mli_mov_cfg_t cfg;
    mli_permute_cfg permute_cfg; /* VIA_PERMUTE: then cfg says the same as a move */
    mli_element_type kernel;     /* VIA_PERMUTE: the kernel called */
    enum case_quant quant;
    bool null_src, null_dst, null_cfg;

    struct oracle expected;
    const char *stage; /* where a failure, or a crash, happened */
    bool failed;
};

int lab_init(struct lab *lab);
void lab_finish(struct lab *lab);

/* A legal case, placed in the lab. Now and then the oracle finds it illegal: that stands. */
void case_generate(struct test_case *c);
void case_generate_permute(struct test_case *c);

/* The oracle's word on the case as it stands. */
void case_judge(struct test_case *c);

/* Makes the case illegal by one change of one field, if it finds one that does. */
void case_mutate(struct test_case *c);

/* How many kinds of mutation no case has used yet; they are named. */
uint32_t case_mutations_unused(FILE *to);

/* Executes. False, with c->failed, when anything was not as expected; the report is printed. */
bool case_run(struct test_case *c);

void case_print(FILE *to, const struct test_case *c);

/* Parts of the above. */
void case_gen_quant(struct test_case *c);
bool case_is_per_axis(const struct test_case *c);
void case_fail(struct test_case *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
void case_check_done(struct test_case *c, const mli_tensor *dst_before);
void case_check_memory(struct test_case *c);

#endif /* TEST_CASE_H */
