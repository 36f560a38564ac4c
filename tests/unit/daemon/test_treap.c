/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares treaps with sorted arrays: order, searches, sums and depth. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "daemon/base/treap.h"
#include "tests/support/rng.h"
#include "tests/support/unit.h"

enum { NUMBERS = 400, ROUNDS = 20000, DEEP = 100000 };

struct number {
    struct treap_node node;
    uint32_t value;
    uint64_t sum, count;
    bool in;
};

static const struct number *number_of(const struct treap_node *node)
{
    return TREAP_OWNER(node, struct number, node);
}

static int compare(const struct treap_node *a, const struct treap_node *b)
{
    return (number_of(a)->value > number_of(b)->value) -
           (number_of(a)->value < number_of(b)->value);
}

static void sum(struct treap_node *node)
{
    struct number *number = (struct number *)node;

    number->sum = number->value;
    number->count = 1;
    for (int i = 0; i < 2; i++) {
        const struct treap_node *child = i ? node->right : node->left;

        number->sum += child ? number_of(child)->sum : 0;
        number->count += child ? number_of(child)->count : 0;
    }
}

static const struct treap_kind kind = {.compare = compare, .sum = sum};

/* Returns the value of a node, or UINT32_MAX for null. */
static uint32_t value_of(const struct treap_node *node)
{
    return node ? number_of(node)->value : UINT32_MAX;
}

static void check_searches(const struct treap *treap, const struct number *numbers, uint32_t wanted)
{
    const struct number key = {.value = wanted};
    uint32_t from = UINT32_MAX, until = UINT32_MAX, last = UINT32_MAX;
    uint64_t total = 0, count = 0;

    for (uint32_t i = 0; i < NUMBERS; i++) {
        if (!numbers[i].in)
            continue;
        from = i >= wanted && from == UINT32_MAX ? i : from;
        until = i <= wanted ? i : until;
        last = i;
        total += i;
        count++;
    }
    assert_int_equal(value_of(treap_from(treap, &key.node)), from);
    assert_int_equal(value_of(treap_until(treap, &key.node)), until);
    assert_int_equal(value_of(treap_last(treap)), last);
    assert_int_equal(treap->root ? number_of(treap->root)->sum : 0, total);
    assert_int_equal(treap->root ? number_of(treap->root)->count : 0, count);
}

static void test_random(void **state)
{
    static struct number numbers[NUMBERS];
    const uint64_t seed = (uint64_t)time(NULL);
    struct rng rng = {seed};
    struct treap treap;

    (void)state;
    print_message("seed %" PRIu64 "\n", seed);
    treap_init(&treap, &kind);
    for (uint32_t i = 0; i < NUMBERS; i++)
        numbers[i].value = i;
    for (int round = 0; round < ROUNDS; round++) {
        struct number *number = &numbers[rng_below(&rng, NUMBERS)];

        if (number->in)
            treap_remove(&treap, &number->node);
        else
            treap_insert(&treap, &number->node);
        number->in = !number->in;
        if (round % 8 == 0)
            check_searches(&treap, numbers, rng_below(&rng, NUMBERS + 2));
    }
}

static size_t depth_of(const struct treap_node *node)
{
    size_t left, right;

    if (!node)
        return 0;
    left = depth_of(node->left);
    right = depth_of(node->right);
    return 1 + (left > right ? left : right);
}

/* Sorted insertions, the worst case of a plain search tree, give a tree of logarithmic depth. */
static void test_depth(void **state)
{
    struct number *numbers = calloc(DEEP, sizeof *numbers);
    struct treap treap;
    size_t depth;

    (void)state;
    assert_non_null(numbers);
    treap_init(&treap, &kind);
    for (uint32_t i = 0; i < DEEP; i++) {
        numbers[i].value = i;
        treap_insert(&treap, &numbers[i].node);
    }
    depth = depth_of(treap.root);
    print_message("%d sorted insertions: depth %zu\n", DEEP, depth);
    assert_true(depth < 100);
    assert_int_equal(number_of(treap.root)->count, DEEP);
    free(numbers);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),
        cmocka_unit_test(test_depth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
