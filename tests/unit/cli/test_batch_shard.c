/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests --shard with its environment variables, and the distribution of names among shards. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/report/result.h"
#include "tests/support/proto_unit.h"
#include "tests/support/rng.h"

static const char *const variables[] = {
    "SLURM_ARRAY_TASK_ID",  "SLURM_ARRAY_TASK_COUNT", "SLURM_ARRAY_TASK_MIN",
    "SLURM_ARRAY_TASK_MAX", "SLURM_ARRAY_TASK_STEP",  "CI_NODE_INDEX",
    "CI_NODE_TOTAL",        "JOB_COMPLETION_INDEX",
};

/* Sets the variables in "NAME=VALUE NAME=VALUE", and unsets the other `variables`. */
static void set_environment(const char *words)
{
    char *copy = strdup(words), *rest = copy, *word;

    for (size_t i = 0; i < COUNT_OF(variables); i++)
        unsetenv(variables[i]);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');

        if (!value)
            continue;
        *value = '\0';
        setenv(word, value + 1, 1);
    }
    free(copy);
}

struct choice {
    const char *environment, *text;
    uint32_t index, count;
    const char *complaint; /* NULL: index and count are expected */
};

static void check(const struct choice *c)
{
    struct shard shard = {0};
    struct fault fault = {0};
    char what[256];

    snprintf(what, sizeof what, "%s with %s", c->text, c->environment);
    set_environment(c->environment);
    if (c->complaint) {
        assert_int_equal(shard_choose(c->text, &shard, &fault), -1);
        assert_fault(&fault, FAULT_INVALID_PARAMS, NULL, c->complaint, what);
        return;
    }
    assert_no_fault(shard_choose(c->text, &shard, &fault), &fault);
    if (shard.index != c->index || shard.count != c->count)
        fail_msg("%s: %u/%u", what, shard.index, shard.count);
}

#define WANTED   ": I/N is required: two whole numbers, as in 2/4"
#define FROM_ONE ": in I/N, the index I must be from 1 to N"
#define AUTO_N   ": auto/N is required; N is a whole number of at least 1"
#define SLURM(id, count, min, max, step)                                                           \
    "SLURM_ARRAY_TASK_ID=" id " SLURM_ARRAY_TASK_COUNT=" count " SLURM_ARRAY_TASK_MIN=" min        \
    " SLURM_ARRAY_TASK_MAX=" max " SLURM_ARRAY_TASK_STEP=" step

static void test_numbers(void **state)
{
    static const struct choice choices[] = {
        {"", "1/1", 1, 1, NULL},
        {"", "3/4", 3, 4, NULL},
        {"", "4294967295/4294967295", UINT32_MAX, UINT32_MAX, NULL},
        {"CI_NODE_INDEX=1 CI_NODE_TOTAL=2", "3/4", 3, 4, NULL},
        {"", "", 0, 0, "\"\"" WANTED},
        {"", "1", 0, 0, "\"1\"" WANTED},
        {"", "1/", 0, 0, "\"1/\"" WANTED},
        {"", "/2", 0, 0, "\"/2\"" WANTED},
        {"", "1/2/3", 0, 0, "\"1/2/3\"" WANTED},
        {"", " 1/2", 0, 0, "\" 1/2\"" WANTED},
        {"", "+1/2", 0, 0, "\"+1/2\"" WANTED},
        {"", "-1/2", 0, 0, "\"-1/2\"" WANTED},
        {"", "1/2 ", 0, 0, "\"1/2 \"" WANTED},
        {"", "1.0/2", 0, 0, "\"1.0/2\"" WANTED},
        {"", "0x1/2", 0, 0, "\"0x1/2\"" WANTED},
        {"", "1/4294967296", 0, 0, "\"1/4294967296\"" WANTED},
        {"", "1/99999999999999999999", 0, 0, "\"1/99999999999999999999\"" WANTED},
        {"", "0/2", 0, 0, "\"0/2\"" FROM_ONE},
        {"", "3/2", 0, 0, "\"3/2\"" FROM_ONE},
        {"", "0/0", 0, 0, "\"0/0\"" FROM_ONE},
        {"", "Auto", 0, 0, "\"Auto\"" WANTED},
        {"", "automatic", 0, 0, "\"automatic\"" WANTED},
        {"", "auto/", 0, 0, "\"auto/\"" AUTO_N},
        {"", "auto/0", 0, 0, "\"auto/0\"" AUTO_N},
        {"", "auto/x", 0, 0, "\"auto/x\"" AUTO_N},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(choices); i++)
        check(&choices[i]);
}

