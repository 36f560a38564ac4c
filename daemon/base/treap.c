/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/base/treap.h"

#include <stdbool.h>
#include <time.h>

/* Returns a random number (splitmix64). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

void treap_init(struct treap *treap, const struct treap_kind *kind)
{
    struct timespec now;

    /* Random priorities: a client that could predict them could build a deep tree. */
    clock_gettime(CLOCK_MONOTONIC, &now);
    *treap = (struct treap){.kind = kind,
                            .random = (uint64_t)(uintptr_t)treap ^ (uint64_t)now.tv_nsec << 32 ^
                                      (uint64_t)now.tv_sec};
}

static void sum(const struct treap_kind *kind, struct treap_node *node)
{
    if (kind->sum)
        kind->sum(node);
}

/* Divides a tree into the nodes below and above `key`, which is not in the tree. */
static void split(const struct treap_kind *kind, struct treap_node *node,
                  const struct treap_node *key, struct treap_node **below,
                  struct treap_node **above)
{
    if (!node) {
        *below = *above = NULL;
        return;
    }
    if (kind->compare(node, key) < 0) {
        split(kind, node->right, key, &node->right, above);
        *below = node;
    } else {
        split(kind, node->left, key, below, &node->left);
        *above = node;
    }
    sum(kind, node);
}

/* Joins two trees; all nodes of `left` are below those of `right`. */
static struct treap_node *join(const struct treap_kind *kind, struct treap_node *left,
                               struct treap_node *right)
{
    if (!left || !right)
        return left ? left : right;
    if (left->priority >= right->priority) {
        left->right = join(kind, left->right, right);
        sum(kind, left);
        return left;
    }
    right->left = join(kind, left, right->left);
    sum(kind, right);
    return right;
}

static struct treap_node *insert(const struct treap_kind *kind, struct treap_node *root,
                                 struct treap_node *node)
{
    if (!root || node->priority > root->priority) {
        split(kind, root, node, &node->left, &node->right);
        root = node;
    } else if (kind->compare(node, root) < 0) {
        root->left = insert(kind, root->left, node);
    } else {
        root->right = insert(kind, root->right, node);
    }
    sum(kind, root);
    return root;
}

static struct treap_node *take_out(const struct treap_kind *kind, struct treap_node *root,
                                   const struct treap_node *node)
{
    if (root == node)
        return join(kind, root->left, root->right);
    if (kind->compare(node, root) < 0)
        root->left = take_out(kind, root->left, node);
    else
        root->right = take_out(kind, root->right, node);
    sum(kind, root);
    return root;
}

void treap_insert(struct treap *treap, struct treap_node *node)
{
    node->priority = draw(&treap->random);
    treap->root = insert(treap->kind, treap->root, node);
}

void treap_remove(struct treap *treap, struct treap_node *node)
{
    treap->root = take_out(treap->kind, treap->root, node);
    node->left = node->right = NULL;
}

const struct treap_node *treap_from(const struct treap *treap, const struct treap_node *key)
{
    const struct treap_node *found = NULL;

    for (const struct treap_node *node = treap->root; node;) {
        const bool reached = treap->kind->compare(node, key) >= 0;

        found = reached ? node : found;
        node = reached ? node->left : node->right;
    }
    return found;
}

const struct treap_node *treap_until(const struct treap *treap, const struct treap_node *key)
{
    const struct treap_node *found = NULL;

    for (const struct treap_node *node = treap->root; node;) {
        const bool reached = treap->kind->compare(node, key) <= 0;

        found = reached ? node : found;
        node = reached ? node->right : node->left;
    }
    return found;
}

const struct treap_node *treap_last(const struct treap *treap)
{
    const struct treap_node *node = treap->root;

    while (node && node->right)
        node = node->right;
    return node;
}
