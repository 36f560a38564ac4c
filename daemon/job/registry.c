/* SPDX-License-Identifier: BSD-3-Clause */
#include "registry.h"

#include <stddef.h>
#include <string.h>

void registry_init(struct registry *registry)
{
    memset(registry, 0, sizeof *registry);
}

/* FNV-1a. The buckets are many enough and the names few enough: who floods one bucket with his own
 * names pays for it himself, jobs_per_client and the history at most. */
static size_t name_bucket(uint64_t client, const char *name)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ client;

    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(1099511628211);
    return (hash ^ hash >> 32) % REGISTRY_BUCKETS;
}

void registry_add(struct registry *registry, struct entry *entry)
{
    struct entry **bucket = &registry->by_number[entry->number % REGISTRY_BUCKETS];

    entry->next_number = *bucket;
    *bucket = entry;
    if (!entry->name)
        return;
    bucket = &registry->by_name[name_bucket(entry->client, entry->name)];
    entry->next_name = *bucket;
    *bucket = entry;
}

void registry_remove(struct registry *registry, struct entry *entry)
{
    struct entry **at = &registry->by_number[entry->number % REGISTRY_BUCKETS];

    while (*at && *at != entry)
        at = &(*at)->next_number;
    if (!*at)
        return;
    *at = entry->next_number;
    if (!entry->name)
        return;
    at = &registry->by_name[name_bucket(entry->client, entry->name)];
    while (*at != entry)
        at = &(*at)->next_name;
    *at = entry->next_name;
}

struct entry *registry_find(const struct registry *registry, uint64_t number)
{
    struct entry *entry = registry->by_number[number % REGISTRY_BUCKETS];

    while (entry && entry->number != number)
        entry = entry->next_number;
    return entry;
}

struct entry *registry_find_name(const struct registry *registry, uint64_t client, const char *name)
{
    struct entry *entry = registry->by_name[name_bucket(client, name)], *latest = NULL;

    for (; entry; entry = entry->next_name) {
        if (entry->client == client && strcmp(entry->name, name) == 0 &&
            (!latest || entry->number > latest->number))
            latest = entry;
    }
    return latest;
}
