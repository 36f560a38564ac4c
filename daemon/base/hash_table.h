/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A hash table of nodes that their owners embed. It grows by one bucket at a time (linear hashing,
 * Litwin 1980), so that no call ever moves more than one chain, and removing a node needs no
 * search. Hashes are keyed with random bytes: a client who chooses names or numbers cannot choose
 * chains.
 */
#ifndef DAEMON_HASH_TABLE_H
#define DAEMON_HASH_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct hash_node {
    struct hash_node *next;
    struct hash_node **at; /* the pointer that points here; null: in no table */
    uint64_t hash;
};

enum { HASH_SEGMENT = 256 }; /* buckets; as many are there from the beginning */

struct hash_table {
    struct hash_node *first[HASH_SEGMENT];
    struct hash_node ***segments; /* the further ones, `room` pointers; they never move */
    uint32_t room;
    uint32_t buckets;
    uint32_t count;
    uint64_t key[2];
};

void hash_table_init(struct hash_table *table);
/** Frees the table; the nodes are their owners' business. */
void hash_table_finish(struct hash_table *table);

/** The hash of some bytes; `salt` is hashed with them. */
uint64_t hash_table_hash(const struct hash_table *table, uint64_t salt, const void *bytes,
                         size_t length);

/** Adds a node, which is in no table. Where memory is short, the chains become longer. */
void hash_table_add(struct hash_table *table, struct hash_node *node, uint64_t hash);
/** Takes a node out. A node of zeros, or one that was taken out before, is left alone. */
void hash_table_remove(struct hash_table *table, struct hash_node *node);
/** Puts another node in the place of one that is in the table. */
void hash_table_replace(struct hash_node *from, struct hash_node *to);

/** The first node of the chain that all nodes of this hash are in, among others; or null. */
struct hash_node *hash_table_chain(const struct hash_table *table, uint64_t hash);

#endif /* DAEMON_HASH_TABLE_H */