static void test_slurm(void **state)
{
    static const struct choice choices[] = {
        {SLURM("3", "4", "0", "3", "1"), "auto", 4, 4, NULL},
        {SLURM("3", "4", "0", "3", "1"), "auto/4", 4, 4, NULL},
        {SLURM("15", "3", "5", "15", "5"), "auto", 3, 3, NULL},
        {SLURM("7", "1", "7", "7", "1"), "auto", 1, 1, NULL},
        {SLURM("0", "1", "0", "0", "1") " CI_NODE_INDEX=2 CI_NODE_TOTAL=3 JOB_COMPLETION_INDEX=7",
         "auto", 1, 1, NULL},
        {SLURM("3", "4", "0", "3", "1"), "auto/5", 0, 0,
         "auto/5: SLURM_ARRAY_TASK_COUNT=4 is another number of shards"},
        {"SLURM_ARRAY_TASK_ID=3", "auto", 0, 0,
         "SLURM_ARRAY_TASK_ID is set, but SLURM_ARRAY_TASK_COUNT is not"},
        {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_COUNT=4", "auto", 0, 0,
         "SLURM_ARRAY_TASK_ID is set, but SLURM_ARRAY_TASK_MIN is not"},
        {SLURM("x", "4", "0", "3", "1"), "auto", 0, 0,
         "SLURM_ARRAY_TASK_ID=x: a whole number of at least 0 is required"},
        {SLURM("3", "0", "0", "3", "1"), "auto", 0, 0,
         "SLURM_ARRAY_TASK_COUNT=0: a whole number of at least 1 is required"},
        {SLURM("3", "4", "0", "3", "0"), "auto", 0, 0,
         "SLURM_ARRAY_TASK_STEP=0: a whole number of at least 1 is required"},
        {SLURM("1", "3", "1", "6", "1"), "auto", 0, 0, /* variables as for sbatch --array=1,5,6 */
         "SLURM_ARRAY_TASK_MIN=1 to SLURM_ARRAY_TASK_MAX=6 in steps of SLURM_ARRAY_TASK_STEP=1 "
         "are not SLURM_ARRAY_TASK_COUNT=3: submit a range, as in --array=1-3"},
        {SLURM("1", "3", "4294967295", "0", "4294967295"), "auto", 0, 0,
         "SLURM_ARRAY_TASK_MIN=4294967295 to SLURM_ARRAY_TASK_MAX=0 in steps of "
         "SLURM_ARRAY_TASK_STEP=4294967295 are not SLURM_ARRAY_TASK_COUNT=3: submit a range, as in "
         "--array=1-3"},
        {SLURM("1", "4294967295", "0", "4294967294", "4294967295"), "auto", 0, 0,
         "SLURM_ARRAY_TASK_MIN=0 to SLURM_ARRAY_TASK_MAX=4294967294 in steps of "
         "SLURM_ARRAY_TASK_STEP=4294967295 are not SLURM_ARRAY_TASK_COUNT=4294967295: submit a "
         "range, as in --array=1-4294967295"},
        {SLURM("4", "4", "0", "3", "1"), "auto", 0, 0,
         "SLURM_ARRAY_TASK_ID=4 is not between SLURM_ARRAY_TASK_MIN=0 and SLURM_ARRAY_TASK_MAX=3 "
         "in steps of SLURM_ARRAY_TASK_STEP=1"},
        {SLURM("6", "3", "5", "15", "5"), "auto", 0, 0,
         "SLURM_ARRAY_TASK_ID=6 is not between SLURM_ARRAY_TASK_MIN=5 and SLURM_ARRAY_TASK_MAX=15 "
         "in steps of SLURM_ARRAY_TASK_STEP=5"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(choices); i++)
        check(&choices[i]);
}

static void test_others(void **state)
{
    static const struct choice choices[] = {
        {"CI_NODE_INDEX=1 CI_NODE_TOTAL=3", "auto", 1, 3, NULL},
        {"CI_NODE_INDEX=3 CI_NODE_TOTAL=3 JOB_COMPLETION_INDEX=0", "auto/3", 3, 3, NULL},
        {"SLURM_ARRAY_TASK_ID= CI_NODE_INDEX=3 CI_NODE_TOTAL=3", "auto", 3, 3, NULL},
        {"CI_NODE_INDEX=4 CI_NODE_TOTAL=3", "auto", 0, 0,
         "CI_NODE_INDEX=4 exceeds the last index of 3 shards"},
        {"CI_NODE_INDEX=0 CI_NODE_TOTAL=3", "auto", 0, 0,
         "CI_NODE_INDEX=0: a whole number of at least 1 is required"},
        {"CI_NODE_INDEX=1", "auto", 0, 0, "CI_NODE_INDEX is set, but CI_NODE_TOTAL is not"},
        {"CI_NODE_INDEX=1 CI_NODE_TOTAL=-3", "auto", 0, 0,
         "CI_NODE_TOTAL=-3: a whole number of at least 1 is required"},
        {"CI_NODE_INDEX=1 CI_NODE_TOTAL=3", "auto/2", 0, 0,
         "auto/2: CI_NODE_TOTAL=3 is another number of shards"},
        {"JOB_COMPLETION_INDEX=0", "auto/3", 1, 3, NULL},
        {"JOB_COMPLETION_INDEX=2", "auto/3", 3, 3, NULL},
        {"JOB_COMPLETION_INDEX=3", "auto/3", 0, 0,
         "JOB_COMPLETION_INDEX=3 exceeds the last index of 3 shards"},
        {"JOB_COMPLETION_INDEX=2", "auto", 0, 0,
         "auto: JOB_COMPLETION_INDEX does not define the number of shards; give auto/N"},
        {"JOB_COMPLETION_INDEX=1e1", "auto/3", 0, 0,
         "JOB_COMPLETION_INDEX=1e1: a whole number of at least 0 is required"},
        /* GitLab also sets CI_NODE_TOTAL for jobs without `parallel:`. */
        {"CI_NODE_TOTAL=1", "auto", 0, 0,
         "auto: none of SLURM_ARRAY_TASK_ID, CI_NODE_INDEX and JOB_COMPLETION_INDEX is set; give "
         "I/N"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT_OF(choices); i++)
        check(&choices[i]);
}

static void test_pinned(void **state)
{
    static const uint32_t shards[] = {1, 2, 4, 16, 1000}, expected[] = {1, 2, 2, 10, 2};

    (void)state;
    for (size_t i = 0; i < COUNT_OF(shards); i++)
        assert_int_equal(shard_of("conv/tile_3", shards[i]), expected[i]);
    assert_int_equal(shard_of("", 1000), 343);
    assert_int_equal(shard_of("a", UINT32_MAX), UINT64_C(0x82a2a958a9bece5b) % UINT32_MAX + 1);
}

/* Makes names that differ in few characters, like the names of real cases. */
static void make_name(struct rng *rng, uint32_t i, char *name, size_t size)
{
    switch (rng_below(rng, 3)) {
    case 0:
        snprintf(name, size, "tile_%u", i);
        break;
    case 1:
        snprintf(name, size, "conv%u/%08x", rng_below(rng, 4), i);
        break;
    default:
        snprintf(name, size, "%u/a/b/%u \xc3\xa9", i, rng_below(rng, 1000));
    }
}

/* Every name is in one shard, and the sizes of shards differ from the mean by at most six standard
 * deviations. */
static void test_partition(void **state)
{
    enum { NAMES = 16000 };
    static uint32_t counts[16];
    const uint64_t seed =
        getenv("MLI_TEST_SEED") ? strtoull(getenv("MLI_TEST_SEED"), NULL, 0) : (uint64_t)time(NULL);

    (void)state;
    print_message("seed %llu\n", (unsigned long long)seed);
    for (uint32_t n = 1; n <= 16; n++) {
        struct rng rng = rng_for_case(seed, 0);
        double fair = (double)NAMES / n, most = 36 * fair * (1 - 1.0 / n);

        memset(counts, 0, sizeof counts);
        for (uint32_t i = 0; i < NAMES; i++) {
            char name[64];
            uint32_t shard;

            make_name(&rng, i, name, sizeof name);
            shard = shard_of(name, n);
            assert_in_range(shard, 1, n);
            assert_int_equal(shard_of(name, n), shard);
            counts[shard - 1]++;
        }
        for (uint32_t s = 0; s < n; s++) {
            double off = counts[s] - fair;

            if (off * off > most + 1)
                fail_msg("shard %u of %u has %u of %d names", s + 1, n, counts[s], NAMES);
        }
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_slurm),
        cmocka_unit_test(test_others),    cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_partition),
    };

    return cmocka_run_group_tests_name("batch shard", tests, NULL, NULL);
}
