/* SPDX-License-Identifier: BSD-3-Clause */
#include "listing.h"

#include <stdlib.h>
#include <string.h>

#include "bounds.h"
#include "client.h"
#include "history.h"
#include "refs.h"
#include "seam.h"
#include "state.h"
#include "task.h"

/* The most that one job takes: a name, a pointer and a sentence, all of it escaped. */
enum { ITEM_MAX = 8 * 1024 };

static bool sees_all(const struct client *client)
{
    return client->flow->user->uid == 0;
}

static bool matches(const struct entry *entry, const struct job_list_query *query)
{
    return (query->before == 0 || entry->number < query->before) &&
           (query->client == 0 || entry->client == query->client) &&
           (query->states == 0 || (query->states >> entry_state(entry) & 1)) &&
           (!query->name || (entry->name && strcmp(entry->name, query->name) == 0));
}

/* Returns the entry of a link in the ring that job.list walks for this client. */
static const struct entry *owner(const struct client *client, struct link *link)
{
    return sees_all(client) ? LINK_OWNER(link, struct entry, of_all)
                            : LINK_OWNER(link, struct entry, of_user);
}

int listing_init(struct listing *listing, const struct client *client,
                 const struct job_list_query *query, struct fault *fault)
{
    const struct link *ring =
        sees_all(client) ? &client->service->registry.entries : &client->flow->user->entries;

    *listing = (struct listing){.limit = query->limit, .capacity = query->limit + 1};
    listing->entries = seam.calloc(listing->capacity, sizeof(const struct entry *));
    if (!listing->entries)
        return fault_set(fault, FAULT_INTERNAL, NULL, "no memory for a list");
    for (struct link *l = ring->prev; l != ring && listing->count < listing->capacity;
         l = l->prev) {
        const struct entry *entry = owner(client, l);

        if (matches(entry, query))
            listing->entries[listing->count++] = entry;
    }
    return 0;
}

void listing_finish(struct listing *listing)
{
    free(listing->entries);
    *listing = (struct listing){0};
}

void listing_write_members(const struct listing *listing, struct jsonw *w)
{
    uint32_t i = 0;

    jsonw_array_begin(w, "jobs");
    for (; i < listing->count && i < listing->limit; i++) {
        struct job_info info;

        if (w->length + 2 * ITEM_MAX > PROTO_REPLY_MAX)
            break;
        entry_info(listing->entries[i], &info);
        job_info_write(w, NULL, &info);
    }
    jsonw_array_end(w);
    jsonw_bool(w, "more", i < listing->count);
}
