/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the hash table finds all its nodes, and has no long chains while it grows. */
#include "daemon/base/hash_table.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/base/seam.h"
#include "tests/support/unit.h"

enum { MANY = 100 * 1000, CHAIN_MAX = 24 };

struct item {
    struct hash_node node;
    uint64_t value;
};

static struct hash_table table;
static struct item *items;

static int setup(void **state)
{
    (void)state;
    hash_table_init(&table);
    items = calloc(MANY, sizeof *items);
    assert_non_null(items);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    hash_table_finish(&table);
    free(items);
    return 0;
}

static uint64_t hash_of(uint64_t value)
{
    return hash_table_hash(&table, value, NULL, 0);
}

/*
 * Returns how many nodes of a chain are compared until the item is found; 0: the item is not in the
 * table.
 */
static unsigned steps_to(uint64_t value)
{
    unsigned steps = 0;

    for (struct hash_node *node = hash_table_chain(&table, hash_of(value)); node;
         node = node->next) {
        steps++;
        if (((struct item *)(void *)node)->value == value)
            return steps;
    }
    return 0;
}

/*
 * The numbers are multiples of a large power of two: if the hash had no key, all would be in one
 * chain.
 */
static void add(unsigned i)
{
    items[i].value = (uint64_t)i << 32;
    hash_table_add(&table, &items[i].node, hash_of(items[i].value));
}

static void test_growth(void **state)
{
    (void)state;
    for (unsigned i = 0; i < MANY; i++) {
        const uint32_t before = table.buckets;

        add(i);
        assert_in_range(table.buckets - before, 0, 1); /* the table grows by one bucket at a time */
    }
    assert_true(table.buckets >= MANY - 1);
    for (unsigned i = 0; i < MANY; i++)
        assert_in_range(steps_to(items[i].value), 1, CHAIN_MAX);
    assert_int_equal(steps_to(1), 0);
}

static void test_removal(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 5000; i++)
        add(i);
    for (unsigned i = 0; i < 5000; i += 3)
        hash_table_remove(&table, &items[i].node);
    hash_table_remove(&table, &items[0].node);        /* twice */
    hash_table_remove(&table, &items[MANY - 1].node); /* this node was never in the table */
    assert_int_equal(table.count, 5000 - 1667);
    for (unsigned i = 0; i < 5000; i++)
        assert_int_equal(steps_to(items[i].value) > 0, i % 3 != 0);
}

static void test_replacement(void **state)
{
    struct item other = {.value = 7};

    (void)state;
    for (unsigned i = 0; i < 1000; i++)
        add(i);
    other.value = items[500].value;
    hash_table_replace(&items[500].node, &other.node);
    items[500].value = 0;
    assert_true(steps_to(other.value) > 0);
    assert_int_equal(table.count, 1000);
    hash_table_remove(&table, &items[500].node);
    hash_table_remove(&table, &other.node);
    assert_int_equal(steps_to(other.value), 0);
    assert_int_equal(table.count, 999);
}

/* A hash depends on each byte, on the length, on the salt, and on the key of the table. */
static void test_hashes(void **state)
{
    unsigned char bytes[40];
    struct hash_table other;

    (void)state;
    memset(bytes, 'a', sizeof bytes);
    for (size_t length = 0; length < sizeof bytes; length++) {
        const uint64_t hash = hash_table_hash(&table, 1, bytes, length);

        assert_true(hash != hash_table_hash(&table, 2, bytes, length));
        assert_true(hash != hash_table_hash(&table, 1, bytes, length + 1));
        for (size_t i = 0; i < length; i++) {
            bytes[i] = 'b';
            assert_true(hash != hash_table_hash(&table, 1, bytes, length));
            bytes[i] = 'a';
        }
        assert_true(hash == hash_table_hash(&table, 1, bytes, length));
    }
    hash_table_init(&other);
    assert_true(hash_table_hash(&table, 1, bytes, 8) != hash_table_hash(&other, 1, bytes, 8));
    hash_table_finish(&other);
}

static void *no_calloc(size_t count, size_t size)
{
    (void)count;
    (void)size;
    return NULL;
}

static void *no_realloc(void *block, size_t size)
{
    (void)block;
    (void)size;
    return NULL;
}

/* Without memory for buckets, all nodes are found. The table grows when there is memory again. */
static void test_short_memory(void **state)
{
    (void)state;
    seam.realloc = no_realloc;
    for (unsigned i = 0; i < 1000; i++)
        add(i);
    seam.realloc = realloc;
    seam.calloc = no_calloc;
    for (unsigned i = 1000; i < 2000; i++)
        add(i);
    seam.calloc = calloc;
    assert_int_equal(table.buckets, HASH_SEGMENT);
    for (unsigned i = 0; i < 2000; i++)
        assert_true(steps_to(items[i].value) > 0);
    for (unsigned i = 2000; i < 5000; i++)
        add(i);
    assert_true(table.buckets > 2500);
    for (unsigned i = 0; i < 5000; i++)
        assert_true(steps_to(items[i].value) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_growth, setup, teardown),
        cmocka_unit_test_setup_teardown(test_removal, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replacement, setup, teardown),
        cmocka_unit_test_setup_teardown(test_hashes, setup, teardown),
        cmocka_unit_test_setup_teardown(test_short_memory, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
