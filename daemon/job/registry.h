/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry finds jobs by number and by name: tasks (task.h) and records of ended jobs
 * (history.h). Both embed an entry. No call walks more than one chain of a hash table.
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
    struct hash_node by_name; /* in the table only for the latest job with the name */
    struct link of_user;      /* in the list user->entries */
    struct link of_all;       /* in the list registry->entries */
    struct user *user;
    uint64_t number;
    uint64_t client;  /* number of the connection that submitted the job */
    const char *name; /* borrowed from the owner; null: no name */
    bool ended;       /* true: the entry is in a struct record; false: it is in a struct task */
};

struct registry {
    struct hash_table by_number, by_name;
    struct link entries; /* entries in the order of their numbers, like user->entries */
};

void registry_init(struct registry *registry);
/** Frees an empty registry. */
void registry_finish(struct registry *registry);

/**
 * Adds an entry. Its number must be higher than all numbers before. The name then finds this entry,
 * and no longer an earlier entry of the same connection.
 */
void registry_add(struct registry *registry, struct entry *entry);
/** Replaces `from` by `to`, which must have the number, connection, user and name (or no name) of
 * `from`. */
void registry_replace(struct registry *registry, struct entry *from, struct entry *to);
/**
 * Removes an entry; does nothing if the entry is not in the registry. If the name found this entry,
 * the name finds nothing afterwards: an earlier job with that name would be the wrong one.
 */
void registry_remove(struct registry *registry, struct entry *entry);
/** Makes registry_find_name() return null for this name, until an entry with that name is added. */
void registry_hide_name(struct registry *registry, uint64_t client, const char *name);

/** Returns the job with this number, or NULL. */
struct entry *registry_find(const struct registry *registry, uint64_t number);
/** Returns the latest job with this name and connection, or NULL. */
struct entry *registry_find_name(const struct registry *registry, uint64_t client,
                                 const char *name);

#endif /* DAEMON_REGISTRY_H */
