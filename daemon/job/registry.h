/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jobs by their numbers and names: those under way (struct task, task.h), and those that have ended
 * and are remembered (struct record, history.h). Each embeds an entry. No call walks more than a
 * hash table's chain.
 */
#ifndef DAEMON_REGISTRY_H
#define DAEMON_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "daemon/base/hash_table.h"
#include "daemon/base/link.h"

struct user;

struct entry {
    struct hash_node by_number;
    struct hash_node by_name; /* of the latest job of its name; in no table for all others */
    struct link of_user;      /* in its user's entries */
    struct link of_all;       /* in the registry's entries */
    struct user *user;
    uint64_t number;
    uint64_t client;  /* number of the connection that it came from */
    const char *name; /* the owner's; null: none */
    bool ended;       /* in a struct record, not in a struct task */
};

struct registry {
    struct hash_table by_number, by_name;
    struct link entries; /* in the order of their numbers, as each user's are */
};

void registry_init(struct registry *registry);
/** Nothing may be in it any more. */
void registry_finish(struct registry *registry);

/**
 * Adds an entry. Its number must be higher than all numbers before. From now on the name finds this
 * entry, not an earlier one of the same connection.
 */
void registry_add(struct registry *registry, struct entry *entry);
/** Replaces `from` by `to`, which has the same number, connection, user and name (or no name). */
void registry_replace(struct registry *registry, struct entry *from, struct entry *to);
/**
 * Removes an entry; does nothing if it is not in the registry. If the name found this entry, the
 * name finds nothing afterwards: an earlier job of that name would be the wrong one.
 */
void registry_remove(struct registry *registry, struct entry *entry);
/** Makes registry_find_name() return null for this name, until an entry of that name is added. */
void registry_hide_name(struct registry *registry, uint64_t client, const char *name);

/** Null where there is none. */
struct entry *registry_find(const struct registry *registry, uint64_t number);
/** The latest job of that name of that connection. */
struct entry *registry_find_name(const struct registry *registry, uint64_t client,
                                 const char *name);

#endif /* DAEMON_REGISTRY_H */
