/* SPDX-License-Identifier: BSD-3-Clause */
#include "daemon/job/registry.h"

#include <stddef.h>
#include <string.h>

#include "daemon/job/user.h"

void registry_init(struct registry *registry)
{
    hash_table_init(&registry->by_number);
    hash_table_init(&registry->by_name);
    link_init(&registry->entries);
}

void registry_finish(struct registry *registry)
{
    hash_table_finish(&registry->by_number);
    hash_table_finish(&registry->by_name);
}

static uint64_t number_hash(const struct registry *registry, uint64_t number)
{
    return hash_table_hash(&registry->by_number, number, NULL, 0);
}

static uint64_t name_hash(const struct registry *registry, uint64_t client, const char *name)
{
    return hash_table_hash(&registry->by_name, client, name, strlen(name));
}

static struct entry *find_name(const struct registry *registry, uint64_t hash, uint64_t client,
                               const char *name)
{
    struct hash_node *node = hash_table_chain(&registry->by_name, hash);

    for (; node; node = node->next) {
        struct entry *entry = LINK_OWNER(node, struct entry, by_name);

        if (node->hash == hash && entry->client == client && strcmp(entry->name, name) == 0)
            return entry;
    }
    return NULL;
}

static void take_name(struct registry *registry, struct entry *entry)
{
    const uint64_t hash = name_hash(registry, entry->client, entry->name);
    struct entry *before = find_name(registry, hash, entry->client, entry->name);

    if (before)
        hash_table_replace(&before->by_name, &entry->by_name);
    else
        hash_table_add(&registry->by_name, &entry->by_name, hash);
}

void registry_add(struct registry *registry, struct entry *entry)
{
    hash_table_add(&registry->by_number, &entry->by_number, number_hash(registry, entry->number));
    link_append(&registry->entries, &entry->of_all);
    link_append(&entry->user->entries, &entry->of_user);
    if (entry->name)
        take_name(registry, entry);
}

void registry_replace(struct registry *registry, struct entry *from, struct entry *to)
{
    hash_table_replace(&from->by_number, &to->by_number);
    link_replace(&from->of_all, &to->of_all);
    link_replace(&from->of_user, &to->of_user);
    if (!from->by_name.at)
        return;
    if (to->name)
        hash_table_replace(&from->by_name, &to->by_name);
    else /* registry_add() had no memory for the name */
        hash_table_remove(&registry->by_name, &from->by_name);
}

void registry_remove(struct registry *registry, struct entry *entry)
{
    if (!entry->by_number.at)
        return;
    hash_table_remove(&registry->by_number, &entry->by_number);
    hash_table_remove(&registry->by_name, &entry->by_name);
    link_remove(&entry->of_all);
    link_remove(&entry->of_user);
}

void registry_hide_name(struct registry *registry, uint64_t client, const char *name)
{
    struct entry *entry = find_name(registry, name_hash(registry, client, name), client, name);

    if (entry)
        hash_table_remove(&registry->by_name, &entry->by_name);
}

struct entry *registry_find(const struct registry *registry, uint64_t number)
{
    struct hash_node *node = hash_table_chain(&registry->by_number, number_hash(registry, number));

    for (; node; node = node->next) {
        struct entry *entry = LINK_OWNER(node, struct entry, by_number);

        if (entry->number == number)
            return entry;
    }
    return NULL;
}

struct entry *registry_find_name(const struct registry *registry, uint64_t client, const char *name)
{
    return find_name(registry, name_hash(registry, client, name), client, name);
}
