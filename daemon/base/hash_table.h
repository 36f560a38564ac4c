/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table of nodes that are embedded in their owners. It grows by one bucket at a time (linear
 * hashing, Litwin 1980), so that no call moves more than one chain. Removing a node needs no
 * search. Hashes are keyed with random bytes, so that a client cannot choose names or numbers that
 * form a long chain.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct hash_node {
    struct hash_node *next;
    struct hash_node **at; /* address of the pointer to this node; null: in no table */
    uint64_t hash;
};

enum { HASH_SEGMENT = 256 }; /* buckets in a segment, and in an empty table */

struct hash_table {
    struct hash_node *first[HASH_SEGMENT];
    struct hash_node **
        *segments; /* `room` pointers to the second and later segments, which never move */
    uint32_t room;
    uint32_t buckets;
    uint32_t count;
    uint64_t key[2];
};

void hash_table_init(struct hash_table *table);
/** Frees the table, not the nodes. */
void hash_table_finish(struct hash_table *table);

/** Returns the hash of a salt and some bytes. */
uint64_t hash_table_hash(const struct hash_table *table, uint64_t salt, const void *bytes,
                         size_t length);

/** Adds a node, which is in no table. If there is no memory for more buckets, the chains become
 * longer. */
void hash_table_add(struct hash_table *table, struct hash_node *node, uint64_t hash);
/** Removes a node. Does nothing for a node that is filled with zeros or was removed. */
void hash_table_remove(struct hash_table *table, struct hash_node *node);
/** Replaces a node of the table by another node. */
void hash_table_replace(struct hash_node *from, struct hash_node *to);

/** Returns the first node of the chain for this hash, or NULL. The chain also has nodes with other
 * hashes. */
struct hash_node *hash_table_chain(const struct hash_table *table, uint64_t hash);
