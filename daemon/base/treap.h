/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordered sets without allocation: binary search trees of nodes inside the caller's structures.
 * Each node has a random priority and is above all nodes of lower priority, so a tree of n nodes is
 * O(log n) deep for any order of insertions.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct treap_node {
    struct treap_node *left, *right;
    uint64_t priority;
};

/* The order of a set, and sums over subtrees. */
struct treap_kind {
    /** Returns a number below, equal to or above 0 for a < b, a = b (only the same node), a > b. */
    int (*compare)(const struct treap_node *a, const struct treap_node *b);
    /** Computes the sums of a node from the sums of its two subtrees. Null: no sums. */
    void (*sum)(struct treap_node *node);
};

struct treap {
    const struct treap_kind *kind;
    struct treap_node *root;
    uint64_t random; /* state of the generator of priorities */
};

/** Returns the structure of `type` that has the node as `member`. The node must not be null. */
#define TREAP_OWNER(node, type, member)                                                            \
    ((const type *)(const void *)((const char *)(node)-offsetof(type, member)))

/** Initialises an empty set. */
void treap_init(struct treap *treap, const struct treap_kind *kind);

/** Adds a node that is in no set. */
void treap_insert(struct treap *treap, struct treap_node *node);

/** Removes a node of the set. Its key must not have changed since it was added. */
void treap_remove(struct treap *treap, struct treap_node *node);

/** Returns the first node that is not below `key`, which need not be in the set; or null. */
const struct treap_node *treap_from(const struct treap *treap, const struct treap_node *key);

/** Returns the last node that is not above `key`; or null. */
const struct treap_node *treap_until(const struct treap *treap, const struct treap_node *key);

/** Returns the last node of the set, or null. */
const struct treap_node *treap_last(const struct treap *treap);
