/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every job that can be referred to, by number and by name: those under way (struct task) and those
 * that have ended and are remembered (struct record, history.h). Each embeds an entry.
 */
#ifndef DAEMON_REGISTRY_H
#define DAEMON_REGISTRY_H

#include <stdbool.h>
#include <stdint.h>

enum { REGISTRY_BUCKETS = 1024 };

struct entry {
    struct entry *next_number, *next_name;
    uint64_t number;
    uint64_t client;  /* number of the connection that it came from */
    const char *name; /* the owner's; null: none */
    bool ended;       /* in a struct record, not in a struct task */
};

struct registry {
    struct entry *by_number[REGISTRY_BUCKETS];
    struct entry *by_name[REGISTRY_BUCKETS];
};

void registry_init(struct registry *registry);
void registry_add(struct registry *registry, struct entry *entry);
/** Harmless where it is not there. */
void registry_remove(struct registry *registry, struct entry *entry);

/** Null where there is none. */
struct entry *registry_find(const struct registry *registry, uint64_t number);
/** The latest job of that name of that connection. */
struct entry *registry_find_name(const struct registry *registry, uint64_t client,
                                 const char *name);

#endif /* DAEMON_REGISTRY_H */
